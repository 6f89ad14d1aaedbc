/* SPDX-License-Identifier: Apache-2.0 */
#include "base/folder.h"

#include "base/memory.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	DIRECTORY_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
	DEPTH_LIMIT = 64, /* of what is removed in one pass: each level holds a descriptor */
	GROUPS_LIMIT = 256,
};

void folder_close(int fd)
{
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
}

int folder_open(const char *path, int flags)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
}

/* Copies the next component and goes behind it; false at the end, or with errno. */
static bool next_component(const char **path, char *name)
{
	*path += strspn(*path, "/");

	size_t length = strcspn(*path, "/");

	errno = 0;
	if (length > NAME_MAX)
		errno = ENAMETOOLONG;
	else if (length == 2 && !memcmp(*path, "..", 2))
		errno = EINVAL;
	if (!length || errno)
		return false;
	memcpy(name, *path, length);
	name[length] = '\0';
	*path += length;
	return true;
}

/* Closes a directory on the way, which may be the folder itself: that is the caller's. */
static void leave(int folder, int fd)
{
	if (fd != folder)
		folder_close(fd);
}

int folder_open_below(int folder, const char *path)
{
	char name[NAME_MAX + 1];
	int fd = folder;

	while (fd != -1 && next_component(&path, name)) {
		int outer = fd;

		fd = openat(outer, name, DIRECTORY_FLAGS);
		leave(folder, outer);
	}
	if (fd != -1 && errno) {
		leave(folder, fd);
		return -1;
	}
	return fd == folder ? openat(folder, ".", DIRECTORY_FLAGS) : fd;
}

/* As folder_open_parent, but the folder itself, not opened anew, where nothing is in between. */
static int find_parent(int folder, const char *path, const char **name)
{
	*name = path;
	if (*path && !strchr(path, '/') && !path_is_dots(path))
		return folder;
	return folder_open_parent(folder, path, name);
}

