/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call or a few of each function that does I/O, with bytes that are known by construction, in
 * the directory where it runs.  Compiled a second time with _FORTIFY_SOURCE, whose functions have
 * other names.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

static char block[4096];
static volatile size_t unknown = 0; /* what the compiler must not know: sizes are checked */

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Three messages of 10, 20 and 30 bytes at once, one of two parts with 7 bytes, two of 40 and 50.
 */
static void messages(void)
{
	struct iovec parts[] = {{block, 10}, {block, 20}, {block, 30}};
	struct iovec rooms[] = {{block, 100}, {block + 100, 100}, {block + 200, 100}};
	struct mmsghdr out[3], in[3];
	int pair[2];

	need(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0, "socketpair");
	for (int i = 0; i < 3; i++) {
		out[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &parts[i], .msg_iovlen = 1}};
		in[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &rooms[i], .msg_iovlen = 1}};
	}
	need(sendmmsg(pair[0], out, 3, 0) == 3, "sendmmsg");
	need(recvmmsg(pair[1], in, 3, MSG_DONTWAIT, NULL) == 3, "recvmmsg");
	need(recvmmsg(pair[1], in, 3, MSG_DONTWAIT, NULL) < 0 && errno == EAGAIN, "recvmmsg");
	parts[0].iov_len = 3;
	parts[1].iov_len = 4;
	struct msghdr two = {.msg_iov = parts, .msg_iovlen = 2};
	struct msghdr room = {.msg_iov = rooms, .msg_iovlen = 3};

	need(sendmsg(pair[0], &two, 0) == 7, "sendmsg");
	need(recvmsg(pair[1], &room, 0) == 7, "recvmsg");
	need(sendto(pair[0], block, 40, 0, NULL, 0) == 40, "sendto");
	need(recvfrom(pair[1], block, sizeof(block) - unknown, 0, NULL, NULL) == 40, "recvfrom");
	need(send(pair[0], block, 50, 0) == 50, "send");
	need(recv(pair[1], block, sizeof(block) - unknown, 0) == 50, "recv");
}

