/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of ours that outlive a call: the events of the perf engine and of counters, and in a
 * program that has moved its root the socket to the launcher.
 *
 * They lie above RLIMIT_NOFILE, where the program can open nothing, closes nothing in a loop,
 * and misses nothing when its table is full: the limit is raised for the moment in which they
 * are moved there.  Where that is forbidden they lie below it.
 *
 * What can still meet them is wrapped: close says EBADF, as it would without us; close_range
 * and closefrom go around them; dup2 and dup3 onto one find it moved away; listings of
 * /proc/self/fd leave them out (own_proc.c).
 *
 * A thread may have a table of its own, in which an event lies where it lay when the two parted.
 * So a number alone does not say which event it is: the kernel's identifier does, and a
 * socket's inode.
 */
#include "collector/wrap/descriptor.h"

#include "collector/arch/sys.h"
#include "collector/core/log.h"
#include "collector/core/next_functions.h"
#include "collector/core/recording.h"
#include "collector/core/start.h"
#include "collector/sources/io.h"
#include "collector/wrap/signal_fd.h"
#include "format/counter.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HELD_MAX = 6 + COUNTERS_MAX,
	ROOM = 32, /* numbers that we may need above the limit */
	LIMIT_LARGE =
		4096, /* above such a limit the table would grow too much: each fork copies it */
	LIMIT_SMALL = 64,   /* below such a limit the program would miss what we take */
	USUAL_PLACE = 1000, /* under a large limit, or one that cannot be raised */
	FORMER_MAX = 4,
};

/* Whose descriptors they are; NULL: a free entry. */
static _Atomic(_Atomic int *) held[HELD_MAX];

static struct place {
	_Atomic uint64_t event;		/* what event_at says; 0: nothing */
	_Atomic int former[FORMER_MAX]; /* numbers that it was moved away from, plus 1 */
	_Atomic unsigned moves;
} places[HELD_MAX]; /* of the same entries */

/* ---- a place for them ---- */

static int set_limit(const struct rlimit *limit)
{
	return (int)sys_call(SYS_prlimit64, 0, RLIMIT_NOFILE, limit, 0);
}

/* A copy of `fd` at a number that is not below `lowest`, or a negative errno. */
static int copy_to(int fd, uint64_t lowest)
{
	return (int)sys_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest, 0);
}

static int copy_above(int fd, const struct rlimit *limit)
{
	struct rlimit raised = *limit;

	raised.rlim_cur += ROOM;
	if (raised.rlim_max < raised.rlim_cur)
		raised.rlim_max = raised.rlim_cur;
	int result = set_limit(&raised);
	if (result)
		return result;
	int copy = copy_to(fd, limit->rlim_cur);

	set_limit(limit);
	return copy;
}

static int copy_high(int fd)
{
	struct rlimit limit = {0};
	int copy = -EMFILE;

	sys_call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, &limit);
	if (limit.rlim_cur <= LIMIT_LARGE)
		copy = copy_above(fd, &limit);
	if (copy < 0 && limit.rlim_cur >= LIMIT_SMALL)
		copy = copy_to(fd, limit.rlim_cur > USUAL_PLACE + ROOM ? USUAL_PLACE
								       : limit.rlim_cur - ROOM);
	return copy;
}

/* What is at a number: 0 is neither an event nor a socket. */
static uint64_t event_at(int fd)
{
	enum { SOCKET_BIT = 63 }; /* sockets have inodes of their own */
	uint64_t event = 0;
	struct stat info;

	if (!sys_ioctl(fd, PERF_EVENT_IOC_ID, SYS_ARG(&event)))
		return event;
	if (sys_call(SYS_fstat, fd, &info, 0, 0) || !S_ISSOCK(info.st_mode))
		return 0;
	return (uint64_t)info.st_ino | (uint64_t)1 << SOCKET_BIT;
}

static void settle_in(struct place *place, int fd)
{
	atomic_store(&place->event, event_at(fd));
	atomic_store(&place->moves, 0);
	for (int i = 0; i < FORMER_MAX; i++)
		atomic_store(&place->former[i], 0);
}

bool descriptor_hold(int fd, _Atomic int *owner)
{
	int copy = copy_high(fd);

	sys_close(fd);
	if (copy < 0)
		return false;
	for (int i = 0; i < HELD_MAX; i++) {
		_Atomic int *expected = NULL;

		if (!atomic_compare_exchange_strong(&held[i], &expected, owner))
			continue;
		settle_in(&places[i], copy);
		atomic_store(owner, copy);
		return true;
	}
	sys_close(copy);
	return false;
}

static int index_of(const _Atomic int *owner)
{
	for (int i = 0; i < HELD_MAX; i++)
		if (atomic_load_explicit(&held[i], memory_order_relaxed) == owner)
			return i;
	return -1;
}

int descriptor_number(_Atomic int *owner)
{
	int index = index_of(owner), fd = atomic_load(owner);
	uint64_t event = index < 0 ? 0 : atomic_load(&places[index].event);

	if (fd < 0 || !event || event_at(fd) == event)
		return fd;
	for (int i = 0; i < FORMER_MAX; i++) {
		fd = atomic_load(&places[index].former[i]) - 1;
		if (fd >= 0 && event_at(fd) == event)
			return fd;
	}
	return DESCRIPTOR_NONE;
}