int folder_open_parent(int folder, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char before[PATH_MAX];
	size_t length = slash ? (size_t)(slash - path) : 0;

	*name = slash ? slash + 1 : path;
	if (length >= sizeof(before)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (!**name || path_is_dots(*name)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(before, path, length);
	before[length] = '\0';
	return folder_open_below(folder, before);
}

bool file_is_hollow(const struct stat *info)
{
	enum { LARGE = 1 << 24, LEAST_PART = 64, BLOCK = 512 };

	return info->st_size > LARGE && info->st_size / LEAST_PART > info->st_blocks * BLOCK;
}

int folder_open_file(int folder, const char *path, int flags, mode_t mode)
{
	const char *name;
	struct stat info;
	int parent = find_parent(folder, path, &name);
	int fd = -1;
	bool writes = (flags & O_ACCMODE) != O_RDONLY;

	if (parent == -1)
		return -1;
	/* O_NONBLOCK: a pipe would be waited for.  What is cut must have been looked at. */
	fd = openat(parent, name,
		    (flags & ~O_TRUNC) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
	leave(folder, parent);
	if (fd < 0)
		return -1;
	if (fstat(fd, &info) || !S_ISREG(info.st_mode))
		errno = EINVAL;
	else if (file_is_hollow(&info))
		errno = EFBIG;
	else if (writes && info.st_nlink > 1)
		errno = EMLINK;
	else if (!(flags & O_TRUNC) || !info.st_size || !ftruncate(fd, 0))
		return fd;
	folder_close(fd);
	return -1;
}

/* What the handle of a path leads to; -1 where /proc is not there, or it may not be read. */
static int open_handle(int handle)
{
	char place[sizeof("/proc/self/fd/") + 12];

	snprintf(place, sizeof(place), "/proc/self/fd/%d", handle);
	return open(place, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

int folder_open_named(const char *path, struct stat *info)
{
	int handle = open(path, O_PATH | O_CLOEXEC), fd = -1;
	struct stat own;

	info = info ? info : &own;
	if (handle < 0)
		return -1;
	if (fstat(handle, info) || !S_ISREG(info->st_mode)) {
		errno = EINVAL;
	} else {
		fd = open_handle(handle);
		if (fd < 0 && errno == ENOENT)
			fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	folder_close(handle);
	if (fd >= 0 && (fstat(fd, info) || !S_ISREG(info->st_mode))) {
		close(fd);
		errno = EINVAL;
		fd = -1;
	} else if (fd >= 0 && file_is_hollow(info)) {
		close(fd);
		errno = EFBIG;
		fd = -1;
	}
	return fd;
}

DIR *folder_list(int folder, const char *path)
{
	int fd = folder_open_below(folder, path);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);

	if (!directory)
		folder_close(fd);
	return directory;
}

bool folder_stat(int folder, const char *path, struct stat *info)
{
	const char *name;
	int parent = find_parent(folder, path, &name);
	bool ok = parent != -1 && !fstatat(parent, name, info, AT_SYMLINK_NOFOLLOW);

	leave(folder, parent);
	return ok;
}

bool folder_make_directories(int folder, const char *path)
{
	char name[NAME_MAX + 1];
	int fd = openat(folder, ".", DIRECTORY_FLAGS);

	while (fd >= 0 && next_component(&path, name)) {
		int outer = fd;

		fd = mkdirat(outer, name, 0755) && errno != EEXIST
			     ? -1
			     : openat(outer, name, DIRECTORY_FLAGS);
		folder_close(outer);
	}
	bool ok = fd >= 0 && !errno;

	folder_close(fd);
	return ok;
}

/* A directory that is emptied. */
struct removal {
	int top;
	unsigned long moved; /* directories that lay too deep, and are now in `top` */
};

static bool remove_below(struct removal *removal, int folder, const char *name, unsigned depth);

/* Removes what is in the directory; the descriptor is closed. errno: of the first failure. */
static bool remove_entries(struct removal *removal, int fd, unsigned depth)
{
	DIR *directory = fdopendir(fd);
	int error = errno;
	bool ok = directory;

	if (!directory)
		folder_close(fd);
	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		if (path_is_dots(entry->d_name) || remove_below(removal, fd, entry->d_name, depth))
			continue;
		error = ok ? errno : error;
		ok = false;
	}
	if (directory)
		closedir(directory);
	errno = error;
	return ok;
}

/* To the top, under a name that nothing has there, whence it is removed later. */
static bool move_up(struct removal *removal, int folder, const char *name)
{
	enum { TRIES = 1000 };
	char fresh[32];
	bool ok = false;

	for (int i = 0; i < TRIES && !ok; i++) {
		snprintf(fresh, sizeof(fresh), ".deep.%lu", ++removal->moved);
		ok = !renameat(folder, name, removal->top, fresh);
		if (!ok && errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
			break;
	}
	return ok;
}

static bool remove_below(struct removal *removal, int folder, const char *name, unsigned depth)
{
	if (!unlinkat(folder, name, 0))
		return true;
	if (errno != EISDIR && errno != EPERM) /* POSIX has EPERM for directories */
		return false;
	if (!unlinkat(folder, name, AT_REMOVEDIR))
		return true;
	if (depth == DEPTH_LIMIT)
		return move_up(removal, folder, name);

	int fd = openat(folder, name, DIRECTORY_FLAGS);

	if (fd < 0 || !remove_entries(removal, fd, depth + 1))
		return false;
	return !unlinkat(folder, name, AT_REMOVEDIR);
}

/* Removes what is in the directory, however deep; the descriptor is closed. */
static bool empty_directory(int fd)
{
	enum { PASSES = 1 << 20 }; /* somebody may make directories meanwhile */
	struct removal removal = {.top = fd};
	unsigned long moved;
	bool ok = fd >= 0;

	for (int pass = 0; ok && pass < PASSES; pass++) {
		moved = removal.moved;
		ok = remove_entries(&removal, folder_open_below(fd, ""), 0);
		if (moved == removal.moved)
			break;
	}
	folder_close(fd);
	return ok;
}

#define HALF_ENDING ".part"

char *folder_half_name(const char *name)
{
	return xasprintf("%s.%d" HALF_ENDING, name, (int)getpid());
}

/* The length of NAME in NAME.PID.part; 0: it is no such name. */
static size_t half_stem(const char *name)
{
	size_t length = strlen(name), end, digits;

	if (!path_ends_with(name, HALF_ENDING))
		return 0;
	end = digits = length - strlen(HALF_ENDING);
	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	return digits > 1 && digits < end && name[digits - 1] == '.' ? digits - 1 : 0;
}

bool folder_is_half_name(const char *name)
{
	return half_stem(name) > 0;
}

/* The file, locked by us: its writer is gone.  -1: EWOULDBLOCK where it is not. */
static int lock_left(int folder, const char *half)
{
	struct stat info;
	int fd = -1;

	if (fstatat(folder, half, &info, AT_SYMLINK_NOFOLLOW))
		return -1;
	if (S_ISREG(info.st_mode)) /* to write: NFS locks nothing else for one alone */
		fd = openat(folder, half,
			    O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	else
		errno = EINVAL;
	/* who has renamed it meanwhile has closed it, too */
	if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) || !folder_is(fd, folder, half))) {
		folder_close(fd);
		fd = -1;
	}
	return fd;
}

bool folder_is_left(int folder, const char *half)
{
	int fd = lock_left(folder, half);
	bool left = fd >= 0 || errno != EWOULDBLOCK;

	folder_close(fd);
	return left;
}

static bool remove_left(int folder, const char *half)
{
	int fd = lock_left(folder, half);
	bool removed = fd >= 0 && !unlinkat(folder, half, 0);

	folder_close(fd);
	return removed;
}

static void remove_left_entries(int folder, const char *name, unsigned depth)
{
	DIR *directory = folder_list(folder, "");
	size_t length = name ? strlen(name) : 0;

	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		size_t stem = half_stem(entry->d_name);
		bool is_wanted =
			stem && (!name || (stem == length && !memcmp(entry->d_name, name, length)));
		int below = -1;

		if (is_wanted)
			remove_left(folder, entry->d_name);
		else if (depth && !path_is_dots(entry->d_name))
			below = openat(folder, entry->d_name, DIRECTORY_FLAGS);
		if (below >= 0) {
			remove_left_entries(below, name, depth - 1);
			close(below);
		}
	}
	if (directory)
		closedir(directory);
}

void folder_remove_left(int folder, const char *name)
{
	remove_left_entries(folder, name, 0);
}

void folder_remove_left_below(int folder)
{
	remove_left_entries(folder, NULL, DEPTH_LIMIT);
}

/* Locks a new file; false: who removes what was left has taken it for that, or is about to. */
static bool lock_half(int fd)
{
	struct stat info;

	/* where nothing can be locked nothing is taken for left either */
	return !(flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) &&
	       !(!fstat(fd, &info) && !info.st_nlink);
}

int folder_open_half(int folder, const char *half, mode_t mode)
{
	enum { FLAGS = O_WRONLY | O_CREAT | O_EXCL, TRIES = 100 };

	for (int i = 0; i < TRIES; i++) {
		int fd = folder_open_file(folder, half, FLAGS, mode);

		if (fd >= 0 && lock_half(fd))
			return fd;
		if (fd < 0 && errno != EEXIST)
			return -1;
		/* Where nothing can be locked, who had this number before is gone all the same. */
		if (fd < 0 && !remove_left(folder, half) && errno != ENOENT &&
		    (errno == EWOULDBLOCK || unlinkat(folder, half, 0)))
			break;
		folder_close(fd);
	}
	errno = EEXIST;
	return -1;
}

bool folder_write_whole(int folder, const char *name, const char *text, size_t length)
{
	char *half = folder_half_name(name);
	int fd = folder_open_half(folder, half, 0644);

	if (fd >= 0)
		errno = ENOSPC; /* of a write that is short, which says nothing */
	bool ok = fd >= 0 && write(fd, text, length) == (ssize_t)length &&
		  !renameat(folder, half, folder, name);
	int error = errno;

	if (!ok && fd >= 0)
		unlinkat(folder, half, 0);
	folder_close(fd);
	free(half);
	errno = error;
	return ok;
}

bool folder_remove(int folder, const char *name)
{
	if (strchr(name, '/') || path_is_dots(name)) {
		errno = EINVAL;
		return false;
	}
	if (!unlinkat(folder, name, 0))
		return true;
	if (errno != EISDIR && errno != EPERM) /* POSIX has EPERM for directories */
		return false;
	return empty_directory(openat(folder, name, DIRECTORY_FLAGS)) &&
	       !unlinkat(folder, name, AT_REMOVEDIR);
}

static bool is_same(int folder, int other, const char *path, int flags)
{
	struct stat own, info;

	if (fstat(folder, &own) || fstatat(other, path, &info, flags))
		return false;
	if (own.st_dev == info.st_dev && own.st_ino == info.st_ino)
		return true;
	errno = ESTALE; /* there is something, but not this */
	return false;
}

bool folder_is_at(int folder, const char *path)
{
	return is_same(folder, AT_FDCWD, path, 0);
}

bool folder_is(int folder, int parent, const char *name)
{
	return is_same(folder, parent, name, AT_SYMLINK_NOFOLLOW);
}

bool folder_remove_itself(int folder, const char *name)
{
	/* where it is now: who has moved it could not move it far */
	int parent = openat(folder, "..", DIRECTORY_FLAGS | O_PATH);
	int own = folder_open_below(folder, "");
	bool ok = empty_directory(own) && folder_is(folder, parent, name) &&
		  !unlinkat(parent, name, AT_REMOVEDIR);
	folder_close(parent);
	return ok;
}

/* Root's other groups, which the owner has no part in; -1: they are in force. */
static _Thread_local gid_t own_groups[GROUPS_LIMIT];
static _Thread_local int own_group_count = -1;

/* glibc's functions change the groups of all threads. */
static void leave_groups(void)
{
	if (own_group_count >= 0)
		return;
	own_group_count = getgroups(GROUPS_LIMIT, own_groups);
	if (own_group_count >= 0 && syscall(SYS_setgroups, 0, NULL))
		own_group_count = -1;
}

void folder_be_owner(int folder)
{
	struct stat info;

	if (geteuid() || fstat(folder, &info))
		return;
	if (!info.st_uid) {
		folder_be_oneself();
		return;
	}
	leave_groups();
	setfsgid(info.st_gid);
	setfsuid(info.st_uid);
}

void folder_be_oneself(void)
{
	setfsuid(geteuid());
	setfsgid(getegid());
	if (own_group_count >= 0)
		syscall(SYS_setgroups, own_group_count, own_groups);
	own_group_count = -1;
}
