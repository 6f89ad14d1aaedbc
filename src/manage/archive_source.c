/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources lie in archives/ under their absolute paths, so that two main.c are
 * two files and any other tool can read them.
 */
#include "base/folder.h"
#include "base/memory.h"
#include "base/pattern.h"
#include "experiment/experiment.h"
#include "format/archive.h"
#include "manage/archive.h"
#include "object/lines/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void archive_find_sources(struct archiver *archiver, struct load_file *load, const char *path)
{
	if (archiver->request->sources == MANAGE_SOURCES_ALL) {
		object_sources(path, NULL, 0, &archiver->sources);
	} else if (load->addresses.count) {
		qsort(load->addresses.items, load->addresses.count, sizeof(uint64_t),
		      compare_addresses);
		object_sources(path, load->addresses.items, load->addresses.count,
			       &archiver->sources);
	}
}

/* The name of a source in the store, with its directories made; NULL: they cannot be. */
static char *make_room(const struct archiver *archiver, const char *path)
{
	char *name = xasprintf(FORMAT_ARCHIVE_SOURCES "%s", path);
	char *directory = xstrndup(name, (size_t)(strrchr(name, '/') - name));

	archive_be_in_experiment(archiver);
	bool ok = folder_make_directories(archiver->archives, directory);

	archive_be_in_store(archiver);
	ok = ok && folder_make_directories(archiver->store, directory);
	archive_be_reader(archiver);

	free(directory);
	if (ok)
		return name;
	free(name);
	return NULL;
}

static void copy_source(struct archiver *archiver, const char *path)
{
	int readable = folder_open_named(path, NULL);

	if (readable < 0) { /* is normal for what a distribution built */
		strbuf_printf(&archiver->log, "%s: %s\n", path, strerror(errno));
		return;
	}
	close(readable);
	char *name = make_room(archiver, path);

	if (name)
		archive_copy(archiver, path, name);
	else
		archive_note_failure(archiver, path, FORMAT_ARCHIVE_SOURCES);
	free(name);
}

void archive_copy_sources(struct archiver *archiver)
{
	const char *pattern = archiver->request->source_regex;
	regex_t regex;

	if (pattern && pattern_compile(&regex, pattern, REG_NOSUB)) {
		diag_add(archiver->diags, DIAG_ERROR, "`%s' is not a regular expression", pattern);
		return;
	}
	for (size_t i = 0; i < archiver->sources.count; i++) {
		const char *path = string_table_text(&archiver->sources, (uint32_t)i);

		if (!pattern || !regexec(&regex, path, 0, NULL, 0))
			copy_source(archiver, path);
	}
	if (pattern)
		regfree(&regex);
}
