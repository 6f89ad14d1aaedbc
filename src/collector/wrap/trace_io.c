/* SPDX-License-Identifier: Apache-2.0 */
/* Traced calls on descriptors, and those that make them. */
#include "collector/wrap/trace_io.h"
#include "collector/core/next_functions.h"
#include "collector/wrap/signal_fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/uio.h>

extern struct io_function functions_begin[] __asm__("__start_helio_io")
	__attribute__((visibility("hidden")));
extern struct io_function functions_end[] __asm__("__stop_helio_io")
	__attribute__((visibility("hidden")));

/* In the place of what this C library lacks: a program that asks whether it is there finds ours. */
static long missing(void)
{
	errno = ENOSYS;
	return -1;
}

void *io_next(struct io_function *function)
{
	if (!function->next)
		function->next = next_symbol(function->name);
	if (!function->next)
		function->next = (void *)missing;
	return function->next;
}

/* All of them now: later a call may come in a handler, which must not meet the loader's lock. */
NEXT_CONSTRUCTOR static void resolve(void)
{
	for (struct io_function *function = functions_begin; function < functions_end; function++)
		io_next(function);
	next_forget_failures();
}

/* ---- opening ---- */

#define MADE_BY(path_)		 .path = path_
#define OPENED_BY(path_, flags_) .path = value >= 0 ? io_opened_path(path_, flags_) : path_

IO_OPEN_CALL(open, (const char *path, int flags, mode_t mode), (path, flags, mode),
	     OPENED_BY(path, flags))
IO_OPEN_CALL(open64, (const char *path, int flags, mode_t mode), (path, flags, mode),
	     OPENED_BY(path, flags))
IO_OPEN_CALL(__open_2, (const char *path, int flags), (path, flags), OPENED_BY(path, flags))
IO_OPEN_CALL(__open64_2, (const char *path, int flags), (path, flags), OPENED_BY(path, flags))
IO_OPEN_CALL(openat, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode),
	     OPENED_BY(path, flags))
IO_OPEN_CALL(openat64, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode),
	     OPENED_BY(path, flags))
IO_OPEN_CALL(__openat_2, (int at, const char *path, int flags), (at, path, flags),
	     OPENED_BY(path, flags))
IO_OPEN_CALL(__openat64_2, (int at, const char *path, int flags), (at, path, flags),
	     OPENED_BY(path, flags))
IO_OPEN_CALL(creat, (const char *path, mode_t mode), (path, mode), MADE_BY(path))
IO_OPEN_CALL(creat64, (const char *path, mode_t mode), (path, mode), MADE_BY(path))
IO_OPEN_CALL(mkstemp, (char *path), (path), MADE_BY(path))
IO_OPEN_CALL(mkstemp64, (char *path), (path), MADE_BY(path))
IO_OPEN_CALL(mkostemp, (char *path, int flags), (path, flags), MADE_BY(path))
IO_OPEN_CALL(mkostemp64, (char *path, int flags), (path, flags), MADE_BY(path))
IO_OPEN_CALL(mkstemps, (char *path, int suffix), (path, suffix), MADE_BY(path))
IO_OPEN_CALL(mkstemps64, (char *path, int suffix), (path, suffix), MADE_BY(path))
IO_OPEN_CALL(mkostemps, (char *path, int suffix, int flags), (path, suffix, flags), MADE_BY(path))
IO_OPEN_CALL(mkostemps64, (char *path, int suffix, int flags), (path, suffix, flags), MADE_BY(path))
IO_OPEN_CALL(memfd_create, (const char *name, unsigned flags), (name, flags))
IO_OPEN_CALL(shm_open, (const char *name, int flags, mode_t mode), (name, flags, mode))
IO_OPEN_CALL(posix_openpt, (int flags), (flags))
IO_OPEN_CALL(dup, (int fd), (fd), IO_AT(fd))

