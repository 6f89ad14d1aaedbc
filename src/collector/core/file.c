/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/file.h"

#include "collector/core/ask.h"
#include "collector/core/core.h"
#include "collector/core/sys.h"
#include "collector/core/text.h"
#include "collector/wrap/descriptor.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

_Atomic int file_place = -1, file_broker = -1;

/* The founder's directory as it was when its path may have begun to mean something else. */
static uint64_t home_device, home_inode;
static _Atomic bool moved;

void file_moves(void)
{
	struct stat info;

	if (atomic_load(&moved))
		return;
	if (!sys_call(SYS_newfstatat, AT_FDCWD, collector.founder, &info, 0)) {
		home_device = info.st_dev;
		home_inode = info.st_ino;
	}
	/* pairs with the load in file_has_moved: those two are there */
	atomic_store_explicit(&moved, true, memory_order_release);
}

bool file_has_moved(void)
{
	return atomic_load_explicit(&moved, memory_order_acquire);
}

/* Not a part of its callers, which may be on a small stack. */
__attribute__((noinline)) static bool is_home_here(void)
{
	struct stat info;

	return !sys_call(SYS_newfstatat, AT_FDCWD, collector.founder, &info, 0) &&
	       info.st_dev == home_device && info.st_ino == home_inode;
}

/* ---- the launcher, who reaches what we do not ---- */

/* Returns as ask_launcher does. */
static int ask(enum broker_kind kind, const char *path, int flags, uint32_t number,
	       struct broker_answer *answer)
{
	const struct broker_request request = {
		.kind = kind, .flags = flags, .number = number, .thread = sys_gettid()};
	int fd = descriptor_number(&file_broker);

	return fd < 0 ? -ENOENT : ask_launcher(fd, &request, path, answer, NULL, 0);
}

/* Whether the launcher must be asked for a path in the experiment, which is then relative. */
static bool must_ask(const char **path)
{
	size_t length = text_length(collector.founder);

	if (!file_has_moved() || !text_starts(*path, collector.founder) ||
	    ((*path)[length] && (*path)[length] != '/') || is_home_here())
		return false;
	*path += length + ((*path)[length] == '/');
	return true;
}

/* ---- the experiment's files ---- */

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
	struct broker_answer answer;

	if (must_ask(&path))
		return ask(BROKER_OPEN, path, flags, 0, &answer);
	int directory = directory_of(&path);

	return (int)sys_call(SYS_openat, directory, path, flags | O_CLOEXEC, mode);
}

int file_make_directory(const char *path)
{
	struct broker_answer answer;

	if (must_ask(&path))
		return ask(BROKER_MAKE_DIRECTORY, path, 0, 0, &answer);
	int directory = directory_of(&path);

	return (int)sys_call(SYS_mkdirat, directory, path, 0755, 0);
}

void file_remove(const char *path)
{
	struct broker_answer answer;

	if (must_ask(&path)) {
		ask(BROKER_REMOVE, path, 0, 0, &answer);
		return;
	}
	int directory = directory_of(&path);

	sys_call(SYS_unlinkat, directory, path, 0, 0);
}

int file_size(const char *path, uint64_t *size)
{
	struct broker_answer answer;
	struct stat info;
	bool asked = must_ask(&path);
	int directory = asked ? 0 : directory_of(&path);
	int result =
		asked ? ask(BROKER_STAT, path, 0, 0, &answer)
		      : (int)sys_call(SYS_newfstatat, directory, path, &info, AT_SYMLINK_NOFOLLOW);

	if (!result)
		*size = asked ? answer.file_size : (uint64_t)info.st_size;
	return result;
}

void file_give_directory(const char *path, uint32_t user)
{
	struct broker_answer answer;

	if (must_ask(&path)) {
		ask(BROKER_GIVE, path, 0, user, &answer);
		return;
	}
	int fd = file_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

	if (fd < 0)
		return;
	sys_call(SYS_fchown, fd, user, -1, 0);
	sys_close(fd);
}

static void share(int fd, uint32_t group)
{
	struct stat info;
	bool fits;

	if (sys_call(SYS_fstat, fd, &info, 0, 0))
		return;
	mode_t mode = broker_share(&info, group, &fits);

	if (fits)
		sys_call(SYS_fchown, fd, -1, group, 0);
	sys_call(SYS_fchmod, fd, mode, 0, 0);
}

void file_share_directory(const char *path, uint32_t group)
{
	struct broker_answer answer;

	if (must_ask(&path)) {
		ask(BROKER_SHARE, path, 0, group, &answer);
		return;
	}
	int fd = file_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

	if (fd < 0)
		return;
	share(fd, group);
	sys_close(fd);
}

/* ---- what the kernel tells ---- */

/*
 * This root has no /proc, or none that we may reach.  ESRCH: the root is in the /proc of a process
 * that has ended, as Chromium's zygotes have it.
 */
static bool is_elsewhere(long result)
{
	return (result == -ENOENT || result == -ESRCH || result == -EACCES) &&
	       atomic_load(&file_broker) >= 0;
}

static const char *below_proc(const char *path)
{
	return path + sizeof("/proc");
}

int file_open_proc(const char *path, int flags)
{
	struct broker_answer answer;
	int fd = sys_open(path, flags, 0);

	return is_elsewhere(fd) ? ask(BROKER_OPEN_PROC, below_proc(path), 0, 0, &answer) : fd;
}

long file_readlink_proc(const char *path, char *to, size_t size)
{
	struct broker_request request = {.kind = BROKER_READ_LINK};
	struct broker_answer answer;
	long length = sys_readlink(path, to, size);

	if (!is_elsewhere(length))
		return length;
	request.thread = sys_gettid();
	length = ask_launcher(descriptor_number(&file_broker), &request, below_proc(path), &answer,
			      to, size);
	return length ? length : answer.size;
}

int file_stat_proc(const char *path, struct stat *to)
{
	struct broker_answer answer;
	long result = sys_call(SYS_newfstatat, AT_FDCWD, path, to, 0);

	if (!is_elsewhere(result))
		return (int)result;
	result = ask(BROKER_STAT_PROC, below_proc(path), 0, 0, &answer);
	if (!result) {
		to->st_dev = answer.device;
		to->st_ino = answer.inode;
	}
	return (int)result;
}

long file_list_tasks(uint32_t from, int32_t *to, size_t count)
{
	const struct broker_request request = {
		.kind = BROKER_LIST_TASKS, .number = from, .thread = sys_gettid()};
	struct broker_answer answer;
	int fd = descriptor_number(&file_broker);
	int result =
		fd < 0 ? -ENOENT : ask_launcher(fd, &request, "", &answer, to, count * sizeof(*to));

	return result ? result : (long)(answer.size / sizeof(*to));
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
