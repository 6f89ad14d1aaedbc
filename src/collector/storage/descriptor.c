/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of ours that outlive a call: the events of the perf engine and of counters, and in a
 * program that has moved its root the socket to the launcher.
 *
 * They lie above RLIMIT_NOFILE, where the program can open nothing, closes nothing in a loop,
 * and misses nothing when its table is full: the limit is raised for the moment in which they
 * are moved there.  Where that is forbidden they lie below it.
 *
 * What can still meet them is wrapped (wrap/descriptor.c).
 *
 * A thread may have a table of its own, in which an event lies where it lay when the two parted.
 * So a number alone does not say which event it is: the kernel's identifier does, and a
 * socket's inode.
 */
#include "collector/storage/descriptor.h"

#include "collector/arch/sys.h"
#include "collector/storage/recording.h"
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

int descriptor_lowest(unsigned first, unsigned last)
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

int descriptor_make_way(int fd)
{
	_Atomic int *owner = owner_of(fd);

	if (!owner)
		return 0;
	int copy = copy_to(fd, (uint64_t)fd + 1);

	if (copy < 0)
		copy = copy_high(fd);
	if (copy < 0) {
		descriptor_drop(owner);
		return copy;
	}
	note_move(owner, fd);
	atomic_store(owner, copy);
	sys_close(fd);
	return 0;
}

bool descriptor_is_hidden(int fd)
{
	return owner_of(fd);
}
