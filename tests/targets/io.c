/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes that are known by construction, in the directory where it runs.  The
 * argument says what is to be done; what cannot be known before is printed.
 */
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <locale.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <wchar.h>

static char block[1 << 16];

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Of "data": 20 writes of 14,600 bytes, 13 reads of 6,100; 3 of each name a place. */
static void rw_data(int fd)
{
	const struct iovec pieces[] = {{block, 100}, {block, 200}};

	for (int i = 0; i < 10; i++)
		need(write(fd, block, 1000) == 1000, "write");
	for (int i = 0; i < 3; i++)
		need(pwrite(fd, block, 700, 5000) == 700, "pwrite");
	for (int i = 0; i < 5; i++)
		need(writev(fd, pieces, 2) == 300, "writev");
	for (int i = 0; i < 2; i++)
		need(dprintf(fd, "%0500.1f", 1.5) == 500, "dprintf");
	need(lseek(fd, 0, SEEK_SET) == 0, "lseek");
	for (int i = 0; i < 8; i++)
		need(read(fd, block, 500) == 500, "read");
	for (int i = 0; i < 3; i++)
		need(pread(fd, block, 600, 123456 % 1000) == 600, "pread");
	need(readv(fd, pieces, 2) == 300, "readv");
	need(lseek(fd, 0, SEEK_END) > 0, "lseek");
	need(read(fd, block, 500) == 0, "read at the end");
	need(fsync(fd) == 0 && ftruncate(fd, 2000) == 0, "fsync, ftruncate");
}

/* Of "absent" 10 errors; of no descriptor 2. */
static void fail(void)
{
	for (int i = 0; i < 7; i++)
		need(open("absent", O_RDONLY) < 0 && errno == ENOENT, "open absent");
	for (int i = 0; i < 2; i++)
		need(access("absent", R_OK) < 0 && errno == ENOENT, "access absent");
	need(unlink("absent") < 0 && errno == ENOENT, "unlink absent");
	need(read(-1, block, 1) < 0 && errno == EBADF, "read -1");
	need(close(900) < 0 && errno == EBADF, "close 900");
}

/*
 * A descriptor's number is given out again, duplicated, and closed with others: 36 bytes to "one",
 * 21 to "two", 31 to "three".
 */
static void reuse(void)
{
	int fd = open("one", O_CREAT | O_WRONLY | O_TRUNC, 0644);
	int copy = dup(fd);

	need(write(fd, block, 11) == 11 && write(copy, block, 12) == 12, "write one");
	close(fd);
	int other = open("two", O_CREAT | O_WRONLY | O_TRUNC, 0644);
	need(other == fd, "the number again");
	need(write(other, block, 21) == 21, "write two");
	need(dup2(copy, other) == other && write(other, block, 13) == 13, "write one by dup2");
	need(close_range((unsigned)fd, (unsigned)copy, 0) == 0, "close_range");
	other = open("three", O_CREAT | O_WRONLY | O_TRUNC, 0644);
	need(other == fd && write(other, block, 31) == 31, "write three");
	close(other);
}

/* Of "five" 51 bytes are written and 10 read, by number. */
static void by_number(void)
{
	long fd = syscall(SYS_openat, AT_FDCWD, "five", O_CREAT | O_RDWR | O_TRUNC, 0644);

	need(syscall(SYS_write, fd, block, 51) == 51, "write by number");
	need(syscall(SYS_pread64, fd, block, 10, 3) == 10, "pread by number");
	need(syscall(SYS_close, fd) == 0, "close by number");
	need(syscall(SYS_read, -1, block, 1) < 0 && errno == EBADF, "read -1 by number");
}

static void files(void)
{
	int fd = open("data", O_CREAT | O_RDWR | O_TRUNC, 0644);
	char path[4200];
	struct stat status;

	rw_data(fd);
	fail();
	reuse();
	by_number();
	need(fstat(fd, &status) == 0 && stat("data", &status) == 0, "stat");
	close(fd);
	need(getcwd(path, 4000) != NULL, "getcwd");
	strcat(path, "/copy");
	int from = open("data", O_RDONLY), to = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
	need(sendfile(to, from, NULL, 1500) == 1500, "sendfile");
	need(copy_file_range(from, NULL, to, NULL, 500, 0) == 500, "copy_file_range");
	need(rename("one", "four") == 0 && unlink("four") == 0, "rename, unlink");
	need(mkdir("folder", 0755) == 0 && rmdir("folder") == 0, "mkdir, rmdir");
}

/*
 * Of "stream": 206 writes of 20,515 bytes, 105 reads of 20,013
 * (one of 1 byte by fscanf).
 */
