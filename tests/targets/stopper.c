/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stops itself for about 0.5 s (or the first argument), then computes and is
 * stopped by a child for as long: once in a system call, once in user mode.
 */
#include "target.h"

#include <signal.h>
#include <sys/wait.h>

static volatile uint64_t sink;
static double seconds = 0.5;

static void nap(double how_long)
{
	usleep((useconds_t)(how_long * 1e6));
}

/* A child that stops the parent when told to, and lets it go on. */
static pid_t helper(int stop)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (child == 0) {
		if (stop) {
			nap(0.1);
			kill(parent, SIGSTOP);
		}
		nap(seconds);
		kill(parent, SIGCONT);
		_exit(0);
	}
	return child;
}

static NOINLINE double stop_self(void)
{
	double before = wall_now();

	raise(SIGSTOP);
	return wall_now() - before;
}

/* Computes for 0.3 s by its own clock; the rest of what passes it was stopped. */
static NOINLINE double compute_and_be_stopped(void)
{
	double wall = wall_now();
	double cpu = cpu_now();

	while (cpu_now() - cpu < 0.3)
		sink += churn(sink | 1, 200000);
	return wall_now() - wall - (cpu_now() - cpu);
}

int main(int argc, char **argv)
{
	double start = wall_now();
	pid_t child;

	if (argc > 1)
		seconds = strtod(argv[1], NULL);
	child = helper(0);
	printf("stopped_self %.6f\n", stop_self());
	waitpid(child, NULL, 0);
	child = helper(1);
	printf("stopped_other %.6f\n", compute_and_be_stopped());
	waitpid(child, NULL, 0);
	print_usage(start);
	return 0;
}
