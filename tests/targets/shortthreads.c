/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads (1000, or the first argument), two at a time, each of which
 * uses 1.5 ms of CPU (or the second argument, in seconds): far less than a clock
 * interval, yet 1.5 s in all.
 */
#include "target.h"

#include <pthread.h>

static volatile uint64_t sink;
static double each = 0.0015;

static NOINLINE void burst(void)
{
	while (cpu_now() < each)
		sink += churn(sink | 1, 1000);
}

static void *work(void *argument)
{
	double *cpu = argument;

	burst();
	*cpu = cpu_now();
	return NULL;
}

int main(int argc, char **argv)
{
	double start = wall_now();
	int count = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;
	double sum = 0;

	if (argc > 2)
		each = strtod(argv[2], NULL);
	for (int i = 0; i < count; i += 2) {
		pthread_t threads[2];
		double cpu[2] = {0};

		for (int k = 0; k < 2; k++)
			if (pthread_create(&threads[k], NULL, work, &cpu[k]))
				return 1;
		for (int k = 0; k < 2; k++)
			pthread_join(threads[k], NULL);
		sum += cpu[0] + cpu[1];
	}
	printf("threads %d\nthreads.cpu %.6f\n", count, sum);
	print_usage(start);
	return 0;
}