static void streams(void)
{
	static const char line[] = "a line\n\n";
	FILE *file = fopen("stream", "w+");
	char *room = NULL, small[16];
	size_t size = 0, memory_size = 0;
	FILE *memory = open_memstream(&room, &memory_size);

	for (int i = 0; i < 200; i++)
		need(fwrite(block, 10, 10, file) == 10, "fwrite");
	need(fputs("abcd\n", file) >= 0, "fputs");
	need(fprintf(file, "%0500.2f", 2.5) == 500, "fprintf");
	need(putc('x', file) == 'x' && fputc('y', file) == 'y' && fputc('z', file) == 'z', "putc");
	need(fprintf(memory, "not I/O") == 7 && fclose(memory) == 0, "memory stream");
	free(room);
	rewind(file);
	for (int i = 0; i < 100; i++)
		need(fread(block, 50, 4, file) == 4, "fread");
	need(fgetc(file) == 'a', "fgetc");
	need(fgets(small, sizeof(small), file) && !strcmp(small, "bcd\n"), "fgets");
	fseek(file, 0, SEEK_END);
	need(fread(block, 1, 1, file) == 0 && feof(file), "end");
	rewind(file);
	room = NULL;
	need(ftruncate(fileno(file), 0) == 0 && fwrite(line, 1, 7, file) == 7, "line");
	rewind(file);
	need(getline(&room, &size, file) == 7, "getline");
	free(room);
	rewind(file);
	need(fscanf(file, " %c", small) == 1 && small[0] == 'a', "fscanf");
	need(fclose(file) == 0, "fclose");
	need(!fopen("absent", "r"), "fopen");
}

/* ---- sockets ---- */

enum { MESSAGES = 200, MESSAGE = 321 };

/*
 * Of "wide": 7 writes and 6 reads in UTF-8, with é of 2 bytes and € of 3; printed is how large the
 * file becomes.  27 bytes are read, and those of fwscanf, which are not counted.
 */
static void wide(void)
{
	static const wchar_t text[] = L"d\u00e9j\u00e0 \u20ac\n"; /* 11 bytes */
	FILE *file = fopen("wide", "w+");
	wchar_t room[16];
	int number;

	need(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "setlocale");
	need(fputws(text, file) >= 0 && fputws(text, file) >= 0, "fputws");
	need(fputwc(L'\u20ac', file) == L'\u20ac' && putwc(L'x', file) == L'x', "fputwc");
	need(putwc_unlocked(L'\n', file) == L'\n', "putwc_unlocked");
	need(fwprintf(file, L"%d %ls\n", 42, L"end") == 7, "fwprintf");
	need(fwprintf(file, L"%05d", 1) == 5, "fwprintf");
	fflush(file);
	rewind(file);
	need(fgetws(room, 16, file) && !wcscmp(room, text), "fgetws");
	need(fgetws(room, 16, file) && !wcscmp(room, text), "fgetws");
	need(fgetwc(file) == L'\u20ac' && getwc(file) == L'x', "fgetwc");
	need(fgetwc_unlocked(file) == L'\n', "fgetwc_unlocked");
	need(fwscanf(file, L"%d", &number) == 1 && number == 42, "fwscanf");
	fseek(file, 0, SEEK_END);
	printf("size %ld\n", ftell(file));
	need(fclose(file) == 0, "fclose");
}

static void *receive_all(void *argument)
{
	int fd = *(int *)argument;
	long got, all = 0;

	while (all < MESSAGES * MESSAGE && (got = recv(fd, block, sizeof(block), 0)) > 0)
		all += got;
	need(all == MESSAGES * MESSAGE, "recv");
	return NULL;
}

static void send_all(int fd)
{
	char message[MESSAGE] = "";

	for (int i = 0; i < MESSAGES; i++)
		need(send(fd, message, MESSAGE, 0) == MESSAGE, "send");
}

static void exchange(int from, int to)
{
	pthread_t thread;

	pthread_create(&thread, NULL, receive_all, &to);
	send_all(from);
	pthread_join(thread, NULL);
	close(from);
	close(to);
}

