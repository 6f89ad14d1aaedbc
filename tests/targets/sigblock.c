/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does to signals what a profiler fears: handlers for every signal, a thread
 * that blocks them all and computes, and checks that the program sees of its
 * own signal state exactly what it set.
 */
#include "target.h"

#include <pthread.h>
#include <signal.h>

static volatile uint64_t sink;
static volatile sig_atomic_t seen[65];
static volatile sig_atomic_t foreign; /* signals that nobody sent */

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code == SI_QUEUE || info->si_code == SI_TKILL || info->si_code == SI_USER)
		seen[number]++;
	else
		foreign++;
}

static NOINLINE void compute(double seconds)
{
	double end = cpu_now() + seconds;

	while (cpu_now() < end)
		sink += churn(sink | 1, 10000);
}

static void *blocked(void *argument)
{
	double *cpu = argument;
	sigset_t all, now;
	int missing = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (int i = 1; i < 32; i++)
		if (i != SIGKILL && i != SIGSTOP)
			missing += !sigismember(&now, i);
	compute(0.4);
	*cpu = cpu_now();
	printf("mask_missing %d\n", missing);
	return NULL;
}

/* A handler for everything that can have one; each must be read back as set. */
static int install_all(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction back;
	int wrong = 0;

	action.sa_sigaction = on_signal;
	for (int i = 1; i < 65; i++) {
		if (i == SIGKILL || i == SIGSTOP || i == 32 || i == 33)
			continue;
		if (i == SIGSEGV || i == SIGBUS || i == SIGILL || i == SIGFPE)
			continue; /* a crash shall stay a crash */
		sigaction(i, &action, NULL);
		sigaction(i, NULL, &back);
		wrong += back.sa_sigaction != on_signal;
	}
	return wrong;
}

int main(void)
{
	double start = wall_now();
	double cpu = 0;
	pthread_t thread;

	printf("handler_wrong %d\n", install_all());
	if (pthread_create(&thread, NULL, blocked, &cpu))
		return 1;
	pthread_join(thread, NULL);
	compute(0.2);
	raise(SIGPROF);
	raise(SIGTRAP);
	raise(SIGUSR1);
	printf("sigprof %d\nsigtrap %d\nsigusr1 %d\nforeign %d\nblocked.cpu %.6f\n",
	       (int)seen[SIGPROF], (int)seen[SIGTRAP], (int)seen[SIGUSR1], (int)foreign, cpu);
	print_usage(start);
	return 0;
}
