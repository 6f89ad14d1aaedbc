/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files are compared with that the recording has left: format/sums.h.  A descendant's
 * directory may be removed as a whole; check_descendants sees to those of which the log tells.
 */
#include "base/folder.h"
#include "base/memory.h"
#include "format/sums.h"
#include "manage/check.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUMS_LIMIT = 256 << 20 }; /* bytes: some millions of files */

static void damaged(struct check *check, const char *name, const char *what)
{
	diag_add_once(&check->damage, DIAG_WARNING, "%s/%s %s",
		      check->experiment->processes.items[0].name, name, what);
}

static bool lacks_directory(int folder, const char *name)
{
	const char *slash = strchr(name, '/');
	struct stat info;

	if (!slash)
		return false;
	char *directory = xstrndup(name, (size_t)(slash - name));
	bool there = folder_stat(folder, directory, &info);

	free(directory);
	return !there;
}

/* copy: of archives/; that it is gone, or a link to a common archive now, is no damage. */
static void check_file(struct check *check, int folder, const char *name, uint64_t size,
		       uint64_t sum, bool copy)
{
	uint64_t size_now = 0, sum_now = 0;
	int fd = folder_open_file(folder, name, O_RDONLY, 0);

	if (fd < 0 && copy && (errno == ENOENT || errno == ELOOP || errno == ENOTDIR))
		return;
	if (fd < 0 && lacks_directory(folder, name))
		diag_add_once(&check->warnings, DIAG_WARNING, "%s/%.*s was recorded and is missing",
			      check->experiment->processes.items[0].name, (int)strcspn(name, "/"),
			      name);
	else if (fd < 0)
		damaged(check, name, errno == ENOENT ? "is missing" : strerror(errno));
	else if (!sums_of_file(fd, &size_now, &sum_now))
		damaged(check, name, strerror(errno));
	else if (size_now != size)
		damaged(check, name, "has not the size that it was written with");
	else if (sum_now != sum)
		damaged(check, name, "is not what was written: its checksum is wrong");
	if (fd >= 0)
		close(fd);
}

static bool check_lines(struct check *check, int folder, char *text, size_t size, bool copies)
{
	char *last = sums_last_line(text, size);

	if (!last)
		return false;
	for (char *line = text, *end; line < last; line = end + 1) {
		uint64_t length, sum;
		int name = 0;

		end = strchr(line, '\n');
		*end = '\0';
		if (sscanf(line, "%" SCNu64 " %16" SCNx64 " %n", &length, &sum, &name) != 2 ||
		    !name)
			return false;
		check_file(check, folder, line + name, length, sum, copies);
	}
	return true;
}

static bool has_sums(const struct experiment_log *log)
{
	for (size_t i = 0; i < log->events.count; i++)
		if (!strcmp(log->events.items[i].kind, FORMAT_EVENT_SUMS))
			return true;
	return false;
}

char *check_read_sums(int folder, const char *name, size_t *size)
{
	struct stat info;
	int fd = folder_open_file(folder, name, O_RDONLY, 0);
	char *text = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &info) && info.st_size <= SUMS_LIMIT) {
		text = xcalloc(1, (size_t)info.st_size + 1);
		ssize_t got = pread(fd, text, (size_t)info.st_size, 0);

		*size = got > 0 ? (size_t)got : 0;
	} else {
		errno = EFBIG;
	}
	close(fd);
	return text;
}

void check_sums(struct check *check)
{
	const struct process *founder = &check->experiment->processes.items[0];
	int folder = founder->lineage[0] || founder->log.is_gprofng
			     ? -1
			     : folder_open(check->experiment->path, 0);
	size_t size = 0;

	if (folder < 0)
		return;
	char *text = check_read_sums(folder, FORMAT_FILE_SUMS, &size);

	if (!text && (errno != ENOENT || has_sums(&founder->log)))
		damaged(check, FORMAT_FILE_SUMS, errno == ENOENT ? "is missing" : strerror(errno));
	else if (text && !check_lines(check, folder, text, size, false))
		damaged(check, FORMAT_FILE_SUMS, "is damaged");
	free(text);
	text = check_read_sums(folder, FORMAT_FILE_ARCHIVE_SUMS, &size);
	if (text ? !check_lines(check, folder, text, size, true) : errno != ENOENT)
		damaged(check, FORMAT_FILE_ARCHIVE_SUMS, "is damaged");
	free(text);
	close(folder);
}
