/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler that blocks all signals and computes, called every 25 ms, by no timer of the processor;
 * prints what it took and what all took: "handler SECONDS", "all SECONDS".  With an argument the
 * program has handlers for SIGPROF and SIGTRAP too, set "before" that or "after": then the mask in
 * the handler is what was asked for, for the kernel too: "open" is how often it was not.
 */
#include "target.h"

#include <signal.h>
#include <sys/time.h>

static volatile uint64_t sink;
static volatile double taken, last;
static volatile long open_signals;

static NOINLINE void in_handler(void)
{
	double end = cpu_now() + 0.009;

	while (cpu_now() < end)
		sink += churn(sink | 1, 3000);
}

static void on_timer(int number)
{
	double begin = cpu_now();
	uint64_t mask = 0, both = 1ul << (SIGPROF - 1) | 1ul << (SIGTRAP - 1);

	/* On a busy machine the next signal is there when this returns: main would never end. */
	if (begin >= last)
		return;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
	open_signals += (mask & both) != both;
	in_handler();
	taken += cpu_now() - begin;
}

static void nothing(int number)
{
}

static void handle_others(void)
{
	signal(SIGPROF, nothing);
	signal(SIGTRAP, nothing);
}

int main(int argc, char **argv)
{
	const struct itimerval timer = {.it_interval.tv_usec = 25003, .it_value.tv_usec = 25003};
	const char *others = argc > 1 ? argv[1] : "";
	struct sigaction action = {.sa_handler = on_timer}, read_back;
	double begin = cpu_now();

	last = begin + 1;
	if (!strcmp(others, "before"))
		handle_others();
	sigfillset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	if (!strcmp(others, "after"))
		handle_others();
	sigaction(SIGALRM, NULL, &read_back);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (cpu_now() < last)
		sink += churn(sink | 1, 3000);
	printf("handler %.6f\nall %.6f\n", taken, cpu_now() - begin);
	if (*others)
		printf("open %ld\n", open_signals);
	printf("read_back %d\n", sigismember(&read_back.sa_mask, SIGPROF) &&
					 sigismember(&read_back.sa_mask, SIGTRAP));
	return 0;
}
