/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files are compared with that the recording has left: format/sums.h.  A descendant's
 * directory may be removed as a whole, and so may copies: that is a warning, as is what somebody
 * wrote into a text.
 */
#include "base/folder.h"
#include "base/hash.h"
#include "base/memory.h"
#include "format/archive.h"
#include "format/sums.h"
#include "manage/check.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUMS_LIMIT = 256 << 20 }; /* bytes: some millions of files */

/* What has been read: many names, links to it among them, may mean one large file. */
struct seen {
	struct string_table files; /* "DEVICE INODE" */
	VEC(uint64_t) sums;
	struct string_table named; /* the files that the lists have */
};

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

/* A copy in a common archive is read through its link, which alone is the experiment's own. */
static int open_link(const struct check *check, int folder, const char *name)
{
	struct stat info;

	if (!folder_stat(folder, name, &info) || !S_ISLNK(info.st_mode)) {
		errno = ELOOP;
		return -1;
	}
	char *path = xasprintf("%s/%s", check->experiment->path, name);
	int fd = folder_open_named(path, NULL);

	free(path);
	return fd;
}

static bool is_copy(const char *name)
{
	return !strncmp(name, FORMAT_DIR_ARCHIVES "/", strlen(FORMAT_DIR_ARCHIVES "/"));
}

/* What people write into, or are told there: no data is lost with it. */
static bool is_text(const char *name)
{
	return !strcmp(name, FORMAT_FILE_NOTES) || !strcmp(name, FORMAT_FILE_ARCHIVE_LOG);
}

/* The checksum of a file of that identity, which is read once; false: it cannot be (errno). */
static bool sum_once(struct seen *seen, int fd, const struct stat *info, uint64_t *sum)
{
	uint64_t size;
	char *key = xasprintf("%ju %ju", (uintmax_t)info->st_dev, (uintmax_t)info->st_ino);
	uint32_t known = string_table_find(&seen->files, key);
	bool ok = true;

	if (known != HASH_NONE) {
		*sum = seen->sums.items[known];
	} else {
		ok = sums_of_file(fd, &size, sum);
		if (ok) {
			string_table_add(&seen->files, key);
			*vec_push(&seen->sums) = *sum;
		}
	}
	free(key);
	return ok;
}

/* What is said of a file; NULL: it is what it was. */
static const char *compare(struct seen *seen, int fd, uint64_t size, uint64_t sum)
{
	struct stat info;
	uint64_t sum_now = 0;

	if (fstat(fd, &info))
		return strerror(errno);
	if ((uint64_t)info.st_size != size)
		return "has not the size that it was written with";
	if (!sum_once(seen, fd, &info, &sum_now))
		return strerror(errno);
	return sum_now == sum ? NULL : "is not what was written: its checksum is wrong";
}

static void missing(struct check *check, int folder, const char *name)
{
	bool whole = lacks_directory(folder, name);
	bool doubt =
		whole || is_copy(name) || is_text(name) || !strcmp(name, FORMAT_FILE_ARCHIVE_SUMS);

	diag_add_once(doubt ? &check->warnings : &check->damage, DIAG_WARNING, "%s/%.*s %s",
		      check->experiment->processes.items[0].name,
		      (int)(whole ? strcspn(name, "/") : strlen(name)), name,
		      doubt ? "was recorded and is missing" : "is missing");
}

static void check_file(struct check *check, struct seen *seen, int folder, const char *name,
		       uint64_t size, uint64_t sum)
{
	int fd = folder_open_file(folder, name, O_RDONLY, 0);
	bool linked = fd < 0 && errno == ELOOP && is_copy(name);

	if (linked)
		fd = open_link(check, folder, name);
	if (fd < 0 && (errno == ENOENT || lacks_directory(folder, name))) {
		missing(check, folder, name);
		return;
	}
	const char *what = fd < 0 ? strerror(errno) : compare(seen, fd, size, sum);

	if (what)
		diag_add_once(linked || is_text(name) ? &check->warnings : &check->damage,
			      DIAG_WARNING, "%s/%s %s", check->experiment->processes.items[0].name,
			      name, what);
	if (fd >= 0)
		close(fd);
}

static bool check_lines(struct check *check, struct seen *seen, int folder, char *text, size_t size)
{
	char *last = sums_last_line(text, size);

	if (!last)
		return false;
	for (char *line = text, *end; line < last; line = end + 1) {
		uint64_t length, sum;

		end = strchr(line, '\n');
		*end = '\0';
		const char *name = sums_read_line(line, &length, &sum);

		if (!name)
			return false;
		string_table_add(&seen->named, name);
		check_file(check, seen, folder, name, length, sum);
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

/* Processes that the list does not have: their time may be another recording's. */
static void check_members(struct check *check, const struct seen *seen)
{
	for (size_t i = 0; i < check->experiment->processes.count; i++) {
		const struct process *process = &check->experiment->processes.items[i];

		if (process->is_unrecorded || !*process->directory)
			continue;
		char *log = xasprintf("%s/%s", process->directory, FORMAT_FILE_LOG);

		if (string_table_find(&seen->named, log) == HASH_NONE)
			diag_add(&check->warnings, DIAG_WARNING,
				 "%s was added, or went on, after the recording was finished: no "
				 "checksums tell whether its files are what was written",
				 process->name);
		free(log);
	}
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
			     : check->experiment->folder; /* whatever has its name now */
	struct seen seen = {0};
	size_t size = 0;

	if (folder < 0)
		return;
	char *text = check_read_sums(folder, FORMAT_FILE_SUMS, &size);

	if (!text && (errno != ENOENT || has_sums(&founder->log)))
		damaged(check, FORMAT_FILE_SUMS, errno == ENOENT ? "is missing" : strerror(errno));
	else if (text ? !strcmp(text, SUMS_BEGUN) : !founder->log.closed)
		diag_add(&check->warnings, DIAG_WARNING,
			 "%s: who records it still does, or was ended before it was finished: no "
			 "checksums "
			 "tell whether the files are what was written",
			 founder->name);
	else if (text && !check_lines(check, &seen, folder, text, size))
		damaged(check, FORMAT_FILE_SUMS, "is damaged");
	else if (text)
		check_members(check, &seen);
	free(text);
	text = check_read_sums(folder, FORMAT_FILE_ARCHIVE_SUMS, &size);
	if (text ? !check_lines(check, &seen, folder, text, size) : errno != ENOENT)
		damaged(check, FORMAT_FILE_ARCHIVE_SUMS, "is damaged");
	free(text);
	string_table_fini(&seen.files);
	string_table_fini(&seen.named);
	vec_fini(&seen.sums);
}
