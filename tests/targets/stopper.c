/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stops itself for about 0.5 s (or the first argument), then computes and is
 * stopped by a child for as long: once in a system call, once in user mode.
 */
#include "target.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static volatile uint64_t sink;
static double seconds = 0.5;
static double *stopped; /* shared with the child: how long it kept us stopped */

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
		*stopped = wall_now();
		nap(seconds);
		*stopped = wall_now() - *stopped;
		kill(parent, SIGCONT);
		_exit(0);
	}
	return child;
}

static NOINLINE void stop_self(void)
{
	raise(SIGSTOP);
	sink++;
}

static NOINLINE void compute_and_be_stopped(void)
{
	double cpu = cpu_now();

	while (cpu_now() - cpu < 0.3)
		sink += churn(sink | 1, 200000);
}

int main(int argc, char **argv)
{
	double start = wall_now();
	pid_t child;

	if (argc > 1)
		seconds = strtod(argv[1], NULL);
	stopped = mmap(NULL, sizeof(*stopped), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	child = helper(0);
	stop_self();
	waitpid(child, NULL, 0);
	printf("stopped_self %.6f\n", *stopped);
	child = helper(1);
	compute_and_be_stopped();
	waitpid(child, NULL, 0);
	printf("stopped_other %.6f\n", *stopped);
	print_usage(start);
	return 0;
}
