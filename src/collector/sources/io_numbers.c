/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of I/O that a program makes by number, through syscall(3). */
#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/sources/io.h"

#include <linux/io_uring.h>

/* Where a call has its descriptor and its path, by the argument's place. */
enum { NONE = -1, RESULT = -2 };

struct io_number {
	uint8_t type;
	int8_t fd, path, offset;
};

#define ON(type_, fd_)                                                                             \
	{                                                                                          \
		.type = (type_) + 1, .fd = (fd_), .path = NONE, .offset = NONE                     \
	}
#define ON_PATH(path_)                                                                             \
	{                                                                                          \
		.type = IO_OTHER + 1, .fd = NONE, .path = (path_), .offset = NONE                  \
	}
#define OPENS(path_)                                                                               \
	{                                                                                          \
		.type = IO_OPEN + 1, .fd = RESULT, .path = (path_), .offset = NONE                 \
	}
#define COPIES                                                                                     \
	{                                                                                          \
		.type = IO_OPEN + 1, .fd = RESULT, .path = NONE, .offset = 0                       \
	}
#define AT_PLACE(type_, place_)                                                                    \
	{                                                                                          \
		.type = (type_) + 1, .fd = 0, .path = NONE, .offset = (place_)                     \
	}

/* type is + 1; 0: not a call of I/O. */
static const struct io_number numbers[] = {
	[SYS_read] = ON(IO_READ, 0),
	[SYS_readv] = ON(IO_READ, 0),
	[SYS_pread64] = AT_PLACE(IO_READ, 3),
	[SYS_preadv] = AT_PLACE(IO_READ, 3),
	[SYS_preadv2] = AT_PLACE(IO_READ, 3),
	[SYS_recvfrom] = ON(IO_READ, 0),
	[SYS_recvmmsg] = ON(IO_READ, 0),
	[SYS_recvmsg] = ON(IO_READ, 0),
	[SYS_getdents64] = ON(IO_READ, 0),
	[SYS_write] = ON(IO_WRITE, 0),
	[SYS_writev] = ON(IO_WRITE, 0),
	[SYS_pwrite64] = AT_PLACE(IO_WRITE, 3),
	[SYS_pwritev] = AT_PLACE(IO_WRITE, 3),
	[SYS_pwritev2] = AT_PLACE(IO_WRITE, 3),
	[SYS_vmsplice] = ON(IO_WRITE, 0),
	[SYS_tee] = ON(IO_WRITE, 1),
	[SYS_sendto] = ON(IO_WRITE, 0),
	[SYS_sendmmsg] = ON(IO_WRITE, 0),
	[SYS_sendmsg] = ON(IO_WRITE, 0),
	[SYS_sendfile] = ON(IO_WRITE, 0),
	[SYS_copy_file_range] = ON(IO_WRITE, 2),
	[SYS_splice] = ON(IO_WRITE, 2),
	[SYS_openat] = OPENS(1),
	[SYS_openat2] = OPENS(1),
	[SYS_dup] = COPIES,
	[SYS_dup3] = COPIES,
	[SYS_socket] = OPENS(NONE),
	[SYS_accept] = OPENS(NONE),
	[SYS_accept4] = OPENS(NONE),
	[SYS_memfd_create] = OPENS(NONE),
	[SYS_epoll_create1] = OPENS(NONE),
	[SYS_eventfd2] = OPENS(NONE),
	[SYS_timerfd_create] = OPENS(NONE),
	[SYS_inotify_init1] = OPENS(NONE),
	[SYS_pidfd_open] = OPENS(NONE),
	[SYS_io_uring_setup] = OPENS(NONE),
	[SYS_close] = ON(IO_CLOSE, 0),
	[SYS_lseek] = ON(IO_OTHER, 0),
	[SYS_fcntl] = ON(IO_OTHER, 0),
	[SYS_ioctl] = ON(IO_OTHER, 0),
	[SYS_flock] = ON(IO_OTHER, 0),
	[SYS_fsync] = ON(IO_OTHER, 0),
	[SYS_fdatasync] = ON(IO_OTHER, 0),
	[SYS_ftruncate] = ON(IO_OTHER, 0),
	[SYS_fallocate] = ON(IO_OTHER, 0),
	[SYS_fstat] = ON(IO_OTHER, 0),
	[SYS_connect] = ON(IO_OTHER, 0),
	[SYS_bind] = ON(IO_OTHER, 0),
	[SYS_listen] = ON(IO_OTHER, 0),
	[SYS_shutdown] = ON(IO_OTHER, 0),
	[SYS_newfstatat] = ON_PATH(1),
	[SYS_statx] = ON_PATH(1),
	[SYS_faccessat] = ON_PATH(1),
	[SYS_faccessat2] = ON_PATH(1),
	[SYS_unlinkat] = ON_PATH(1),
	[SYS_renameat2] = ON_PATH(1),
	[SYS_mkdirat] = ON_PATH(1),
	[SYS_readlinkat] = ON_PATH(1),
	[SYS_ppoll] = ON(IO_WAIT, NONE),
	[SYS_pselect6] = ON(IO_WAIT, NONE),
	[SYS_epoll_pwait] = ON(IO_WAIT, 0),
	[SYS_epoll_pwait2] = ON(IO_WAIT, 0),
	[SYS_io_uring_enter] = ON(IO_SUBMIT, 0),
#if defined(SYS_open) /* the calls of before, which newer processors do not have */
	[SYS_open] = OPENS(0),
	[SYS_creat] = OPENS(0),
	[SYS_dup2] = COPIES,
	[SYS_stat] = ON_PATH(0),
	[SYS_lstat] = ON_PATH(0),
	[SYS_access] = ON_PATH(0),
	[SYS_unlink] = ON_PATH(0),
	[SYS_rename] = ON_PATH(0),
	[SYS_renameat] = ON_PATH(1),
	[SYS_mkdir] = ON_PATH(0),
	[SYS_rmdir] = ON_PATH(0),
	[SYS_readlink] = ON_PATH(0),
	[SYS_poll] = ON(IO_WAIT, NONE),
	[SYS_select] = ON(IO_WAIT, NONE),
	[SYS_epoll_wait] = ON(IO_WAIT, 0),
#endif
};

