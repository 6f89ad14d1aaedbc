/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each question has a socket pair of its own, of which the launcher gets one end: processes and
 * threads that share the socket to the launcher need no lock, and the kernel says of that end
 * who has made it.  Signals wait meanwhile: a handler that jumps away would leave both ends open.
 */
#include "collector/storage/ask.h"

#include "collector/arch/sys.h"
#include "collector/storage/text.h"
#include "format/attach.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
	PATIENCE_MS = 1000,	/* with one answer */
	ALL_PATIENCE_MS = 4000, /* with a launcher that does not answer */
	SEND_TRIES = 8,		/* where others ask as much as it can take */
};

static _Atomic int patience_ms = ALL_PATIENCE_MS;

/* ---- the way to the launcher ---- */

static int connect_by(int fd, const struct sockaddr_un *address)
{
	return (int)sys_call(SYS_connect, fd, address, sizeof(*address), 0);
}

/* By way of a descriptor of the directory: its path may be longer than an address. */
static int connect_in(int fd, int directory)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct text path = TEXT_ON(address.sun_path);

	text_puts(&path, "/proc/self/fd/");
	text_decimal(&path, directory);
	text_puts(&path, "/" BROKER_SOCKET);
	return connect_by(fd, &address);
}

static int connect_at(int fd, const char *directory)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct text path = TEXT_ON(address.sun_path);

	text_puts(&path, directory);
	text_puts(&path, "/" BROKER_SOCKET);
	return path.full ? -ENAMETOOLONG : connect_by(fd, &address);
}

int ask_connect(int place, const char *directory)
{
	int fd = (int)sys_call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, 0);
	int result = fd < 0 ? fd : connect_in(fd, place);

	if (result == -ENOENT && directory) /* here may be no /proc */
		result = connect_at(fd, directory);
	if (!result)
		return fd;
	if (fd >= 0)
		sys_close(fd);
	return result;
}

/* ---- a question and its answer ---- */

/* Whoever asks may be on a small stack: what one half of it needs there is gone in the other. */
#define NOINLINE __attribute__((noinline))

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

static int wait_for(int fd, short events)
{
	struct pollfd look = {.fd = fd, .events = events};
	int left = atomic_load(&patience_ms), most = left < PATIENCE_MS ? left : PATIENCE_MS;
	struct timespec time = {.tv_sec = most / 1000, .tv_nsec = most % 1000 * 1000000L};
	long result;

	do
		result = sys_call6(SYS_ppoll, SYS_ARG(&look), 1, SYS_ARG(&time), 0, 0, 0);
	while (result == -EINTR);
	if (result > 0)
		return 0;
	atomic_store(&patience_ms, left - most);
	return result ? (int)result : -ETIMEDOUT;
}

static NOINLINE int send_question(int fd, const struct broker_request *request, const char *path,
				  int end)
{
	struct iovec parts[] = {{.iov_base = (void *)(uintptr_t)request, sizeof(*request)},
				{.iov_base = (void *)(uintptr_t)path, text_length(path) + 1}};
	union control control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
					  .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS}};
	struct msghdr message = {.msg_iov = parts,
				 .msg_iovlen = 2,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	long result;

	*(int *)(void *)CMSG_DATA(&control.head) = end;
	result = sys_call(SYS_sendmsg, fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL, 0);
	return result < 0 ? (int)result : 0;
}

/* Or a negative errno: a descriptor that did not come must not be taken for the program's 0. */
static int descriptor_in(const struct msghdr *message, const union control *control)
{
	return message->msg_controllen >= CMSG_LEN(sizeof(int)) &&
			       control->head.cmsg_type == SCM_RIGHTS
		       ? *(const int *)(const void *)CMSG_DATA(&control->head)
		       : -EMFILE;
}

static bool wants_descriptor(const struct broker_request *request)
{
	return request->kind == BROKER_OPEN || request->kind == BROKER_OPEN_PROC;
}

static NOINLINE int read_answer(int fd, bool wants, struct broker_answer *answer, void *data,
				size_t size)
{
	struct iovec parts[] = {{.iov_base = answer, sizeof(*answer)}, {.iov_base = data, size}};
	union control control = {0};
	struct msghdr message = {.msg_iov = parts,
				 .msg_iovlen = 2,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	long got = sys_call(SYS_recvmsg, fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, 0);

	if (got < (long)sizeof(*answer))
		return got < 0 ? (int)got : -EPIPE;
	atomic_store(&patience_ms, ALL_PATIENCE_MS);
	if (answer->size > (size_t)got - sizeof(*answer))
		answer->size = (uint32_t)((size_t)got - sizeof(*answer));
	if (answer->result < 0 || !wants)
		return answer->result;
	return descriptor_in(&message, &control);
}

int ask_launcher(int socket, const struct broker_request *request, const char *path,
		 struct broker_answer *answer, void *data, size_t size)
{
	int pair[2];
	uint64_t mask = sys_block_signals_but(FORMAT_SIGNAL_BIT(SIGBUS));
	int result = (int)sys_call(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);

	if (result) {
		sys_restore_signals(mask);
		return result;
	}
	result = send_question(socket, request, path, pair[1]);
	for (int i = 0; i < SEND_TRIES && result == -EAGAIN; i++) {
		result = wait_for(socket, POLLOUT);
		if (!result)
			result = send_question(socket, request, path, pair[1]);
	}
	sys_close(pair[1]);
	if (!result)
		result = wait_for(pair[0], POLLIN);
	if (!result)
		result = read_answer(pair[0], wants_descriptor(request), answer, data, size);
	sys_close(pair[0]);
	sys_restore_signals(mask);
	return result;
}
