/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates and releases blocks at a call depth of 10 in some threads: what one call costs.
 *
 *   blocks same|random THREADS CALLS
 *
 * same: one size, released at once; random: sizes and life times as a program has them.  CALLS
 * in each thread, of malloc and free together.  Prints ns of CPU per call.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH = 5, SLOTS = 1024, THREADS_MAX = 256 }; /* clone, start_thread, … come on top */

static long calls;
static int random_sizes;

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void use_same(void)
{
	for (long i = 0; i < calls / 2; i++) {
		void *volatile block = malloc(24);

		free(block);
	}
}

static void use_random(void)
{
	static __thread void *slots[SLOTS];
	uint64_t seed = 1;

	for (long i = 0; i < calls / 2; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		free(slots[seed % SLOTS]);
		slots[seed % SLOTS] = malloc(16 + (seed >> 20) % 500);
	}
}

static __attribute__((noinline)) void descend(int depth)
{
	if (depth)
		descend(depth - 1);
	else if (random_sizes)
		use_random();
	else
		use_same();
	__asm__ volatile("");
}

static void *run(void *result)
{
	double begin = cpu_seconds();

	descend(DEPTH);
	*(double *)result = (cpu_seconds() - begin) / (double)calls * 1e9;
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 3 ? (int)strtol(argv[2], NULL, 10) : 0;
	pthread_t threads[THREADS_MAX];
	double ns[THREADS_MAX], sum = 0;

	if (count < 1 || count > THREADS_MAX)
		return 2;
	random_sizes = !strcmp(argv[1], "random");
	calls = strtol(argv[3], NULL, 10);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run, &ns[i]);
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		sum += ns[i];
	}
	printf("%.2f\n", sum / count);
	return 0;
}
