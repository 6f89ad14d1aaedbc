/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ompwork SECONDS: two regions of two threads whose work is known.  In `uneven` the first thread
 * computes three times as long as the second, in `even` both as long; a thread's time is its CPU
 * clock's.  Prints, for each region, what the threads used of CPU time in it, by their own clocks.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 2, CALLS = 5 };

static double used[THREADS];

static double cpu(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) void work(double seconds)
{
	double begin = cpu();

	while (cpu() < begin + seconds)
		;
	used[omp_get_thread_num()] += cpu() - begin;
}

__attribute__((noinline)) void uneven(double seconds)
{
#pragma omp parallel num_threads(THREADS)
	work(omp_get_thread_num() ? seconds : 3 * seconds);
	__asm__ volatile("");
}

__attribute__((noinline)) void even(double seconds)
{
#pragma omp parallel num_threads(THREADS)
	work(seconds);
	__asm__ volatile("");
}

static void run(const char *name, void (*region)(double), double seconds)
{
	used[0] = used[1] = 0;
	for (int i = 0; i < CALLS; i++)
		region(seconds);
	printf("%s %.6f %.6f\n", name, used[0], used[1]);
}

int main(int count, char **arguments)
{
	double seconds = count > 1 ? atof(arguments[1]) : 0.02;

	run("uneven", uneven, seconds);
	run("even", even, seconds);
	return 0;
}
