/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads on one processor hand a byte to and fro through two pipes: two
 * context switches per round and, before each, so many steps of work as the
 * second argument says.  Runs for 2 s (or "Ns"), or for so many rounds.
 */
#include "target.h"

#include <pthread.h>
#include <sched.h>

static int there[2], back[2];
static long steps;
static uint64_t work[2] = {1, 1}; /* each thread's own */

static void *echo(void *argument)
{
	char byte;

	while (read(there[0], &byte, 1) == 1) {
		work[1] = churn(work[1], steps);
		if (write(back[1], &byte, 1) != 1)
			break;
	}
	return argument;
}

static NOINLINE int bounce(void)
{
	char byte = 'x';

	work[0] = churn(work[0], steps);
	return write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1;
}

int main(int argc, char **argv)
{
	double start = wall_now();
	struct budget budget = budget_parse(argc, argv, "2s");
	double elapsed;
	cpu_set_t one;
	pthread_t thread;
	long rounds = 0;

	steps = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, echo, NULL))
		return 1;
	while (budget.seconds > 0 ? wall_now() - start < budget.seconds : rounds < budget.rounds)
		rounds += bounce();
	elapsed = wall_now() - start;
	close(there[1]);
	pthread_join(thread, NULL);
	printf("switches %ld\nswitches_per_s %.1f\n", 2 * rounds, 2 * rounds / elapsed);
	print_usage(start);
	return 0;
}