static void tcp(int family)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address = {.any.sa_family = (sa_family_t)family}, own = {0};
	socklen_t size = sizeof(address), own_size = sizeof(own);
	int listener = socket(family, SOCK_STREAM, 0), to = socket(family, SOCK_STREAM, 0);

	if (family == AF_INET)
		address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		address.v6.sin6_addr = in6addr_loopback;
	if (bind(listener, &address.any, sizeof(address))) {
		printf("no_%d 1\n", family);
		return;
	}
	need(listen(listener, 1) == 0, "listen");
	getsockname(listener, &address.any, &size);
	printf("port%d %d\n", family == AF_INET ? 4 : 6, ntohs(address.v4.sin_port));
	need(connect(to, &address.any, size) == 0, "connect");
	getsockname(to, &own.any, &own_size);
	printf("own%d %d\n", family == AF_INET ? 4 : 6, ntohs(own.v4.sin_port));
	exchange(to, accept(listener, NULL, NULL));
	close(listener);
}

static void sockets(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "absent.socket"};
	int pair[2], fd = socket(AF_UNIX, SOCK_STREAM, 0);

	need(connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0, "connect absent");
	close(fd);
	need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
	exchange(pair[0], pair[1]);
	tcp(AF_INET);
	tcp(AF_INET6);
}

/* ---- waits ---- */

static _Atomic int asked;

static void *answer(void *argument)
{
	const struct timespec nap = {.tv_nsec = 50 * 1000 * 1000};

	for (int i = 0; i < 4; i++) {
		while (atomic_load(&asked) <= i)
			sched_yield();
		nanosleep(&nap, NULL);
		need(write(*(int *)argument, "x", 1) == 1, "answer");
	}
	return NULL;
}

static void waits(void)
{
	struct pollfd fds = {.events = POLLIN};
	struct epoll_event event;
	int ends[2], set = epoll_create1(0);
	pthread_t thread;
	double in_reads = 0, begin;

	need(pipe(ends) == 0, "pipe");
	pthread_create(&thread, NULL, answer, &ends[1]);
	for (int i = 0; i < 4; i++) {
		begin = wall_now();
		atomic_store(&asked, i + 1);
		need(read(ends[0], block, 1) == 1, "read pipe");
		in_reads += wall_now() - begin;
	}
	pthread_join(thread, NULL);
	printf("reads %.6f\n", in_reads);
	fds.fd = ends[0];
	begin = wall_now();
	for (int i = 0; i < 3; i++)
		need(poll(&fds, 1, 40) == 0, "poll");
	need(epoll_wait(set, &event, 1, 60) == 0, "epoll_wait");
	printf("waits %.6f\n", wall_now() - begin);
}

/* ---- what interrupts ---- */

static sigjmp_buf back;
static volatile long jumps, handled;
static int null;
static volatile uint64_t sink;

static void jump(int signal)
{
	jumps++;
	siglongjmp(back, 1);
}

static void write_one(int signal)
{
	int error = errno;

	handled += write(null, block, 1) == 1;
	errno = error;
}