/* 11 bytes through a connection that accept4 made. */
static void connection(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "listener"};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), to = socket(AF_UNIX, SOCK_STREAM, 0);

	need(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
	need(listen(listener, 1) == 0, "listen");
	need(connect(to, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	int from = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	need(from >= 0 && write(to, block, 11) == 11, "accept4");
	need(read(from, block, sizeof(block) - unknown) == 11, "read");
	need(shutdown(to, SHUT_RDWR) == 0 && read(from, block, 1) == 0, "shutdown");
	close(from);
	close(to);
	close(listener);
}

/*
 * 100 bytes into a pipe by vmsplice, 60 of them copied into another one by tee, both moved to the
 * file "spliced" by splice, which has 160 bytes then; 50 of them back by sendfile.
 */
static void pipes(void)
{
	const struct iovec part = {block, 100};
	int first[2], second[2], file = open("spliced", O_CREAT | O_RDWR | O_TRUNC, 0644);
	off_t at = 100;

	need(pipe(first) == 0 && pipe2(second, O_CLOEXEC) == 0, "pipe");
	need(vmsplice(first[1], &part, 1, 0) == 100, "vmsplice");
	need(tee(first[0], second[1], 60, 0) == 60, "tee");
	need(splice(first[0], NULL, file, NULL, 100, 0) == 100, "splice");
	need(splice(second[0], NULL, file, &at, 60, 0) == 60, "splice");
	at = 0;
	need(sendfile(first[1], file, &at, 50) == 50, "sendfile");
	need(splice(-1, NULL, file, NULL, 1, 0) < 0 && errno == EBADF, "splice");
}

/* In "places": 30 bytes at 5, 12 at where it stands, both read again; 9 copied from 5 to 100. */
static void places(void)
{
	struct iovec parts[] = {{block, 10}, {block + 10, 20}};
	int file = open("places", O_CREAT | O_RDWR | O_TRUNC, 0644);
	off_t from = 5, to = 100;

	need(pwritev2(file, parts, 2, 5, 0) == 30, "pwritev2");
	need(preadv2(file, parts, 2, 5, 0) == 30, "preadv2");
	parts[0].iov_len = 12;
	need(pwritev2(file, parts, 1, -1, 0) == 12, "pwritev2");
	need(lseek(file, 0, SEEK_SET) == 0 && preadv2(file, parts, 1, -1, 0) == 12, "preadv2");
	need(copy_file_range(file, &from, file, &to, 9, 0) == 9, "copy_file_range");
	need(pwritev(file, parts, 1, 50) == 12 && preadv(file, parts, 1, 50) == 12, "preadv");
	need(pread(file, block, 10 + unknown, 50) == 10, "pread");
	need(preadv2(file, parts, 1, 0, 1 << 30) < 0 && errno == EOPNOTSUPP, "preadv2");
}

/* 8 waits of which 4 find the pipe ready; 1 fails. */
static void polls(void)
{
	struct timespec none = {0}, millisecond = {.tv_nsec = 1000000};
	struct timeval nothing = {0};
	struct epoll_event event = {.events = EPOLLIN};
	int ends[2], set = epoll_create1(EPOLL_CLOEXEC);
	fd_set in;

	need(pipe(ends) == 0 && write(ends[1], block, 1) == 1, "pipe");
	struct pollfd fds[] = {{ends[0], POLLIN, 0}, {ends[1], 0, 0}};

	need(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event) == 0, "epoll_ctl");
	need(ppoll(fds, 1 + unknown, &none, NULL) == 1, "ppoll");
	need(poll(fds, 2 + unknown, 0) == 1, "poll");
	need(epoll_pwait(set, &event, 1, 0, NULL) == 1, "epoll_pwait");
	need(epoll_pwait2(set, &event, 1, &millisecond, NULL) == 1, "epoll_pwait2");
	need(read(ends[0], block, 1 + unknown) == 1, "read");
	need(epoll_wait(set, &event, 1, 1) == 0, "epoll_wait");
	FD_ZERO(&in);
	FD_SET(ends[0], &in);
	need(pselect(ends[0] + 1, &in, NULL, NULL, &none, NULL) == 0, "pselect");
	FD_SET(ends[0], &in);
	need(select(ends[0] + 1, &in, NULL, NULL, &nothing) == 0, "select");
	need(ppoll(fds, 1 + unknown, &millisecond, NULL) == 0, "ppoll");
	need(epoll_wait(ends[0], &event, 1, 0) < 0 && errno == EINVAL, "epoll_wait");
}

static __attribute__((format(printf, 2, 3))) int print_list(FILE *file, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	int value = vfprintf(file, format, list);

	va_end(list);
	return value;
}

/* Of "text": 9 writes of 75 bytes, 7 reads of 70. */
static void text(void)
{
	FILE *file = fopen("text", "w+");
	char room[64];

	need(fprintf(file, "%010d", 1) == 10 && print_list(file, "%05d\n", 2) == 6, "fprintf");
	need(fputs("line\n", file) >= 0 && fputc('x', file) == 'x', "fputs");
	need(fwrite(block, 5, 4, file) == 4 && fwrite(block, 1, 17, file) == 17, "fwrite");
	need(putc('\n', file) == '\n' && fputs("longer line\n", file) >= 0, "putc");
	need(fprintf(file, "%s", "end") == 3 && fflush(file) == 0, "fprintf");
	rewind(file);
	need(fread(room, 1, 10 + unknown, file) == 10, "fread");
	need(fgets(room, (int)(sizeof(room) - unknown), file) && strlen(room) == 6, "fgets");
	need(fgets(room, (int)(sizeof(room) - unknown), file) && strlen(room) == 5, "fgets");
	need(fread(room, 2, 19 + unknown, file) == 19, "fread");
	need(getc(file) == '\n', "getc");
	need(fgets(room, (int)(8 - unknown), file) && strlen(room) == 7, "fgets");
	need(fread_unlocked(room, 1, 3 + unknown, file) == 3, "fread_unlocked");
	need(fclose(file) == 0, "fclose");
}

/* 8 bytes there and back, 4 by an old call; one of each that moves none, one that fails. */
static void others(void)
{
	int counter = eventfd(0, 0), file = open("others", O_CREAT | O_RDWR | O_TRUNC, 0644),
	    waiting;
	eventfd_t value;
	FILE *words = fopen("words", "w+");

	need(eventfd_write(counter, 3) == 0 && eventfd_read(counter, &value) == 0, "eventfd");
	need(posix_fallocate(file, 0, 100) == 0, "posix_fallocate");
	need(posix_fallocate(counter, 0, 100) == ENODEV, "posix_fallocate");
	need(linkat(AT_FDCWD, "others", AT_FDCWD, "linked", 0) == 0, "linkat");
	need(symlinkat("others", AT_FDCWD, "pointer") == 0, "symlinkat");
	need(mkfifo("fifo", 0644) == 0 && futimens(file, NULL) == 0, "mkfifo");
	need(ioctl(file, FIONREAD, &waiting) == 0 && waiting == 100, "ioctl");
	need(putw(77, words) == 0, "putw");
	rewind(words);
	need(getw(words) == 77, "getw");
}

/* 60 bytes in two messages and back, 30 at a place and back, 25 from one pipe into another and on.
 */
static void by_number(void)
{
	struct iovec parts[] = {{block, 20}, {block, 40}};
	struct mmsghdr two[2] = {{.msg_hdr = {.msg_iov = &parts[0], .msg_iovlen = 1}},
				 {.msg_hdr = {.msg_iov = &parts[1], .msg_iovlen = 1}}};
	struct iovec part = {block, 30};
	int file = open("numbers", O_CREAT | O_RDWR | O_TRUNC, 0644), pair[2], first[2], second[2];

	need(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0, "socketpair");
	need(syscall(SYS_sendmmsg, pair[0], two, 2, 0) == 2, "sendmmsg");
	need(syscall(SYS_recvmmsg, pair[1], two, 2, 0, NULL) == 2, "recvmmsg");
	need(syscall(SYS_pwritev2, file, &part, 1, 7L, 0L, 0) == 30, "pwritev2");
	need(syscall(SYS_preadv2, file, &part, 1, 7L, 0L, 0) == 30, "preadv2");
	need(pipe(first) == 0 && pipe(second) == 0, "pipe");
	part.iov_len = 25;
	need(syscall(SYS_vmsplice, first[1], &part, 1, 0) == 25, "vmsplice");
	need(syscall(SYS_tee, first[0], second[1], 25, 0) == 25, "tee");
}

int main(void)
{
	others();
	by_number();
	messages();
	connection();
	pipes();
	places();
	polls();
	text();
	return 0;
}
