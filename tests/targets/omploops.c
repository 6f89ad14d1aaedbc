/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops whose parts are tasks, or wait for each other: two threads, and a known CPU time in each.
 * Prints the sums, which say that each iteration was executed once, with its data.
 */
#include <omp.h>
#include <stdio.h>
#include <time.h>

static void burn(int milliseconds)
{
	struct timespec now;
	long end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	end = now.tv_sec * 1000000000 + now.tv_nsec + milliseconds * 1000000;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec * 1000000000 + now.tv_nsec < end);
}

static long copied(void)
{
	long sum = 0;
	int big[100] = {[42] = 2};

#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop num_tasks(8) firstprivate(big)
	for (int i = 0; i < 40; i++) {
		burn(10);
#pragma omp atomic
		sum += i * big[42];
	}
	return sum;
}

static unsigned long long reduced(void)
{
	unsigned long long sum = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop num_tasks(4) reduction(+ : sum)
	for (unsigned long long i = 0; i < 20; i++) {
		burn(5);
		sum += i;
	}
	return sum;
}

/* Each iteration waits for the one before it: the threads compute in turn. */
static int in_turn(void)
{
	int latest = 0;

#pragma omp parallel for num_threads(2) ordered(1) schedule(static, 1)
	for (int i = 1; i <= 20; i++) {
#pragma omp ordered depend(sink : i - 1)
		burn(20);
		latest += i == latest + 1;
#pragma omp ordered depend(source)
	}
	return latest;
}

int main(void)
{
	printf("%ld %llu %d\n", copied(), reduced(), in_turn());
	return 0;
}
