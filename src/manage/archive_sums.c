/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `archive.sums`: what tells damage to a copy in archives/ (format/sums.h), and to archive.log.  Of
 * a copy in a common archive it is known what lay there.  `sums` has the line of archive.sums
 * itself, so that nothing can be removed without a trace.
 */
#include "base/folder.h"
#include "format/archive.h"
#include "format/sums.h"
#include "manage/archive.h"
#include "manage/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define PREFIX FORMAT_DIR_ARCHIVES "/"

/* The lines of before, without those of files that have been copied again; `known` gets names. */
static void keep_lines(struct archiver *archiver, struct strbuf *lines, struct string_table *known)
{
	size_t size = 0;
	char *text = check_read_sums(archiver->folder, FORMAT_FILE_ARCHIVE_SUMS, &size);
	char *last = text ? sums_last_line(text, size) : NULL;

	for (char *line = text, *end; last && line < last; line = end + 1) {
		uint64_t length, sum;

		end = strchr(line, '\n');
		*end = '\0';
		const char *name = sums_read_line(line, &length, &sum);

		if (!name || strncmp(name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		name += strlen(PREFIX);
		if (string_table_find(&archiver->copied, name) != HASH_NONE)
			continue;
		string_table_add(known, name);
		strbuf_printf(lines, "%s\n", line);
	}
	free(text);
}

/* Adds the last line and writes all lines; where that fails the file stays as it was. */
static void write_lines(struct archiver *archiver, struct strbuf *lines, const char *name)
{
	sums_add_last(lines);
	if (!folder_write_whole(archiver->folder, name, lines->text, lines->length))
		diag_add(archiver->diags, DIAG_ERROR, "%s of %s cannot be written: %s", name,
			 archiver->experiment->name, strerror(errno));
}

/* The line of an open file, which is closed. */
static void add_line(struct strbuf *lines, int fd, const char *directory, const char *name)
{
	uint64_t size, sum;

	if (fd >= 0 && sums_of_file(fd, &size, &sum))
		sums_add_line(lines, size, sum, directory, name);
	if (fd >= 0)
		close(fd);
}

/* Of what is in a common archive, with the rights of who owns the experiment. */
static int open_copy(const struct archiver *archiver, const char *name)
{
	int fd = folder_open_file(archiver->archives, name, O_RDONLY, 0);

	if (fd >= 0 || errno != ELOOP || !archiver->store_path)
		return fd;
	char *path = xasprintf("%s/%s", archiver->store_path, name);

	fd = folder_open_named(path, NULL);
	free(path);
	return fd;
}

/* Whether `sums` is whole: what is damaged stays so, and a recording under way has none yet. */
static bool enter_sums(struct archiver *archiver, struct strbuf *lines)
{
	size_t size = 0;
	char *text = check_read_sums(archiver->folder, FORMAT_FILE_SUMS, &size);
	char *last = text ? sums_last_line(text, size) : NULL;

	for (char *line = text, *end; last && line < last; line = end + 1) {
		uint64_t length, sum;

		end = strchr(line, '\n');
		*end = '\0';
		const char *name = sums_read_line(line, &length, &sum);

		if (!name || strcmp(name, FORMAT_FILE_ARCHIVE_SUMS) != 0)
			strbuf_printf(lines, "%s\n", line);
	}
	free(text);
	if (last)
		add_line(lines,
			 folder_open_file(archiver->folder, FORMAT_FILE_ARCHIVE_SUMS, O_RDONLY, 0),
			 "", FORMAT_FILE_ARCHIVE_SUMS);
	return last;
}

/* What `sums` tells of archive.sums; false: nothing. */
static bool is_told(const struct archiver *archiver, uint64_t *length, uint64_t *sum)
{
	size_t size = 0;
	char *text = check_read_sums(archiver->folder, FORMAT_FILE_SUMS, &size);
	char *last = text ? sums_last_line(text, size) : NULL;
	bool found = false;

	for (char *line = text, *end; last && line < last && !found; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		const char *name = sums_read_line(line, length, sum);

		found = name && !strcmp(name, FORMAT_FILE_ARCHIVE_SUMS);
	}
	free(text);
	return found;
}

/* Whether archive.sums is what was written, as far as anything tells. */
static bool is_as_written(const struct archiver *archiver)
{
	int fd = folder_open_file(archiver->folder, FORMAT_FILE_ARCHIVE_SUMS, O_RDONLY, 0);
	uint64_t told_size, told_sum, size, sum;
	bool told = is_told(archiver, &told_size, &told_sum);
	bool same = fd >= 0 && told && sums_of_file(fd, &size, &sum) && size == told_size &&
		    sum == told_sum;

	if (fd >= 0)
		close(fd);
	if (told)
		return same;
	size_t length = 0;
	char *text = check_read_sums(archiver->folder, FORMAT_FILE_ARCHIVE_SUMS, &length);
	bool whole = text ? sums_last_line(text, length) != NULL : errno == ENOENT;

	free(text);
	return whole;
}

/* Whether this run has made all copies that there are. */
static bool all_are_new(const struct archiver *archiver)
{
	for (size_t i = 0; i < archiver->kept.count; i++)
		if (string_table_find(&archiver->copied,
				      string_table_text(&archiver->kept, (uint32_t)i)) == HASH_NONE)
			return false;
	return true;
}

void archive_write_sums(struct archiver *archiver)
{
	struct string_table known = {0};
	struct strbuf lines = {0};

	/* Sums of copies that may have been changed would call them in order. */
	if (!all_are_new(archiver) && !is_as_written(archiver)) {
		diag_add(archiver->diags, DIAG_WARNING,
			 "%s of %s is not what was written: nothing tells whether the copies in "
			 "archives/ are; helio archive -F makes them anew",
			 FORMAT_FILE_ARCHIVE_SUMS, archiver->experiment->name);
		return;
	}
	keep_lines(archiver, &lines, &known);
	for (size_t i = 0; i < archiver->kept.count; i++) {
		const char *name = string_table_text(&archiver->kept, (uint32_t)i);

		if (string_table_find(&known, name) == HASH_NONE)
			add_line(&lines, open_copy(archiver, name), PREFIX, name);
	}
	add_line(&lines, folder_open_file(archiver->folder, FORMAT_FILE_ARCHIVE_LOG, O_RDONLY, 0),
		 "", FORMAT_FILE_ARCHIVE_LOG);
	write_lines(archiver, &lines, FORMAT_FILE_ARCHIVE_SUMS);
	strbuf_clear(&lines);
	if (enter_sums(archiver, &lines))
		write_lines(archiver, &lines, FORMAT_FILE_SUMS);
	string_table_fini(&known);
	strbuf_fini(&lines);
}
