/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/kept.h"

#include "base/folder.h"
#include "base/memory.h"
#include "format/archive.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_LIMIT = 16 << 20 }; /* bytes, of its end */

/* The end of the log as a text, the caller's to free, or NULL. */
static char *read_log(int folder, bool *is_empty)
{
	int fd = folder_open_file(folder, FORMAT_FILE_ARCHIVE_LOG, O_RDONLY, 0);
	struct stat info;
	char *text = NULL;

	*is_empty = false;
	if (fd >= 0 && !fstat(fd, &info)) {
		off_t from = info.st_size > LOG_LIMIT ? info.st_size - LOG_LIMIT : 0;

		*is_empty = !info.st_size;
		text = xcalloc(1, (size_t)(info.st_size - from) + 1);
		if (pread(fd, text, (size_t)(info.st_size - from), from) < 0)
			*text = '\0';
	}
	folder_close(fd);
	return text;
}

static void forget(struct not_kept *list, uint32_t number)
{
	list->count -= list->reasons.items[number] != NULL;
	free(list->reasons.items[number]);
	list->reasons.items[number] = NULL;
}

static void add(struct not_kept *list, const char *path, const char *reason)
{
	uint32_t number = string_table_add(&list->paths, path);

	if (number == list->reasons.count)
		*vec_push(&list->reasons) = NULL;
	forget(list, number);
	list->reasons.items[number] = xstrdup(reason);
	list->count++;
}

/* The last occurrence of a text in a line. */
static char *find_last(char *line, const char *text)
{
	char *found = NULL;

	while ((line = strstr(line, text)))
		found = line++;
	return found;
}

static void read_line(struct not_kept *list, char *line)
{
	bool copied = !strncmp(line, FORMAT_ARCHIVE_COPYING, strlen(FORMAT_ARCHIVE_COPYING));
	char *path = line + (copied ? strlen(FORMAT_ARCHIVE_COPYING) : 0);
	char *end = copied ? find_last(path, FORMAT_ARCHIVE_TO)
			   : strstr(path, FORMAT_ARCHIVE_NOT_COPIED);
	char *reason = end && !copied ? find_last(end, ": ") : NULL;

	if (!end)
		return;
	*end = '\0';
	if (reason)
		add(list, path, reason + strlen(": "));
	uint32_t number = copied ? string_table_find(&list->paths, path) : HASH_NONE;

	if (number != HASH_NONE)
		forget(list, number);
}

void not_kept_read(int folder, struct not_kept *out)
{
	*out = (struct not_kept){0};

	char *text = read_log(folder, &out->is_empty), *rest = text, *line;

	while (text && (line = strsep(&rest, "\n")))
		if (*line != '#')
			read_line(out, line);
	free(text);
}

void not_kept_fini(struct not_kept *list)
{
	for (size_t i = 0; i < list->reasons.count; i++)
		free(list->reasons.items[i]);
	vec_fini(&list->reasons);
	string_table_fini(&list->paths);
}

void experiment_check_kept(const struct experiment *experiment, struct diag_list *warnings)
{
	const struct process *founder = &experiment->processes.items[0];
	struct not_kept list;
	char more[64] = "";
	size_t first = 0;

	if (founder->log.is_gprofng || experiment->family < 0)
		return;
	not_kept_read(experiment->family, &list);
	while (list.count && !list.reasons.items[first])
		first++;
	if (list.count > 1)
		snprintf(more, sizeof(more), " and %zu other file%s", list.count - 1,
			 list.count == 2 ? "" : "s");
	if (list.is_empty)
		diag_add(warnings, DIAG_WARNING,
			 "%s: " FORMAT_FILE_ARCHIVE_LOG " is empty: what was to be kept in "
			 "archives, and could not be, is not known; `helio archive %s' tries again",
			 founder->name, experiment->path);
	else if (list.count)
		diag_add(warnings, DIAG_WARNING,
			 "%s: %s%s could not be kept in archives: %s; `helio archive %s' tries "
			 "again",
			 founder->name, string_table_text(&list.paths, (uint32_t)first), more,
			 list.reasons.items[first], experiment->path);
	not_kept_fini(&list);
}