void descriptor_drop(_Atomic int *owner)
{
	int fd = descriptor_number(owner);

	for (int i = 0; i < HELD_MAX; i++) {
		_Atomic int *expected = owner;

		atomic_compare_exchange_strong(&held[i], &expected, NULL);
	}
	if (atomic_exchange(owner, DESCRIPTOR_NONE) >= 0 && fd >= 0)
		sys_close(fd);
}

static void note_move(const _Atomic int *owner, int from)
{
	int index = index_of(owner);

	if (index < 0)
		return;
	unsigned move = atomic_fetch_add(&places[index].moves, 1);

	atomic_store(&places[index].former[move % FORMER_MAX], from + 1);
}

/* ---- what the program does to descriptors ---- */

/* The owner of a descriptor of ours, or NULL. In a child of vfork the table is the child's own. */
static _Atomic int *owner_of(int fd)
{
	for (int i = 0; i < HELD_MAX; i++) {
		_Atomic int *owner = atomic_load_explicit(&held[i], memory_order_relaxed);

		if (owner && fd >= 0 && atomic_load_explicit(owner, memory_order_relaxed) == fd)
			return collector_is_ours() ? owner : NULL;
	}
	return NULL;
}

/* The lowest number of ours in [first, last], or -1. */
static int lowest_held(unsigned first, unsigned last)
{
	int lowest = DESCRIPTOR_NONE;

	for (int i = 0; i < HELD_MAX; i++) {
		_Atomic int *owner = atomic_load_explicit(&held[i], memory_order_relaxed);
		int fd =
			owner ? atomic_load_explicit(owner, memory_order_relaxed) : DESCRIPTOR_NONE;

		if (fd >= 0 && (unsigned)fd >= first && (unsigned)fd <= last &&
		    (lowest < 0 || fd < lowest))
			lowest = fd;
	}
	return lowest;
}

/* The program is about to put something at this number. */
static void make_way(int fd)
{
	_Atomic int *owner = owner_of(fd);

	if (!owner)
		return;
	int copy = copy_to(fd, (uint64_t)fd + 1);

	if (copy < 0)
		copy = copy_high(fd);
	if (copy < 0) {
		descriptor_drop(owner);
		log_warning("the program took the place of our events, and there is no other: the "
			    "recording has gaps",
			    -copy);
		return;
	}
	note_move(owner, fd);
	atomic_store(owner, copy);
	sys_close(fd);
}

bool descriptor_is_hidden(int fd)
{
	return owner_of(fd);
}

static int fail(int error)
{
	errno = error;
	return -1;
}

static int close_numbers(unsigned first, unsigned last, int flags)
{
	long result = sys_call(SYS_close_range, first, last, flags, 0);

	return result ? fail((int)-result) : 0;
}

/* All of [first, last] but what is ours. */
static int close_around(unsigned first, unsigned last)
{
	int ours;

	while ((ours = lowest_held(first, last)) >= 0) {
		if ((unsigned)ours > first && close_numbers(first, (unsigned)ours - 1, 0))
			return -1;
		if ((unsigned)ours == last)
			return 0;
		first = (unsigned)ours + 1;
	}
	return close_numbers(first, last, 0);
}

COLLECTOR_EXPORT int close(int fd)
{
	if (owner_of(fd))
		return fail(EBADF);
	signal_fd_close(fd);
	uint32_t name = io_release(fd);
	uint64_t begin_ns = io_begin();
	int result = NEXT(close)(fd);

	if (begin_ns)
		io_end(begin_ns, NEXT(close),
		       &(struct io_event){
			       .type = IO_CLOSE, .failed = result < 0, .fd = fd, .name = name});
	return result;
}

/* Ours are closed by an exec anyway, so CLOSE_RANGE_CLOEXEC may have them. */
COLLECTOR_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	if (!(flags & ~(int)CLOSE_RANGE_UNSHARE))
		io_release_range(first, last);
	if (flags & ~(int)CLOSE_RANGE_UNSHARE || lowest_held(first, last) < 0 ||
	    !collector_is_ours())
		return close_numbers(first, last, flags);
	return flags && unshare(CLONE_FILES) ? -1 : close_around(first, last);
}

COLLECTOR_EXPORT void closefrom(int lowest)
{
	unsigned first = lowest > 0 ? (unsigned)lowest : 0;

	io_release_range(first, ~0u);
	bool around = lowest_held(first, ~0u) >= 0 && collector_is_ours();

	if (!around || close_around(first, ~0u))
		NEXT(closefrom)(lowest);
}

#define COPIED(fd_, from)                                                                          \
	.type = IO_OPEN, .failed = (fd_) < 0, .fd = (fd_), .has_offset = true,                     \
	.offset = (uint64_t)(from)

COLLECTOR_EXPORT int dup2(int fd, int to)
{
	if (owner_of(fd))
		return fail(EBADF);
	make_way(to);
	io_release(to);
	uint64_t begin_ns = io_begin();
	int result = NEXT(dup2)(fd, to);

	if (begin_ns)
		io_end(begin_ns, NEXT(dup2), &(struct io_event){COPIED(result, fd)});
	return result;
}

COLLECTOR_EXPORT int dup3(int fd, int to, int flags)
{
	if (owner_of(fd))
		return fail(EBADF);
	make_way(to);
	io_release(to);
	uint64_t begin_ns = io_begin();
	int result = NEXT(dup3)(fd, to, flags);

	if (begin_ns)
		io_end(begin_ns, NEXT(dup3), &(struct io_event){COPIED(result, fd)});
	return result;
}
