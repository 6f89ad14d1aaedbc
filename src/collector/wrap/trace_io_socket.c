/* SPDX-License-Identifier: Apache-2.0 */
/* Traced calls on sockets, and waits for descriptors. */
#include "collector/wrap/trace_io.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

IO_OPEN_CALL(socket, (int family, int type, int protocol), (family, type, protocol))
IO_OPEN_CALL(accept, (int fd, void *address, socklen_t *size), (fd, address, size))
IO_OPEN_CALL(accept4, (int fd, void *address, socklen_t *size, int flags),
	     (fd, address, size, flags))
IO_OTHER_CALL(connect, (int fd, const void *to, socklen_t size), (fd, to, size), .renames = true,
	      .address = to, .address_size = size)
IO_OTHER_CALL(bind, (int fd, const void *to, socklen_t size), (fd, to, size), .renames = true)
IO_OTHER_CALL(listen, (int fd, int backlog), (fd, backlog), .renames = true)
IO_OTHER_CALL(shutdown, (int fd, int how), (fd, how))

IO_READ_CALL(recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags))
IO_READ_CALL(__recv_chk, (int fd, void *to, size_t size, size_t room, int flags),
	     (fd, to, size, room, flags))
IO_READ_CALL(recvfrom,
	     (int fd, void *to, size_t size, int flags, void *address, socklen_t *address_size),
	     (fd, to, size, flags, address, address_size))
IO_READ_CALL(__recvfrom_chk,
	     (int fd, void *to, size_t size, size_t room, int flags, void *address,
	      socklen_t *address_size),
	     (fd, to, size, room, flags, address, address_size))
IO_READ_CALL(recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
IO_WRITE_CALL(send, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags))
IO_WRITE_CALL(sendto,
	      (int fd, const void *from, size_t size, int flags, const void *address,
	       socklen_t address_size),
	      (fd, from, size, flags, address, address_size))
IO_WRITE_CALL(sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))

IO_CALL(int, recvmmsg,
	(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
	(fd, messages, count, flags, timeout), value < 0, .type = IO_READ, .fd = fd,
	.bytes = io_bytes_of(messages, value))
IO_CALL(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags),
	(fd, messages, count, flags), value < 0, .type = IO_WRITE, .fd = fd,
	.bytes = io_bytes_of(messages, value))

/* ---- waits: for one descriptor; for several, those of an epoll instance have its own ---- */

#define IO_WAIT_CALL(name, parameters, arguments, fd_)                                             \
	IO_CALL(int, name, parameters, arguments, value < 0, .type = IO_WAIT, .fd = fd_)

static int only_one(const struct pollfd *fds, nfds_t count)
{
	return count == 1 ? fds->fd : IO_NO_FD;
}

IO_WAIT_CALL(poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout),
	     value < 0 ? IO_NO_FD : only_one(fds, count))
IO_WAIT_CALL(__poll_chk, (struct pollfd * fds, nfds_t count, int timeout, size_t room),
	     (fds, count, timeout, room), value < 0 ? IO_NO_FD : only_one(fds, count))
IO_WAIT_CALL(ppoll,
	     (struct pollfd * fds, nfds_t count, const struct timespec *timeout,
	      const sigset_t *mask),
	     (fds, count, timeout, mask), value < 0 ? IO_NO_FD : only_one(fds, count))
IO_WAIT_CALL(__ppoll_chk,
	     (struct pollfd * fds, nfds_t count, const struct timespec *timeout,
	      const sigset_t *mask, size_t room),
	     (fds, count, timeout, mask, room), value < 0 ? IO_NO_FD : only_one(fds, count))
IO_WAIT_CALL(select, (int count, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout),
	     (count, in, out, except, timeout), IO_NO_FD)
IO_WAIT_CALL(pselect,
	     (int count, fd_set *in, fd_set *out, fd_set *except, const struct timespec *timeout,
	      const sigset_t *mask),
	     (count, in, out, except, timeout, mask), IO_NO_FD)
IO_WAIT_CALL(epoll_wait, (int fd, struct epoll_event *events, int count, int timeout),
	     (fd, events, count, timeout), fd)
IO_WAIT_CALL(epoll_pwait,
	     (int fd, struct epoll_event *events, int count, int timeout, const sigset_t *mask),
	     (fd, events, count, timeout, mask), fd)
IO_WAIT_CALL(epoll_pwait2,
	     (int fd, struct epoll_event *events, int count, const struct timespec *timeout,
	      const sigset_t *mask),
	     (fd, events, count, timeout, mask), fd)
IO_OPEN_CALL(epoll_create, (int size), (size))
IO_OPEN_CALL(epoll_create1, (int flags), (flags))
IO_OTHER_CALL(epoll_ctl, (int fd, int operation, int which, struct epoll_event *event),
	      (fd, operation, which, event))
IO_OPEN_CALL(eventfd, (unsigned value_, int flags), (value_, flags))
IO_OPEN_CALL(timerfd_create, (int clock, int flags), (clock, flags))
/* They return whether all 8 bytes were transferred. */
IO_CALL(int, eventfd_read, (int fd, uint64_t *to), (fd, to), value < 0, .type = IO_READ, .fd = fd,
	.bytes = sizeof(*to))
IO_CALL(int, eventfd_write, (int fd, uint64_t value_), (fd, value_), value < 0, .type = IO_WRITE,
	.fd = fd, .bytes = sizeof(value_))
IO_OPEN_CALL(pidfd_open, (pid_t process, unsigned flags), (process, flags))
IO_OPEN_CALL(inotify_init, (void), ())
IO_OPEN_CALL(inotify_init1, (int flags), (flags))
