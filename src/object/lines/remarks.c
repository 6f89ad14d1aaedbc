/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which records there are, and their texts unpacked.  Others may have written them, so all that
 * is read for a source, and all that is kept of it, is bounded.
 */
#include "object/lines/remarks.h"

#include "base/folder.h"
#include "base/path.h"
#include "object/lines/path.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Bytes. */
enum {
	UNPACKED_LIMIT = 256 << 20, /* of all records of a source */
	UNPACKED_LEAST = 8 << 20,   /* of one; a file of zeros packs a thousandfold, */
	UNPACKED_RATIO = 40,	    /* gcc's own 10- to 30-fold */
	KEPT_LIMIT = 32 << 20,	    /* of remarks */
};

bool remarks_is_file(const char *recorded, const char *source)
{
	return recorded && !strcmp(path_name(recorded), path_name(source));
}

/* Newlines and runs of blanks become one blank; none at the ends. */
void remarks_add(struct remarks *remarks, uint32_t line, enum remark_class kind, const char *text)
{
	size_t length = strnlen(text, REMARKS_TEXT_LIMIT);

	remarks->kept += sizeof(struct remark) + length;
	if (!line || remarks->kept > KEPT_LIMIT)
		return;
	char *copy = arena_strndup(&remarks->arena, text, length), *to = copy;

	for (size_t i = 0; i < length; i++) {
		bool blank = (unsigned char)copy[i] <= ' ';

		if (!blank)
			*to++ = copy[i];
		else if (to > copy && to[-1] != ' ')
			*to++ = ' ';
	}
	while (to > copy && strchr(" .;", to[-1]))
		to--;
	*to = '\0';
	if (*copy)
		*vec_push(&remarks->items) = (struct remark){line, kind, copy};
}

/* ---- files ---- */

int remarks_next(struct remarks_text *text)
{
	if (text->at == text->end) {
		size_t most = text->left < sizeof(text->buffer) ? text->left : sizeof(text->buffer);
		int got = gzread(text->file, text->buffer, (unsigned)most);

		text->at = 0;
		text->end = got > 0 ? (size_t)got : 0;
		text->left -= text->end;
	}
	return text->end ? (unsigned char)text->buffer[text->at++] : REMARKS_END;
}

/* The record's file, packed or not; a pipe is not waited for. */
static bool open_text(const char *path, size_t left, struct remarks_text *text)
{
	struct stat info;
	int fd = folder_open_named(path, &info);

	if (fd < 0)
		return false;
	if (info.st_size < UNPACKED_LIMIT / UNPACKED_RATIO) {
		size_t most = UNPACKED_LEAST + UNPACKED_RATIO * (size_t)info.st_size;

		left = left < most ? left : most;
	}
	*text = (struct remarks_text){.file = gzdopen(fd, "rb"), .left = left};
	if (!text->file)
		close(fd);
	return text->file;
}

static bool is_gcc_record(const char *name)
{
	return path_ends_with(name, ".opt-record.json.gz");
}

static bool is_record(const char *name)
{
	return is_gcc_record(name) || path_ends_with(name, ".opt.yaml");
}

/* left: bytes that may be unpacked for this source. */
static void read_record(struct remarks *remarks, const char *path, const char *source, size_t *left)
{
	struct remarks_text text;

	if (!open_text(path, *left, &text))
		return;
	size_t most = text.left;

	if (is_gcc_record(path))
		remarks_parse_gcc(remarks, &text, source);
	else
		remarks_parse_yaml(remarks, &text, source);
	*left -= most - text.left;
	gzclose(text.file);
}

char *remarks_stem(const char *source)
{
	const char *base = path_name(source);

	return xstrndup(base, strcspn(base, "."));
}

/* "prog-unit.c.opt-record.json.gz" is a record of unit.c, "subunit.c.opt-…" is not. */
static bool names_unit(const char *name, const struct string_table *stems)
{
	bool found = false;

	for (const char *start = name; start && !found; start = strchr(start, '-')) {
		start += start != name;

		char *stem = remarks_stem(start);

		found = *stem && string_table_find(stems, stem) != HASH_NONE;
		free(stem);
	}
	return found;
}

void remarks_find(const char *directory, const struct string_table *stems,
		  struct string_table *paths)
{
	int fd = folder_open(directory, 0);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (is_record(entry->d_name) && names_unit(entry->d_name, stems)) {
			char *path = xasprintf("%s/%s", directory, entry->d_name);

			string_table_add(paths, path);
			free(path);
		}
	if (folder)
		closedir(folder);
}

/* Whether a record may be of what this compiler has made. */
static bool may_be_of(const char *path, const char *producer)
{
	if (!producer)
		return true;
	return is_gcc_record(path) ? !strncmp(producer, "GNU ", strlen("GNU "))
				   : strstr(producer, "clang") || strstr(producer, "LLVM") ||
					     strstr(producer, "rustc");
}

void remarks_read(struct remarks *remarks, const char *directory, const char *source,
		  const char *producer)
{
	struct string_table stems = {0}, paths = {0};
	size_t left = UNPACKED_LIMIT;
	char *stem = remarks_stem(source);

	string_table_add(&stems, stem);
	remarks_find(directory, &stems, &paths);
	for (uint32_t i = 0; i < paths.count; i++)
		if (may_be_of(string_table_text(&paths, i), producer))
			read_record(remarks, string_table_text(&paths, i), source, &left);
	string_table_fini(&stems);
	string_table_fini(&paths);
	free(stem);
}

static int compare_remarks(const void *a, const void *b)
{
	const struct remark *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->text, y->text);
}

void remarks_sort(struct remarks *remarks)
{
	size_t kept = 0;

	if (!remarks->items.count)
		return;
	qsort(remarks->items.items, remarks->items.count, sizeof(struct remark), compare_remarks);
	for (size_t i = 0; i < remarks->items.count; i++)
		if (!kept ||
		    compare_remarks(&remarks->items.items[kept - 1], &remarks->items.items[i]) != 0)
			remarks->items.items[kept++] = remarks->items.items[i];
	remarks->items.count = kept;
}

void remarks_fini(struct remarks *remarks)
{
	vec_fini(&remarks->items);
	arena_fini(&remarks->arena);
}
