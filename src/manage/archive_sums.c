/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `archive.sums`: what tells damage to a copy in archives/ (format/sums.h).  A common archive is
 * not the experiment's own: what lies there is not in it.
 */
#include "base/folder.h"
#include "format/sums.h"
#include "manage/archive.h"
#include "manage/check.h"

#include <dirent.h>
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
		int name = 0;

		end = strchr(line, '\n');
		*end = '\0';
		if (sscanf(line, "%" SCNu64 " %16" SCNx64 " " PREFIX "%n", &length, &sum, &name) !=
			    2 ||
		    !name || string_table_find(&archiver->copied, line + name) != HASH_NONE)
			continue;
		string_table_add(known, line + name);
		strbuf_printf(lines, "%s\n", line);
	}
	free(text);
}

static void add_line(struct archiver *archiver, struct strbuf *lines, const char *name)
{
	uint64_t size, sum;
	int fd = strchr(name, '\n') ? -1 : folder_open_file(archiver->archives, name, O_RDONLY, 0);

	if (fd < 0)
		return;
	if (sums_of_file(fd, &size, &sum))
		strbuf_printf(lines, "%" PRIu64 " %016" PRIx64 " " PREFIX "%s\n", size, sum, name);
	close(fd);
}

/* The collector's copies, [vdso], are there before anything is archived. */
static void add_collectors(struct archiver *archiver, struct strbuf *lines,
			   const struct string_table *known)
{
	int fd = folder_open_below(archiver->archives, "");
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (entry->d_name[0] == '[' && string_table_find(known, entry->d_name) == HASH_NONE)
			add_line(archiver, lines, entry->d_name);
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
}

static void write_lines(struct archiver *archiver, struct strbuf *lines)
{
	uint64_t sum = checksum_add(SUMS_BEGIN, lines->text, lines->length);
	int fd = folder_open_file(archiver->folder, FORMAT_FILE_ARCHIVE_SUMS,
				  O_WRONLY | O_CREAT | O_TRUNC, 0644);

	strbuf_printf(lines, "- %016" PRIx64 " -\n", sum);
	if (fd < 0 || write(fd, lines->text, lines->length) != (ssize_t)lines->length)
		diag_add(archiver->diags, DIAG_ERROR,
			 FORMAT_FILE_ARCHIVE_SUMS " of %s cannot be written: %s",
			 archiver->experiment->name, strerror(errno));
	if (fd >= 0)
		close(fd);
}

void archive_write_sums(struct archiver *archiver)
{
	struct string_table known = {0};
	struct strbuf lines = {0};

	keep_lines(archiver, &lines, &known);
	for (size_t i = 0; i < archiver->copied.count && !archiver->request->directory; i++)
		add_line(archiver, &lines, string_table_text(&archiver->copied, (uint32_t)i));
	add_collectors(archiver, &lines, &known);
	if (lines.length)
		write_lines(archiver, &lines);
	string_table_fini(&known);
	strbuf_fini(&lines);
}
