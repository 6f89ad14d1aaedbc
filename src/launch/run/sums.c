/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run/sums.h"

#include "base/folder.h"
#include "base/memory.h"
#include "format/files.h"
#include "format/sums.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* directory: as it stands before the name, "" or with a slash. */
static void add_file(struct strbuf *text, int folder, const char *directory, const char *name)
{
	uint64_t size, sum;
	int fd = folder_open_file(folder, name, O_RDONLY, 0);

	if (fd < 0)
		return;
	if (sums_of_file(fd, &size, &sum))
		sums_add_line(text, size, sum, directory, name);
	close(fd);
}

void sums_add(struct strbuf *text, int folder, const struct member *member, const char *file)
{
	char *directory = xasprintf("%s%s", member->name, *member->name ? "/" : "");

	add_file(text, folder, directory, file);
	free(directory);
}

/* What the collector copied, [vdso]; archive.sums has what is copied later. */
static void add_copies(struct strbuf *text, int folder)
{
	DIR *directory = folder_list(folder, FORMAT_DIR_ARCHIVES);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *name = xasprintf(FORMAT_DIR_ARCHIVES "/%s", entry->d_name);

		if (entry->d_name[0] == '[')
			add_file(text, folder, "", name);
		free(name);
	}
	if (directory)
		closedir(directory);
}

void sums_begin(const struct family *family)
{
	/* sums_write says what is wrong */
	folder_write_whole(family->folder, FORMAT_FILE_SUMS, SUMS_BEGUN, strlen(SUMS_BEGUN));
}

void sums_write(struct strbuf *text, const struct family *family, struct diag_list *diags)
{
	add_file(text, family->folder, "", FORMAT_FILE_NOTES);
	add_copies(text, family->folder);
	/* there is one if somebody archived meanwhile */
	add_file(text, family->folder, "", FORMAT_FILE_ARCHIVE_SUMS);
	sums_add_last(text);
	if (!folder_write_whole(family->folder, FORMAT_FILE_SUMS, text->text, text->length))
		diag_add(diags, DIAG_WARNING,
			 "The checksums of the experiment's files cannot be written: %s",
			 strerror(errno));
	strbuf_fini(text);
}
