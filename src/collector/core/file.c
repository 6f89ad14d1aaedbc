/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/file.h"

#include "collector/core/core.h"
#include "collector/core/sys.h"
#include "collector/core/text.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

_Atomic int file_place = -1, file_proc = -1;

/* Makes `path` relative to the directory that is returned. */
static int directory_of(const char **path)
{
	int fd = atomic_load_explicit(&file_place, memory_order_relaxed);
	size_t length = text_length(collector.founder);

	if (fd < 0 || !text_starts(*path, collector.founder) || (*path)[length] != '/')
		return AT_FDCWD;
	*path += length + 1;
	return fd;
}

int file_open(const char *path, int flags, int mode)
{
	int directory = directory_of(&path);

	return (int)sys_call(SYS_openat, directory, path, flags | O_CLOEXEC, mode);
}

int file_make_directory(const char *path)
{
	int directory = directory_of(&path);

	return (int)sys_call(SYS_mkdirat, directory, path, 0755, 0);
}

void file_remove(const char *path)
{
	int directory = directory_of(&path);

	sys_call(SYS_unlinkat, directory, path, 0, 0);
}

int file_stat(const char *path, struct stat *to)
{
	int directory = directory_of(&path);

	return (int)sys_call(SYS_newfstatat, directory, path, to, AT_SYMLINK_NOFOLLOW);
}

/* ESRCH: the root is in the /proc of a process that has ended, as Chromium's zygotes have it. */
static bool is_elsewhere(long result)
{
	return result == -ENOENT || result == -ESRCH;
}

int file_open_proc(const char *path, int flags)
{
	int fd = sys_open(path, flags, 0);
	int proc = atomic_load_explicit(&file_proc, memory_order_relaxed);

	if (is_elsewhere(fd) && proc >= 0)
		fd = sys_openat(proc, path + sizeof("/proc"), flags);
	return fd;
}

long file_readlink_proc(const char *path, char *to, size_t size)
{
	long length = sys_readlink(path, to, size);
	int proc = atomic_load_explicit(&file_proc, memory_order_relaxed);

	if (is_elsewhere(length) && proc >= 0)
		length = sys_call(SYS_readlinkat, proc, path + sizeof("/proc"), to, size);
	return length;
}

int file_stat_proc(const char *path, struct stat *to)
{
	long result = sys_call(SYS_newfstatat, AT_FDCWD, path, to, 0);
	int proc = atomic_load_explicit(&file_proc, memory_order_relaxed);

	if (is_elsewhere(result) && proc >= 0)
		result = sys_call(SYS_newfstatat, proc, path + sizeof("/proc"), to, 0);
	return (int)result;
}

bool file_may_reach(uint64_t end)
{
	struct rlimit limit;

	if (sys_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit))
		return true;
	return limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

int file_append(int fd, const void *from, size_t size)
{
	long end = sys_call(SYS_lseek, fd, 0, SEEK_END, 0);

	if (end < 0)
		return (int)end;
	if (!file_may_reach((uint64_t)end + size))
		return -EFBIG;
	long written = sys_write(fd, from, size);

	if (written == (long)size)
		return 0;
	return written < 0 ? (int)written : -ENOSPC;
}
