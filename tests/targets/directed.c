/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals to the whole process, of numbers that a profiler may use, and threads that have them
 * blocked.  Who gets them is known by construction:
 *
 *   taken     one thread has them open: all come to it, whatever the others do
 *   pending   all have them blocked: each is there until it is taken by hand, and nothing else is
 *   let_in    by sigsuspend, ppoll and pselect, for as long as the call lasts
 *   unblocked what was sent to the thread itself, too, comes when it is let
 */
#include "target.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/select.h>

enum { ROUNDS = 60, BLOCKED_THREADS = 2 };

static volatile uint64_t sink;
static volatile sig_atomic_t here, elsewhere, values;
static volatile pid_t taker;
static volatile int stop;
static int numbers[3];

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (info->si_code == SI_QUEUE)
		values += info->si_value.sival_int;
	if (thread_id() == taker)
		here++;
	else
		elsewhere++;
}

static NOINLINE void work(double seconds)
{
	double end = cpu_now() + seconds;

	while (cpu_now() < end)
		sink += churn(sink | 1, 1000);
}

static void *take(void *unused)
{
	sigset_t none;

	taker = thread_id();
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	while (!stop)
		work(0.001);
	return unused;
}

static void *idle(void *unused)
{
	while (!stop)
		usleep(1000);
	return unused;
}

static void taken(void)
{
	pthread_t threads[1 + BLOCKED_THREADS];

	for (int i = 0; i <= BLOCKED_THREADS; i++)
		pthread_create(&threads[i], NULL, i ? idle : take, NULL);
	while (!taker)
		work(0.001);
	for (int i = 0; i < ROUNDS; i++) {
		int before = here + elsewhere;

		if (i % 2)
			kill(getpid(), numbers[i % 3]);
		else
			sigqueue(getpid(), numbers[i % 3], (union sigval){.sival_int = i});
		while (here + elsewhere == before)
			work(0.001);
	}
	stop = 1;
	for (int i = 0; i <= BLOCKED_THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("taken.here %d\ntaken.elsewhere %d\ntaken.values %d\n", (int)here, (int)elsewhere,
	       (int)values);
	here = elsewhere = values = 0;
}

static void pending(const sigset_t *set)
{
	const struct timespec none = {0, 0};
	int lost = 0, foreign = 0, number = 0;
	sigset_t waiting;
	siginfo_t info;

	for (int i = 0; i < ROUNDS; i++) {
		work(0.002);
		sigpending(&waiting);
		foreign += sigismember(&waiting, numbers[i % 3]);
		foreign += sigtimedwait(set, &info, &none) > 0;
		kill(getpid(), numbers[i % 3]);
		work(0.002);
		sigpending(&waiting);
		lost += !sigismember(&waiting, numbers[i % 3]);
		if (i % 2)
			lost += sigwait(set, &number) || number != numbers[i % 3];
		else
			lost += sigwaitinfo(set, &info) != numbers[i % 3] ||
				info.si_code != SI_USER || info.si_pid != getpid();
	}
	printf("pending.lost %d\npending.foreign %d\npending.handled %d\n", lost, foreign,
	       (int)(here + elsewhere));
}

static void let_in(void)
{
	const struct timespec soon = {20, 0};
	int ended = 0;
	sigset_t none;

	taker = thread_id();
	sigemptyset(&none);
	for (int i = 0; i < ROUNDS; i++) {
		kill(getpid(), numbers[i % 3]);
		work(0.001);
		if (i % 4 == 0)
			ended += sigsuspend(&none) && errno == EINTR;
		else if (i % 4 == 1)
			ended += ppoll(NULL, 0, &soon, &none) && errno == EINTR;
		else
			ended += pselect(0, NULL, NULL, NULL, &soon, &none) && errno == EINTR;
	}
	printf("let_in.ended %d\nlet_in.handled %d\n", ended, (int)here);
	here = 0;
}

static void unblocked(const sigset_t *set)
{
	int early = 0;

	for (int i = 0; i < ROUNDS; i++) {
		if (i % 2)
			pthread_kill(pthread_self(), numbers[1 + i / 2 % 2]);
		else
			kill(getpid(), numbers[i % 3]);
		work(0.001);
		early += here != i;
		pthread_sigmask(SIG_UNBLOCK, set, NULL);
		pthread_sigmask(SIG_BLOCK, set, NULL);
	}
	printf("unblocked.early %d\nunblocked.handled %d\n", early, (int)here);
}

int main(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO};
	sigset_t set;

	numbers[0] = SIGTRAP;
	numbers[1] = SIGRTMAX - 1;
	numbers[2] = SIGUSR1;
	action.sa_sigaction = on_signal;
	sigemptyset(&set);
	for (int i = 0; i < 3; i++) {
		sigaddset(&set, numbers[i]);
		sigaction(numbers[i], &action, NULL);
	}
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	taken();
	pending(&set);
	let_in();
	unblocked(&set);
	return 0;
}
