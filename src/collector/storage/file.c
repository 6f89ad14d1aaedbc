/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/storage/file.h"

#include "collector/arch/sys.h"
#include "collector/storage/ask.h"
#include "collector/storage/descriptor.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"
#include "format/params.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

_Atomic int file_broker = -1;
static _Atomic uint32_t own_image; /* from before there is a file_broker; see format/broker.h */

/*
 * The founder's directory, as the launcher says: its path may come to lead to another one, which
 * must stay as it is.  Exposed: somebody else could exchange a directory on the way to it between a
 * look and what follows.
 */
static uint64_t home_device, home_inode;
static bool knows_home, is_exposed;
static _Atomic bool moved;

void file_read_param(const char *value)
{
	const char *end;

	knows_home = *value;
	home_device = text_number(value, &end);
	home_inode = *end == ',' ? text_number(end + 1, &end) : 0;
	is_exposed = knows_home && text_starts(end, PARAMS_PLACE_EXPOSED);
}

void file_moves(void)
{
	struct stat info;

	if (atomic_load(&moved))
		return;
	if (!knows_home && !sys_call(SYS_newfstatat, AT_FDCWD, collector.founder, &info, 0)) {
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

static bool is_home(const struct stat *info)
{
	return (info->st_dev == home_device || (collector.other_machine && !file_has_moved())) &&
	       info->st_ino == home_inode;
}

/*
 * -ESTALE: its path leads elsewhere.  Closed at once: it may lead out of a jail.  Not a part of
 * its callers, which may be on a small stack.
 */
__attribute__((noinline)) static int open_home(void)
{
	struct stat info;
	int fd = sys_open(collector.founder, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);

	if (fd < 0 || !(knows_home || file_has_moved()))
		return fd;
	if (!sys_call(SYS_fstat, fd, &info, 0, 0) && is_home(&info))
		return fd;
	sys_close(fd);
	return -ESTALE;
}

/*
 * Without a descriptor, of which the program may have none left. 0 or a negative errno.  Before
 * each use anew: what the program does in between may make the path lead elsewhere, chroot(2) at
 * once.
 */
__attribute__((noinline)) static int look_at_home(void)
{
	struct stat info;
	int result = (int)sys_call(SYS_newfstatat, AT_FDCWD, collector.founder, &info,
				   AT_SYMLINK_NOFOLLOW);

	return result || is_home(&info) ? result : -ESTALE;
}

/* ---- the launcher, who reaches what we do not ---- */

int file_reach_launcher(void)
{
	static _Atomic bool busy; /* another thread is at it */

	if (atomic_load(&file_broker) >= 0)
		return 0;
	if (atomic_exchange(&busy, true))
		return -EAGAIN;
	int home = open_home();
	int fd = home < 0 ? home : ask_connect(home, is_exposed ? NULL : collector.founder);

	if (home >= 0)
		sys_close(home);
	if (fd >= 0 && !descriptor_hold(fd, &file_broker))
		fd = -EMFILE;
	atomic_store(&busy, false);
	return fd < 0 ? fd : 0;
}

static struct broker_request request_of(enum broker_kind kind)
{
	return (struct broker_request){
		.kind = kind,
		.number = atomic_load(&own_image),
		.thread = sys_gettid(),
		.key = {collector.launcher_key[0], collector.launcher_key[1]}};
}

/* Returns as ask_launcher does. */
static int ask(enum broker_kind kind, const char *path, int flags, struct broker_answer *answer)
{
	struct broker_request request = request_of(kind);
	int fd = descriptor_number(&file_broker);

	request.flags = flags;
	return fd < 0 ? -ENOENT : ask_launcher(fd, &request, path, answer, NULL, 0);
}

/* A path in the experiment becomes relative to the founder's. False: it is another one. */
static bool is_in_family(const char **path)
{
	size_t length = text_length(collector.founder);

	if (!text_starts(*path, collector.founder) || ((*path)[length] && (*path)[length] != '/'))
		return false;
	*path += length + ((*path)[length] == '/');
	return true;
}

/*
 * A system call on a path in the experiment.  The founder's directory is looked at first, and where
 * that may have changed by then, what is below it reached from there.  -ESTALE: it has moved out of
 * our reach.
 */
static long call_at(long number, const char *path, long third, long fourth)
{
	const char *below = path;
	bool ours = (knows_home || file_has_moved()) && is_in_family(&below);
	bool changes = is_exposed || file_has_moved();
	int look = ours && !changes ? look_at_home() : 0;

	if (look)
		return look;
	if (!ours || !changes)
		return sys_call(number, AT_FDCWD, path, third, fourth);
	int home = open_home();

	if (home < 0)
		return file_has_moved() && home != -EMFILE && home != -ENFILE ? -ESTALE : home;
	long result = sys_call(number, home, *below ? below : ".", third, fourth);

	sys_close(home);
	return result;
}

/*
 * Whether the launcher is to be asked for such a path, which is then relative: it is not here, or
 * it is, but only to be read (bwrap --ro-bind), or the kernel has said no, since what root has made
 * is root's.
 */
static bool must_ask(long result, const char **path)
{
	if (file_has_moved() && result != -EROFS)
		return result == -ESTALE && is_in_family(path);
	return (result == -EACCES || result == -EROFS) && collector.launcher_key[0] &&
	       is_in_family(path) && !file_reach_launcher();
}

/* ---- the experiment's files ---- */

int file_open(const char *path, int flags, int mode)
{
	struct broker_answer answer;
	int fd = (int)call_at(SYS_openat, path, flags | O_NOFOLLOW | O_CLOEXEC, mode);

	return must_ask(fd, &path) ? ask(BROKER_OPEN, path, flags, &answer) : fd;
}

int file_make_directory(const char *path)
{
	struct broker_answer answer;
	int result = (int)call_at(SYS_mkdirat, path, 0755, 0);

	return must_ask(result, &path) ? ask(BROKER_MAKE_DIRECTORY, path, 0, &answer) : result;
}

void file_remove(const char *path)
{
	struct broker_answer answer;

	if (must_ask(call_at(SYS_unlinkat, path, 0, 0), &path))
		ask(BROKER_REMOVE, path, 0, &answer);
}

int file_size(const char *path, uint64_t *size)
{
	struct broker_answer answer;
	struct stat info;
	int result = (int)call_at(SYS_newfstatat, path, SYS_ARG(&info), AT_SYMLINK_NOFOLLOW);
	bool asks = must_ask(result, &path);

	if (asks)
		result = ask(BROKER_STAT, path, 0, &answer);
	if (!result)
		*size = asks ? answer.file_size : (uint64_t)info.st_size;
	return result;
}

static void open_to_passers(const char *path)
{
	enum { PASS = S_IXGRP | S_IXOTH };
	struct stat info;
	int fd = (int)call_at(SYS_openat, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (!sys_call(SYS_fstat, fd, &info, 0, 0) && (info.st_mode & PASS) != PASS)
		sys_call(SYS_fchmod, fd, (info.st_mode & 07777) | PASS, 0, 0);
	sys_close(fd);
}

void file_let_pass(void)
{
	if (file_has_moved())
		return;
	open_to_passers(collector.founder);
	open_to_passers(collector.directory);
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

	return is_elsewhere(fd) ? ask(BROKER_OPEN_PROC, below_proc(path), 0, &answer) : fd;
}

long file_readlink_proc(const char *path, char *to, size_t size)
{
	struct broker_request request;
	struct broker_answer answer;
	long length = sys_readlink(path, to, size);

	if (!is_elsewhere(length))
		return length;
	request = request_of(BROKER_READ_LINK);
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
	result = ask(BROKER_STAT_PROC, below_proc(path), 0, &answer);
	if (!result) {
		to->st_dev = answer.device;
		to->st_ino = answer.inode;
	}
	return (int)result;
}

long file_list_tasks(uint32_t from, int32_t *to, size_t count)
{
	struct broker_request request = request_of(BROKER_LIST_TASKS);
	struct broker_answer answer;

	request.number = from;
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
