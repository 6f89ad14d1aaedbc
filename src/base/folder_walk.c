/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of the user's own words, gone through one component at a time: a link on the way, whose
 * owner chooses where it leads to, is followed only if it is this user's or root's.
 */
#include "base/folder.h"

#include "base/memory.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

/* What is left of a path that is walked. */
struct walk {
	int fd;	     /* where it stands: a directory, or at the end anything */
	char *rest;  /* of the path */
	int links;   /* that it has gone through */
	mode_t mode; /* of directories that it makes; 0: it makes none */
};

static void step(struct walk *walk, int fd)
{
	folder_close(walk->fd);
	walk->fd = fd;
}

/* This user, or root, whom a user namespace may know by another number: the root directory's. */
static bool is_trusted(uid_t user)
{
	struct stat top;

	return user == geteuid() || !user ||
	       (!fstatat(AT_FDCWD, "/", &top, 0) && user == top.st_uid);
}

/* A link of the kernel's, such as /proc/self/fd/1: what it says may be no path. */
static bool is_of_kernel(int link)
{
	struct statfs info;

	return !fstatfs(link, &info) && info.f_type == PROC_SUPER_MAGIC;
}

/* Goes on with what the link says, if its owner may say so; the descriptor is closed. */
static bool follow(struct walk *walk, int link, const char *name, const struct stat *info)
{
	enum { LINKS_LIMIT = 40 };
	char target[PATH_MAX];
	ssize_t length = -1;

	if (!is_trusted(info->st_uid))
		errno = EPERM;
	else if (++walk->links > LINKS_LIMIT)
		errno = ELOOP;
	else
		length = readlinkat(link, "", target, sizeof(target));
	if (length > 0 && is_of_kernel(link)) {
		close(link);
		step(walk, openat(walk->fd, name, O_PATH | O_CLOEXEC));
		return walk->fd >= 0;
	}
	folder_close(link);
	if (length <= 0)
		return false;
	char *rest = xasprintf("%.*s/%s", (int)length, target, walk->rest);

	free(walk->rest);
	walk->rest = rest;
	if (*target == '/')
		step(walk, open("/", O_PATH | O_CLOEXEC));
	return walk->fd >= 0;
}

/* Goes through the next component; false: there is none, or errno. */
static bool walk_on(struct walk *walk)
{
	char name[NAME_MAX + 1];
	size_t length = strcspn(walk->rest, "/");
	struct stat info;

	errno = length > NAME_MAX ? ENAMETOOLONG : 0;
	if (!*walk->rest || errno)
		return false;
	/* a slash that has nothing before it: the directory itself */
	snprintf(name, sizeof(name), "%.*s", length ? (int)length : 1, length ? walk->rest : ".");
	length += strspn(walk->rest + length, "/");
	memmove(walk->rest, walk->rest + length, strlen(walk->rest + length) + 1);

	int next = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (next < 0 && errno == ENOENT && walk->mode &&
	    (!mkdirat(walk->fd, name, walk->mode) || errno == EEXIST))
		next = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0)
		return false;
	if (!fstat(next, &info) && S_ISLNK(info.st_mode))
		return follow(walk, next, name, &info);
	step(walk, next);
	return true;
}

/* A handle (O_PATH) of what the path names, or -1. */
static int walk_path(const char *path, mode_t mode)
{
	struct walk walk = {.fd = open(*path == '/' ? "/" : ".", O_PATH | O_CLOEXEC),
			    .rest = xstrdup(path),
			    .mode = mode};

	while (walk.fd >= 0 && walk_on(&walk))
		continue;
	free(walk.rest);
	if (walk.fd >= 0 && !errno)
		return walk.fd;
	folder_close(walk.fd);
	return -1;
}

bool folder_is_named_by(int folder, const char *path)
{
	int named = walk_path(path, 0);
	bool ok = named >= 0 && folder_is(folder, named, ".");

	folder_close(named);
	return ok;
}

int folder_open_way(const char *path)
{
	int handle = walk_path(path, 0);
	struct stat info;

	if (handle < 0 || (!fstat(handle, &info) && S_ISDIR(info.st_mode)))
		return handle;
	close(handle);
	errno = ENOTDIR;
	return -1;
}

int folder_make_named(const char *path, mode_t mode)
{
	int named = walk_path(path, mode);
	int folder = named < 0 ? -1 : openat(named, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	folder_close(named);
	return folder;
}

/* Makes the file that the path does not lead to yet. */
static int make_file(const char *path)
{
	const char *name = path_name(path);
	char *before = xstrndup(path, (size_t)(name - path));
	int parent = walk_path(*before ? before : ".", 0);
	int fd = parent < 0 ? -1
			    : openat(parent, name,
				     O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY | O_CLOEXEC, 0666);

	folder_close(parent);
	free(before);
	return fd;
}

enum { FD_PATH_ROOM = sizeof("/proc/self/fd/") + 12 };

static void put_fd_path(char place[FD_PATH_ROOM], int fd)
{
	snprintf(place, FD_PATH_ROOM, "/proc/self/fd/%d", fd);
}

char *folder_path(int folder)
{
	char place[FD_PATH_ROOM];

	char path[PATH_MAX];
	ssize_t length;

	put_fd_path(place, folder);
	length = readlinkat(AT_FDCWD, place, path, sizeof(path));
	if (length == sizeof(path))
		errno = ENAMETOOLONG;
	return length < 0 || length == sizeof(path) ? NULL : xstrndup(path, (size_t)length);
}

/* A pipe of another user's is not waited for. */
static int open_to_write(int handle, int flags)
{
	char place[FD_PATH_ROOM];
	struct stat info;

	if (fstat(handle, &info))
		return -1;
	if (S_ISFIFO(info.st_mode) && !is_trusted(info.st_uid))
		flags |= O_NONBLOCK;
	put_fd_path(place, handle);
	return open(place, O_WRONLY | O_NOCTTY | O_CLOEXEC | flags);
}

FILE *folder_write_named(const char *path, bool append)
{
	int flags = append ? O_APPEND : O_TRUNC;
	int handle = walk_path(path, 0);
	int fd = handle >= 0	   ? open_to_write(handle, flags)
		 : errno == ENOENT ? make_file(path)
				   : -1;
	FILE *file = fd < 0 ? NULL : fdopen(fd, append ? "a" : "w");

	if (!file)
		folder_close(fd);
	folder_close(handle);
	return file;
}
