/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock of the whole file (fcntl, as the other collect commands take it) makes one
 * writer wait for another, but not without end: a lock on a network may never come.
 * An experiment beside its group is named without folders, so that both can be moved.
 */
#include "launch/run/group.h"

#include "base/folder.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char first_line[] = FORMAT_GROUP_MAGIC "\n";

enum { LOCK_TRIES = 1200, LOCK_PAUSE_MS = 100 };

/* The folder of a path, to be freed. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup("./");
}

static bool is_group_or_empty(int fd)
{
	char begin[sizeof(first_line)] = "";
	ssize_t size = pread(fd, begin, sizeof(begin) - 1, 0);

	return size == 0 || !strncmp(begin, FORMAT_GROUP_MAGIC, strlen(FORMAT_GROUP_MAGIC));
}

/*
 * No link, and no file that has another name elsewhere: its folder may be somebody else's.  Nor
 * does a link of another user's lead to the folder.
 */
static int open_group(const char *path, int flags)
{
	const char *slash = strrchr(path, '/');
	char *place = folder_of(path);
	int folder = folder_open_way(place);
	int fd = folder < 0
			 ? -1
			 : folder_open_file(folder, slash ? slash + 1 : path, O_RDWR | flags, 0644);

	folder_close(folder);
	free(place);
	return fd;
}

/* Why it cannot be written. */
static const char *reason(int error)
{
	switch (error) {
	case ELOOP:
		return "it may not be a link";
	case EPERM:
		return "a link of another user may lead there";
	case EMLINK:
		return "it has another name elsewhere";
	default:
		return strerror(error);
	}
}

enum status group_check(const char *path, struct diag_list *diags)
{
	char *folder = folder_of(path);
	int fd = open_group(path, 0);
	int error = errno;
	bool found = fd >= 0 && is_group_or_empty(fd);
	bool possible = found || (fd < 0 && error == ENOENT && !access(folder, W_OK | X_OK));

	if (fd >= 0 && !found)
		diag_add(diags, DIAG_ERROR,
			 "%s is not an experiment group: it does not begin with '%s'", path,
			 FORMAT_GROUP_MAGIC);
	else if (!possible)
		diag_add(diags, DIAG_ERROR, "The experiment group %s cannot be written: %s", path,
			 reason(fd < 0 && error != ENOENT ? error : errno));
	if (fd >= 0)
		close(fd);
	free(folder);
	return possible ? STATUS_OK : STATUS_INVALID;
}

static bool lock(int fd)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000};
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	for (int tries = 0; tries < LOCK_TRIES; tries++) {
		if (!fcntl(fd, F_SETLK, &whole))
			return true;
		if (errno != EAGAIN && errno != EACCES)
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* The experiment's name as it stands in the group. */
static const char *name_within(const char *path, const char *experiment)
{
	char real[PATH_MAX];
	char *folder = folder_of(path);
	const char *slash = strrchr(experiment, '/');
	bool beside = realpath(folder, real) && slash &&
		      strlen(real) == (size_t)(slash - experiment) &&
		      !strncmp(real, experiment, strlen(real));

	free(folder);
	return beside ? slash + 1 : experiment;
}

static bool append(int fd, const char *name)
{
	struct strbuf text = {0};
	off_t size = lseek(fd, 0, SEEK_END);
	char last = '\n';

	if (!size)
		strbuf_puts(&text, first_line);
	else if (pread(fd, &last, 1, size - 1) == 1 && last != '\n')
		strbuf_putc(&text, '\n');
	strbuf_printf(&text, "%s\n", name);
	errno = ENOSPC; /* of a write that is short, which says nothing */
	bool written = write(fd, text.text, text.length) == (ssize_t)text.length;

	strbuf_fini(&text);
	return written;
}

void group_add(const char *path, const char *experiment, struct diag_list *diags)
{
	int fd = open_group(path, O_APPEND | O_CREAT);
	const char *problem = NULL;

	if (fd < 0 || !lock(fd))
		problem = reason(errno);
	else if (!is_group_or_empty(fd))
		problem = "it is no experiment group any more";
	else if (!append(fd, name_within(path, experiment)))
		problem = reason(errno);
	if (problem)
		diag_add(diags, DIAG_WARNING, "%s could not be added to the group %s: %s",
			 experiment, path, problem);
	if (fd >= 0)
		close(fd); /* and gives the lock back */
}
