/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program to attach to whose threads block all signals.  One of them works without looking, one
 * reads its mask all the time, changes it in each way that there is and finds what it set, also by
 * a jump, one waits for signals by hand and by calls with a mask of their own: nobody sends one.
 * At the end one of each of a profiler's numbers is sent: it waits until it is taken.  The
 * main thread works with all of them open until there is a command.
 */
#include "target.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

static volatile uint64_t sink;
static _Atomic int ending;
static int wrong_masks, foreign, interrupted;
static sigset_t all;

static NOINLINE void hot_blocked(void)
{
	sink += churn(sink | 1, 100000);
}

static NOINLINE void hot_changing(void)
{
	sink += churn(sink | 1, 10000);
}

static NOINLINE void hot_open(void)
{
	sink += churn(sink | 2, 90000);
}

static void *work(void *unused)
{
	while (!ending)
		hot_blocked();
	return unused;
}

/* The three signals that matter, as bits. */
static int blocked_now(void)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	return sigismember(&now, SIGTRAP) | sigismember(&now, 63) << 1 |
	       sigismember(&now, SIGUSR1) << 2;
}

static void expect(int bits)
{
	wrong_masks += blocked_now() != bits;
}

static void change_once(void)
{
	sigset_t trap, before;
	sigjmp_buf place;

	expect(7);
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	pthread_sigmask(SIG_UNBLOCK, &trap, &before);
	wrong_masks += sigismember(&before, SIGTRAP) != 1;
	expect(6);
	pthread_sigmask(SIG_SETMASK, &trap, NULL);
	expect(1);
	if (!sigsetjmp(place, 1)) {
		sigprocmask(SIG_SETMASK, &all, NULL);
		expect(7);
		siglongjmp(place, 1);
	}
	expect(1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void *change(void *unused)
{
	while (!ending) {
		change_once();
		hot_changing();
	}
	return unused;
}

static void *wait_by_hand(void *unused)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	sigset_t none;

	sigemptyset(&none);
	while (!ending) {
		foreign += sigtimedwait(&all, NULL, &nap) > 0;
		interrupted += ppoll(NULL, 0, &nap, &none) < 0;
		hot_changing();
	}
	return unused;
}

static void take(int number)
{
	const struct timespec second = {.tv_sec = 1};
	sigset_t one;
	siginfo_t info;

	sigemptyset(&one);
	sigaddset(&one, number);
	kill(getpid(), number);
	int got = sigtimedwait(&one, &info, &second);

	printf("%d: taken %d, sent by kill %d\n", number, got, info.si_code == SI_USER);
}

int main(void)
{
	void *(*const routines[])(void *) = {work, change, wait_by_hand};
	struct pollfd command = {.fd = 0, .events = POLLIN};
	pthread_t threads[3];
	sigset_t before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, routines[i], NULL))
			return 1;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	puts("ready");
	fflush(stdout);
	while (poll(&command, 1, 0) != 1)
		hot_open();
	ending = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	take(SIGTRAP);
	take(63);
	printf("wrong_masks %d\nforeign %d\ninterrupted %d\n", wrong_masks, foreign, interrupted);
	return 0;
}
