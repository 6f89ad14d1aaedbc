/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What meets descriptors of ours (storage/descriptor.h): close says EBADF, as it would without us;
 * close_range and closefrom go around them; dup2 and dup3 onto one find it moved away; listings of
 * /proc/self/fd leave them out (own_proc.c).
 */
#include "collector/storage/descriptor.h"
#include "collector/arch/sys.h"
#include "collector/core/log.h"
#include "collector/core/next_functions.h"
#include "collector/sources/io.h"
#include "collector/storage/recording.h"
#include "collector/wrap/signal_fd.h"

#include <sched.h>
#include <unistd.h>

/* The program is about to put something at this number. */
static void make_way(int fd)
{
	int result = descriptor_make_way(fd);

	if (result)
		log_warning("the program took the place of our events, and there is no other: the "
			    "recording has gaps",
			    -result);
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

	while ((ours = descriptor_lowest(first, last)) >= 0) {
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
	if (descriptor_is_hidden(fd))
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
	if (flags & ~(int)CLOSE_RANGE_UNSHARE || descriptor_lowest(first, last) < 0 ||
	    !collector_is_ours())
		return close_numbers(first, last, flags);
	return flags && unshare(CLONE_FILES) ? -1 : close_around(first, last);
}

COLLECTOR_EXPORT void closefrom(int lowest)
{
	unsigned first = lowest > 0 ? (unsigned)lowest : 0;

	io_release_range(first, ~0u);
	bool around = descriptor_lowest(first, ~0u) >= 0 && collector_is_ours();

	if (!around || close_around(first, ~0u))
		NEXT(closefrom)(lowest);
}

#define COPIED(fd_, from)                                                                          \
	.type = IO_OPEN, .failed = (fd_) < 0, .fd = (fd_), .has_offset = true,                     \
	.offset = (uint64_t)(from)

COLLECTOR_EXPORT int dup2(int fd, int to)
{
	if (descriptor_is_hidden(fd))
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
	if (descriptor_is_hidden(fd))
		return fail(EBADF);
	make_way(to);
	io_release(to);
	uint64_t begin_ns = io_begin();
	int result = NEXT(dup3)(fd, to, flags);

	if (begin_ns)
		io_end(begin_ns, NEXT(dup3), &(struct io_event){COPIED(result, fd)});
	return result;
}