static void set_timer(long us, int once, void (*handler)(int))
{
	const struct itimerval timer = {.it_interval.tv_usec = once ? 0 : us,
					.it_value.tv_usec = us};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Writes that a handler leaves by a jump, wherever it finds them. */
static void jump_out(void)
{
	static volatile long done;
	double end = wall_now() + 0.4;

	if (!sigsetjmp(back, 1))
		set_timer(300, 0, jump);
	while (wall_now() < end) {
		done += write(null, block, 2) == 2;
		sink += churn(sink | 1, 1500);
	}
	set_timer(0, 0, SIG_IGN);
	printf("done %ld\njumps %ld\n", done, jumps);
}

static void write_in_handler(void)
{
	long done = 0;
	double end = wall_now() + 0.4;

	set_timer(300, 0, write_one);
	while (wall_now() < end) {
		done += write(null, block, 2) == 2;
		sink += churn(sink | 1, 1500);
	}
	set_timer(0, 0, SIG_IGN);
	printf("done %ld\nhandled %ld\n", done, handled);
}

static void at_end(void *argument)
{
	need(write(null, block, 5) == 5, "write at the end");
}

static void *read_forever(void *argument)
{
	pthread_cleanup_push(at_end, NULL);
	for (;;)
		need(read(*(int *)argument, block, 1) == 1, "read");
	pthread_cleanup_pop(0);
	return NULL;
}

/* 50 threads that are cancelled in a read, each with a write of 5 bytes at its end. */
static void cancel(void)
{
	for (int i = 0; i < 50; i++) {
		pthread_t thread;
		int ends[2];

		need(pipe(ends) == 0, "pipe");
		pthread_create(&thread, NULL, read_forever, &ends[0]);
		need(write(ends[1], block, 1) == 1, "write pipe");
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		close(ends[0]);
		close(ends[1]);
	}
}

static void leave(int signal)
{
	_exit(7);
}

static volatile pid_t forked = -1;

static void fork_here(int signal)
{
	forked = fork();
}

static void expect(pid_t child, int code)
{
	int status;

	need(waitpid(child, &status, 0) == child, "waitpid");
	if (status != code << 8) {
		fprintf(stderr, "status %d, not %d\n", status, code << 8);
		_exit(1);
	}
}

/* Writes until a handler ends the process, or forks: both sides go on where they were. */
static void write_until(void (*handler)(int))
{
	set_timer(300 + rand() % 700, 1, handler);
	while (forked < 0)
		need(write(null, block, 3) == 3, "write");
	set_timer(0, 0, SIG_IGN);
	for (int i = 0; i < 10; i++)
		need(write(null, block, 4) == 4, "write after the fork");
	if (!forked)
		_exit(8);
	expect(forked, 8);
}

/* 20 processes that end in a handler and 20 that fork in one, wherever it finds them. */
static void ends(void)
{
	null = open("/dev/null", O_WRONLY);
	for (int i = 0; i < 40; i++) {
		pid_t child;

		srand((unsigned)i);
		child = fork();
		if (!child) {
			write_until(i % 2 ? leave : fork_here);
			_exit(9);
		}
		expect(child, i % 2 ? 7 : 9);
	}
}

static void interrupts(void)
{
	null = open("/dev/null", O_WRONLY);
	jump_out();
	write_in_handler();
	cancel();
}

/* ---- other processes ---- */

static void family(void)
{
	int fd = open("shared", O_CREAT | O_RDWR | O_TRUNC, 0644), status;
	char *const cat[] = {"cat", "/etc/hostname", NULL};
	pid_t child = fork();

	if (!child) {
		need(write(fd, block, 101) == 101, "write in the child");
		exit(0);
	}
	waitpid(child, &status, 0);
	child = vfork();
	if (!child) {
		dup2(fd, 1);
		close(fd);
		execv("/bin/cat", cat);
		_exit(1);
	}
	waitpid(child, &status, 0);
	need(write(fd, block, 102) == 102, "write after both");
	close(fd);
}

/* Threads that come and go, each with 3 writes of 7 bytes to /dev/null. */
static void *write_three(void *argument)
{
	for (int i = 0; i < 3; i++)
		need(write(null, block, 7) == 7, "write");
	return NULL;
}

static void threads(void)
{
	pthread_t ids[20];

	null = open("/dev/null", O_WRONLY);
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 20; i++)
			pthread_create(&ids[i], NULL, write_three, NULL);
		for (int i = 0; i < 20; i++)
			pthread_join(ids[i], NULL);
	}
}

/* ---- calls that the C library has no function for ---- */

enum { SUBMISSIONS = 7, AT_ONCE = 5 };

/* Each call of io_uring_enter submits five requests to do nothing. */
static void unnamed(void)
{
	struct open_how how = {.flags = O_RDWR | O_CREAT, .mode = 0644};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, "by_openat2", &how, sizeof(how));
	struct io_uring_params params = {0};
	int ring = (int)syscall(SYS_io_uring_setup, 8, &params);

	need(fd >= 0 && write(fd, "by number", 9) == 9, "openat2");
	printf("ring %d\n", ring >= 0);
	if (ring < 0)
		return;
	char *queue = mmap(NULL, params.sq_off.array + params.sq_entries * sizeof(uint32_t),
			   PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	struct io_uring_sqe *entries =
		mmap(NULL, params.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED,
		     ring, IORING_OFF_SQES);
	need(queue != MAP_FAILED && entries != MAP_FAILED, "mmap of a ring");
	_Atomic uint32_t *tail = (void *)(queue + params.sq_off.tail);

	for (int i = 0; i < SUBMISSIONS; i++) {
		for (uint32_t n = 0; n < AT_ONCE; n++) {
			uint32_t at = (*tail + n) & (params.sq_entries - 1);

			entries[at] = (struct io_uring_sqe){.opcode = IORING_OP_NOP};
			((uint32_t *)(void *)(queue + params.sq_off.array))[at] = at;
		}
		atomic_fetch_add(tail, AT_ONCE);
		need(syscall(SYS_io_uring_enter, ring, AT_ONCE, 0, 0, NULL, 0) == AT_ONCE,
		     "io_uring_enter");
	}
	close(ring);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {{"files", files},	  {"streams", streams}, {"sockets", sockets},
		     {"wide", wide},	  {"waits", waits},	{"interrupts", interrupts},
		     {"family", family},  {"ends", ends},	{"unnamed", unnamed},
		     {"threads", threads}};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (argc > 1 && !strcmp(argv[1], parts[i].name)) {
			parts[i].run();
			fflush(stdout);
			return 0;
		}
	}
	return 2;
}