bool io_is_number(long number)
{
	return trace_is_on(TRACE_IO) && number >= 0 &&
	       number < (long)(sizeof(numbers) / sizeof(numbers[0])) && numbers[number].type;
}

enum format_io_type io_ring_type(unsigned least, unsigned flags)
{
	return least && flags & IORING_ENTER_GETEVENTS ? IO_WAIT : IO_SUBMIT;
}

int io_ring_fd(int fd, unsigned flags)
{
	return flags & IORING_ENTER_REGISTERED_RING ? IO_NO_FD : fd;
}

void io_number_under_way(long number, const uint64_t *arguments, unsigned *type, int *fd)
{
	bool known = io_is_number(number);

	*type = known ? numbers[number].type - 1u : IO_OTHER;
	*fd = known && numbers[number].fd >= 0 ? (int)arguments[numbers[number].fd] : IO_NO_FD;
	if (number == SYS_io_uring_enter) {
		*type = io_ring_type((unsigned)arguments[2], (unsigned)arguments[3]);
		*fd = io_ring_fd(*fd, (unsigned)arguments[3]);
	}
	if (number == SYS_accept || number == SYS_accept4) {
		*type = IO_WAIT; /* nothing is open so far */
		*fd = (int)arguments[0];
	}
}

uint64_t io_bytes_of(const struct mmsghdr *messages, long count)
{
	uint64_t bytes = 0;

	for (long i = 0; i < count; i++)
		bytes += messages[i].msg_len;
	return bytes;
}

/* The name of a descriptor that is about to mean something else. */
static uint32_t release(long number, const long *arguments)
{
	if (number == SYS_close)
		return io_release((int)arguments[0]);
#if defined(SYS_dup2)
	if (number == SYS_dup2)
		io_release((int)arguments[1]);
#endif
	if (number == SYS_dup3)
		io_release((int)arguments[1]);
	return 0;
}

/* From one descriptor to another: what was read. */
static void end_copy(long number, const long *arguments, long result)
{
	int from = number == SYS_sendfile ? (int)arguments[1] : (int)arguments[0];

	if (number == SYS_sendfile || number == SYS_copy_file_range || number == SYS_splice ||
	    number == SYS_tee)
		io_end(IO_NO_TIME, (const void *)NEXT(syscall),
		       &(struct io_event){.type = IO_READ, .fd = from, .bytes = (uint64_t)result});
}

static bool has_flags(long number)
{
#if defined(SYS_open)
	if (number == SYS_open)
		return true;
#endif
	return number == SYS_openat;
}

/* The flags come behind the path. */
static const char *path_of(long number, const long *arguments, bool failed)
{
	int at = numbers[number].path;
	const char *path = at >= 0 ? (const char *)arguments[at] : NULL;

	if (!failed && has_flags(number))
		return io_opened_path(path, (int)arguments[at + 1]);
	if (!failed && number == SYS_openat2)
		return io_opened_path(path, (int)*(const uint64_t *)arguments[at + 1]);
	return path;
}

static void end(uint64_t begin_ns, long number, const long *arguments, long result, uint32_t name)
{
	const struct io_number *entry = &numbers[number];
	enum format_io_type type = (enum format_io_type)(entry->type - 1);
	bool failed = result < 0;
	struct io_event event = {
		.type = type,
		.failed = failed,
		.fd = entry->fd == RESULT ? (int)result
		      : entry->fd >= 0	  ? (int)arguments[entry->fd]
					  : IO_NO_FD,
		.name = name,
		.bytes = type == IO_READ || type == IO_WRITE ? (uint64_t)result : 0,
		.path = path_of(number, arguments, failed),
		.has_offset = entry->offset >= 0 && arguments[entry->offset] >= 0,
		.offset = entry->offset >= 0 ? (uint64_t)arguments[entry->offset] : 0,
		.renames = number == SYS_connect || number == SYS_bind || number == SYS_listen,
	};

	if (number == SYS_sendmmsg || number == SYS_recvmmsg)
		event.bytes = io_bytes_of((const struct mmsghdr *)arguments[1], result);
	if (number == SYS_io_uring_enter) {
		event.type = io_ring_type((unsigned)arguments[2], (unsigned)arguments[3]);
		event.fd = io_ring_fd(event.fd, (unsigned)arguments[3]);
		event.requests = failed ? 0 : (uint64_t)result;
	}
	io_end(begin_ns, (const void *)NEXT(syscall), &event);
	if (!failed)
		end_copy(number, arguments, result);
}

long io_by_number(long number, long a, long b, long c, long d, long e, long f)
{
	const long arguments[] = {a, b, c, d, e, f};
	uint32_t name = release(number, arguments);
	uint64_t begin_ns = io_begin();
	long result = NEXT(syscall)(number, a, b, c, d, e, f);

	if (begin_ns)
		end(begin_ns, number, arguments, result, name);
	return result;
}
