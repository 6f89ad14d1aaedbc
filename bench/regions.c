/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions THREADS COUNT [TURNS]: ns of a parallel region in which each thread turns a loop so
 * often, or does nothing; the best of 40 parts of so many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

__attribute__((noinline)) static void region(int threads, long turns)
{
#pragma omp parallel num_threads(threads)
	for (long i = 0; i < turns; i++)
		__asm__ volatile("");
}

int main(int count, char **arguments)
{
	enum { PARTS = 40 };
	int threads = count > 1 ? (int)strtol(arguments[1], NULL, 10) : 2;
	long each = (count > 2 ? strtol(arguments[2], NULL, 10) : 100000) / PARTS;
	long turns = count > 3 ? strtol(arguments[3], NULL, 10) : 0;
	double best = 1e18;

	for (int part = 0; part < PARTS; part++) {
		double begin = now_ns(), took;

		for (long i = 0; i < each; i++)
			region(threads, turns);
		took = (now_ns() - begin) / (double)each;
		best = took < best ? took : best;
	}
	printf("%.0f\n", best);
	return 0;
}