/* Two descriptors in one call: an event for each. */
#define IO_PAIR_CALL(name, parameters, arguments)                                                  \
	IO_FUNCTION(int, name, parameters)                                                         \
	{                                                                                          \
		uint64_t begin_ns = io_begin();                                                    \
		int value = IO_NEXT(int, name, parameters) arguments;                              \
                                                                                                   \
		if (!begin_ns)                                                                     \
			return value;                                                              \
		io_end(begin_ns, io_##name.next,                                                   \
		       &(struct io_event){.type = IO_OPEN,                                         \
					  .failed = value < 0,                                     \
					  .fd = value < 0 ? IO_NO_FD : ends[0]});                  \
		if (!value)                                                                        \
			io_end(IO_NO_TIME, io_##name.next,                                         \
			       &(struct io_event){.type = IO_OPEN, .fd = ends[1]});                \
		return value;                                                                      \
	}

IO_PAIR_CALL(pipe, (int ends[2]), (ends))
IO_PAIR_CALL(pipe2, (int ends[2], int flags), (ends, flags))
IO_PAIR_CALL(socketpair, (int family, int type, int protocol, int ends[2]),
	     (family, type, protocol, ends))

/* ---- reading and writing ---- */

IO_FUNCTION(ssize_t, read, (int fd, void *to, size_t size))
{
	uint64_t begin_ns = io_begin();
	ssize_t value = signal_fd_read(io_next(&io_read), fd, to, size);

	if (begin_ns)
		io_end(begin_ns, io_read.next,
		       &(struct io_event){.type = IO_READ,
					  .failed = value < 0,
					  .fd = fd,
					  .bytes = (uint64_t)value});
	return value;
}

IO_READ_CALL(__read_chk, (int fd, void *to, size_t size, size_t room), (fd, to, size, room))
IO_READ_CALL(pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), IO_AT(at))
IO_READ_CALL(pread64, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), IO_AT(at))
IO_READ_CALL(__pread_chk, (int fd, void *to, size_t size, off_t at, size_t room),
	     (fd, to, size, at, room), IO_AT(at))
IO_READ_CALL(__pread64_chk, (int fd, void *to, size_t size, off_t at, size_t room),
	     (fd, to, size, at, room), IO_AT(at))
IO_READ_CALL(readv, (int fd, const struct iovec *to, int count), (fd, to, count))
IO_READ_CALL(preadv, (int fd, const struct iovec *to, int count, off_t at), (fd, to, count, at),
	     IO_AT(at))
IO_READ_CALL(preadv64, (int fd, const struct iovec *to, int count, off_t at), (fd, to, count, at),
	     IO_AT(at))
IO_READ_CALL(preadv2, (int fd, const struct iovec *to, int count, off_t at, int flags),
	     (fd, to, count, at, flags), .has_offset = at >= 0, .offset = (uint64_t)at)
IO_READ_CALL(preadv64v2, (int fd, const struct iovec *to, int count, off_t at, int flags),
	     (fd, to, count, at, flags), .has_offset = at >= 0, .offset = (uint64_t)at)

IO_WRITE_CALL(write, (int fd, const void *from, size_t size), (fd, from, size))
IO_WRITE_CALL(pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at),
	      IO_AT(at))
IO_WRITE_CALL(pwrite64, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at),
	      IO_AT(at))
IO_WRITE_CALL(writev, (int fd, const struct iovec *from, int count), (fd, from, count))
IO_WRITE_CALL(pwritev, (int fd, const struct iovec *from, int count, off_t at),
	      (fd, from, count, at), IO_AT(at))
IO_WRITE_CALL(pwritev64, (int fd, const struct iovec *from, int count, off_t at),
	      (fd, from, count, at), IO_AT(at))
IO_WRITE_CALL(pwritev2, (int fd, const struct iovec *from, int count, off_t at, int flags),
	      (fd, from, count, at, flags), .has_offset = at >= 0, .offset = (uint64_t)at)
IO_WRITE_CALL(pwritev64v2, (int fd, const struct iovec *from, int count, off_t at, int flags),
	      (fd, from, count, at, flags), .has_offset = at >= 0, .offset = (uint64_t)at)
IO_WRITE_CALL(vmsplice, (int fd, const struct iovec *from, size_t count, unsigned flags),
	      (fd, from, count, flags))

