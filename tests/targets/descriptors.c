/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that treats its descriptor table as its own: closes all of it in every way there is,
 * puts descriptors at every number, and fills it up.  Prints what each call said, then works
 * for a while in after(), in a thread's in_thread() and in a child's in_child().
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

enum { NUMBERS = 4096, WORK_MS = 80, WAVE = 12, WAVE_MS = 25 };

static volatile uint64_t sink;
static double cpu_of_thread, cpu_before_main;

static inline __attribute__((always_inline)) void work_for(double ms)
{
	double end = cpu_now() + ms / 1e3;

	while (cpu_now() < end)
		sink += churn(sink | 1, 10000);
}

static inline __attribute__((always_inline)) void work(void)
{
	work_for(WORK_MS);
}

/* Something after the work in each, so that no two are one function to the compiler. */
static NOINLINE void after(void)
{
	work();
	sink += 1;
}

static NOINLINE void in_child(void)
{
	work();
	sink += 2;
}

static NOINLINE void *in_thread(void *unused)
{
	(void)unused;
	work();
	cpu_of_thread = cpu_now();
	return NULL;
}

static int lowest(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

static void said(const char *what, long result)
{
	printf("%s %ld %s, lowest %d\n", what, result, result < 0 ? strerrorname_np(errno) : "-",
	       lowest());
}

/* Opens some, so that there is something to close. */
static void open_some(void)
{
	for (int i = 0; i < 5; i++)
		if (dup(1) < 0)
			exit(2);
	fcntl(1, F_DUPFD, 60);
}

static void close_each(void)
{
	int closed = 0, bad = 0;

	for (int fd = 3; fd < NUMBERS; fd++) {
		if (!close(fd))
			closed++;
		else
			bad += errno == EBADF;
	}
	printf("close %d, EBADF %d\n", closed, bad);
	closed = bad = 0;
	for (int fd = 3; fd < NUMBERS; fd++) {
		if (!syscall(SYS_close, fd))
			closed++;
		else
			bad += errno == EBADF;
	}
	printf("close by number %d, EBADF %d\n", closed, bad);
}

static void close_ranges(void)
{
	open_some();
	said("close_range", close_range(3, ~0u, 0));
	open_some();
	said("close_range by number", syscall(SYS_close_range, 3, ~0u, 0));
	open_some();
	closefrom(3);
	said("closefrom", 0);
	said("close_range CLOEXEC", close_range(3, ~0u, CLOSE_RANGE_CLOEXEC));
	said("close_range UNSHARE", close_range(3, ~0u, CLOSE_RANGE_UNSHARE));
	said("close_range of nothing", close_range(9, 8, 0));
	said("close_range with an unknown flag", close_range(3, ~0u, 1 << 20));
}

/* A descriptor at every number, each of which must be what was put there. */
static void put_everywhere(const char *what, int by)
{
	int pipe_fds[2], put = 0, right = 0, refused = 0;
	char c;

	if (pipe2(pipe_fds, O_NONBLOCK))
		exit(2);
	for (int fd = 5; fd < NUMBERS; fd++) {
		int result = by == 2   ? dup2(pipe_fds[1], fd)
			     : by == 3 ? dup3(pipe_fds[1], fd, O_CLOEXEC)
				       : (int)syscall(SYS_dup2, pipe_fds[1], fd);

		refused += result < 0 && errno == EBADF;
		put += result == fd;
		if (result == fd && write(fd, "x", 1) == 1)
			right += read(pipe_fds[0], &c, 1) == 1;
	}
	printf("%s %d, right %d, EBADF %d, bad source %d\n", what, put, right, refused,
	       dup2(NUMBERS * 2, 3) < 0 ? errno : 0);
	for (int fd = 3; fd < NUMBERS; fd++)
		close(fd);
}

static void fill_up(void)
{
	int last = 0, count = 0, fd;

	while ((fd = open("/dev/null", O_RDONLY)) >= 0) {
		last = fd;
		count++;
	}
	printf("filled %d up to %d, then %s\n", count, last, strerrorname_np(errno));
}

static void fill(void)
{
	fill_up();
	work();
	closefrom(3);
}

static NOINLINE void *while_full(void *unused)
{
	(void)unused;
	work_for(WAVE_MS);
	sink += 3;
	return NULL;
}

static NOINLINE void *afterwards(void *unused)
{
	(void)unused;
	work_for(WAVE_MS);
	sink += 4;
	return NULL;
}

static void wave(void *(*run)(void *))
{
	pthread_t threads[WAVE];

	for (int i = 0; i < WAVE; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < WAVE; i++)
		pthread_join(threads[i], NULL);
}

/* So many threads at once that their records need more room, which a full table denies; then not.
 */
static int full(void)
{
	fill_up();
	wave(while_full);
	closefrom(3);
	wave(afterwards);
	return 5;
}

static void limit_to(rlim_t most)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = most;
	said("setrlimit", setrlimit(RLIMIT_NOFILE, &limit));
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	pthread_t thread;

	cpu_before_main = cpu_now(); /* with that of the programs that executed this one */
	setvbuf(stdout, NULL, _IOLBF, 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	printf("limit %lu %lu\n", (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
	if (argc > 1 && !strcmp(argv[1], "full"))
		return full();
	if (limit.rlim_cur <= NUMBERS) /* a larger table has room for everyone's */
		fill();
	close_each();
	close_ranges();
	put_everywhere("dup2", 2);
	put_everywhere("dup3", 3);
	put_everywhere("dup2 by number", 0);
	after();
	if (argc > 1)
		limit_to((rlim_t)atol(argv[1]));
	fill();
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	pid_t child = fork();
	if (!child) {
		in_child();
		_exit(7);
	}
	int status;
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	printf("lowest %d\n", lowest());
	printf("cpu %.6f\n", cpu_now() - cpu_before_main + cpu_of_thread);
	return 5;
}
