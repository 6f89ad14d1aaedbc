/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late WAIT: a program to attach to while it runs.  Two threads work half of the
 * time and sleep in between; the main thread waits for commands on stdin in the call named:
 * poll, epoll, select, read, nanosleep, futex, sigtimedwait, or in none: work, or
 * malloc, where all threads allocate without end.
 *   t  starts one more thread of work       q  ends the program
 *   d  no process of its user may look into it any more
 * It counts what a wait that was disturbed shows: EINTR, and sleeps that were too short.
 */
#include "target.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>

static volatile uint64_t sink;
static _Atomic int ending, interrupted, too_short;
static int epoll_fd;

static void count_interrupted(int result)
{
	if (result < 0 && errno == EINTR)
		interrupted++;
}

static void nap(long ns)
{
	struct timespec time = {.tv_nsec = ns};
	double before = wall_now();

	count_interrupted(nanosleep(&time, NULL));
	too_short += wall_now() - before < ns / 1e9;
}

static NOINLINE void early(void)
{
	sink += churn(sink | 1, 400000);
}

static NOINLINE void later(void)
{
	sink += churn(sink | 1, 400000);
}

/* The locks of the allocator are taken most of the time. */
static NOINLINE void allocate(void)
{
	void *blocks[64];

	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 64; i++)
			blocks[i] = malloc(5000 + 3000 * (size_t)i);
		for (int i = 0; i < 64; i++)
			free(blocks[i]);
	}
}

static void *run(void *work)
{
	while (!ending) {
		((void (*)(void))work)();
		nap(5000000);
	}
	return NULL;
}

static void wait_futex(void)
{
	static int word;
	struct timespec time = {.tv_nsec = 50000000};

	count_interrupted((int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0));
}

static void wait_signal(void)
{
	struct timespec time = {.tv_nsec = 50000000};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	count_interrupted(sigtimedwait(&set, NULL, &time));
}

static int readable(int timeout_ms)
{
	struct pollfd fd = {.fd = 0, .events = POLLIN};

	return poll(&fd, 1, timeout_ms);
}

/* Waits a while in the call, or until there is a command. */
static void wait_in(const char *call)
{
	struct epoll_event event;
	fd_set set;

	if (!strcmp(call, "poll")) {
		count_interrupted(readable(-1));
	} else if (!strcmp(call, "epoll")) {
		count_interrupted(epoll_wait(epoll_fd, &event, 1, -1));
	} else if (!strcmp(call, "select")) {
		FD_ZERO(&set);
		FD_SET(0, &set);
		count_interrupted(select(1, &set, NULL, NULL, NULL));
	} else if (!strcmp(call, "nanosleep")) {
		nap(50000000);
	} else if (!strcmp(call, "futex")) {
		wait_futex();
	} else if (!strcmp(call, "sigtimedwait")) {
		wait_signal();
	} else if (!strcmp(call, "work")) {
		sink += churn(sink | 1, 400000);
	} else if (!strcmp(call, "malloc")) {
		allocate();
	}
}

static char next_command(const char *call)
{
	char command;

	if (strcmp(call, "read") != 0)
		do
			wait_in(call);
		while (readable(0) != 1);
	ssize_t got = read(0, &command, 1);

	count_interrupted((int)got);
	return got == 1 ? command : got < 0 && errno == EINTR ? ' ' : 'q';
}

int main(int argc, char **argv)
{
	const char *call = argc > 1 ? argv[1] : "poll";
	struct epoll_event event = {.events = EPOLLIN};
	pthread_t threads[16];
	int count = 0;
	char command;

	epoll_fd = epoll_create1(0);
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, 0, &event);
	for (; count < 2; count++)
		pthread_create(&threads[count], NULL, run,
			       strcmp(call, "malloc") ? (void *)early : (void *)allocate);
	puts("ready");
	fflush(stdout);
	while ((command = next_command(call)) != 'q')
		if (command == 't' && count < 16)
			pthread_create(&threads[count++], NULL, run, (void *)later);
		else if (command == 'd')
			prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	ending = 1;
	while (count)
		pthread_join(threads[--count], NULL);
	printf("interrupted %d\ntoo_short %d\n", interrupted, too_short);
	return 0;
}