/* From one descriptor to another: a write there, which has the time, and a read here. */
#define IO_COPY_CALL(name, parameters, arguments)                                                  \
	IO_FUNCTION(ssize_t, name, parameters)                                                     \
	{                                                                                          \
		uint64_t begin_ns = io_begin();                                                    \
		ssize_t value = IO_NEXT(ssize_t, name, parameters) arguments;                      \
                                                                                                   \
		if (!begin_ns)                                                                     \
			return value;                                                              \
		io_end(begin_ns, io_##name.next,                                                   \
		       &(struct io_event){.type = IO_WRITE,                                        \
					  .failed = value < 0,                                     \
					  .fd = to,                                                \
					  .bytes = (uint64_t)value});                              \
		if (value >= 0)                                                                    \
			io_end(IO_NO_TIME, io_##name.next,                                         \
			       &(struct io_event){                                                 \
				       .type = IO_READ, .fd = from, .bytes = (uint64_t)value});    \
		return value;                                                                      \
	}

IO_COPY_CALL(sendfile, (int to, int from, off_t *at, size_t size), (to, from, at, size))
IO_COPY_CALL(sendfile64, (int to, int from, off_t *at, size_t size), (to, from, at, size))
IO_COPY_CALL(copy_file_range,
	     (int from, off_t *from_at, int to, off_t *to_at, size_t size, unsigned flags),
	     (from, from_at, to, to_at, size, flags))
IO_COPY_CALL(splice, (int from, off_t *from_at, int to, off_t *to_at, size_t size, unsigned flags),
	     (from, from_at, to, to_at, size, flags))
IO_COPY_CALL(tee, (int from, int to, size_t size, unsigned flags), (from, to, size, flags))

/* ---- all else ---- */

IO_CALL(off_t, lseek, (int fd, off_t to, int from), (fd, to, from), value < 0, .type = IO_OTHER,
	.fd = fd, IO_AT(value))
IO_CALL(off_t, lseek64, (int fd, off_t to, int from), (fd, to, from), value < 0, .type = IO_OTHER,
	.fd = fd, IO_AT(value))

static bool makes_descriptor(int command)
{
	return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

#define IO_FCNTL_CALL(name)                                                                        \
	IO_CALL(int, name, (int fd, int command, long argument), (fd, command, argument),          \
		value < 0, .type = makes_descriptor(command) ? IO_OPEN : IO_OTHER,                 \
		.fd = makes_descriptor(command) && value >= 0 ? value : fd,                        \
		.has_offset = makes_descriptor(command), .offset = (uint64_t)fd)
IO_FCNTL_CALL(fcntl)
IO_FCNTL_CALL(fcntl64)

IO_OTHER_CALL(flock, (int fd, int operation), (fd, operation))
IO_OTHER_CALL(lockf, (int fd, int command, off_t size), (fd, command, size))
IO_OTHER_CALL(lockf64, (int fd, int command, off_t size), (fd, command, size))
IO_OTHER_CALL(fsync, (int fd), (fd))
IO_OTHER_CALL(fdatasync, (int fd), (fd))
IO_OTHER_CALL(syncfs, (int fd), (fd))
IO_OTHER_CALL(sync_file_range, (int fd, off_t at, off_t size, unsigned flags),
	      (fd, at, size, flags), IO_AT(at))
IO_OTHER_CALL(ftruncate, (int fd, off_t size), (fd, size), IO_AT(size))
IO_OTHER_CALL(ftruncate64, (int fd, off_t size), (fd, size), IO_AT(size))
IO_OTHER_CALL(fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size), IO_AT(at))
IO_OTHER_CALL(fallocate64, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size),
	      IO_AT(at))
/* They return an errno. */
IO_CALL(int, posix_fallocate, (int fd, off_t at, off_t size), (fd, at, size), false, .error = value,
	.type = IO_OTHER, .fd = fd, IO_AT(at))
IO_CALL(int, posix_fallocate64, (int fd, off_t at, off_t size), (fd, at, size), false,
	.error = value, .type = IO_OTHER, .fd = fd, IO_AT(at))
IO_OTHER_CALL(ioctl, (int fd, unsigned long request, long argument), (fd, request, argument))
IO_OTHER_CALL(futimens, (int fd, const void *times), (fd, times))
IO_OTHER_CALL(fchmod, (int fd, mode_t mode), (fd, mode))
IO_OTHER_CALL(fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
