/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many short lives, each of three places that use the same CPU time one after the other.
 *
 *   lives threads COUNT MS [TOGETHER]   threads with MS of CPU time in each place
 *   lives aligned COUNT MS [TOGETHER]   the same, each begun with a tick of the kernel
 *   lives forks COUNT MS                children of fork
 *   lives programs COUNT MS             programs: this one is executed again
 *   lives periods COUNT MS              one thread with COUNT rounds of the three places
 */
#include "target.h"

#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>

extern char **environ;

static _Atomic uint64_t sink;
static double each;
static _Atomic uint64_t used_ns[3], queued_ns; /* of threads: not on a processor, from birth on */

static __thread double end; /* of the place, on the thread's CPU clock: rounds keep their period */

static inline __attribute__((always_inline)) void spend(int place)
{
	double from = cpu_now(), now;
	uint64_t seed = (uint64_t)place + 1;

	end = (end ? end : from) + each;
	do {
		seed = churn(seed | 1, 5000);
		now = cpu_now();
	} while (now < end);
	sink += seed;
	used_ns[place] += (uint64_t)((now - from) * 1e9);
}

static NOINLINE void first(void)
{
	spend(0);
}

static NOINLINE void second(void)
{
	spend(1);
}

static NOINLINE void third(void)
{
	spend(2);
}

static void *live(void *born)
{
	first();
	second();
	third();
	if (born)
		queued_ns += (uint64_t)((wall_now() - *(double *)born - cpu_now()) * 1e9);
	return NULL;
}

/* Up to 4 ms: lives one after the other would beat with the kernel's tick. */
static void pause_at_random(void)
{
	static uint32_t random = 1;
	struct timespec nap = {0};

	random = random * 1664525 + 1013904223;
	nap.tv_nsec = (long)(random >> 10);
	nanosleep(&nap, NULL);
}

/* It is counted on by the kernel's ticks. */
static uint64_t coarse_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void await_tick(void)
{
	for (uint64_t before = coarse_ns(); coarse_ns() == before;)
		;
}

static int threads(int count, int together, void (*begin)(void))
{
	pthread_t ids[64];
	double born[64];

	for (int i = 0; i < count; i += together) {
		begin();
		for (int k = 0; k < together; k++) {
			born[k] = wall_now();
			if (pthread_create(&ids[k], NULL, live, &born[k]))
				return 1;
		}
		for (int k = 0; k < together; k++)
			pthread_join(ids[k], NULL);
	}
	return 0;
}

static int start_child(char **argv, int execute)
{
	char *words[] = {argv[0], "life", "1", argv[3], NULL};
	pid_t child;

	if (execute)
		return posix_spawn(&child, argv[0], NULL, NULL, words, environ) ? -1 : child;
	child = fork();
	if (child)
		return child;
	end = 0;
	live(NULL);
	exit(0);
}

static int children(int count, char **argv, int execute)
{
	for (int i = 0; i < count; i++) {
		int child = start_child(argv, execute), status = 0;

		if (child < 0 || waitpid(child, &status, 0) != child || status) {
			fprintf(stderr, "child %d of %d: status %#x\n", i, child, status);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	double start = wall_now();
	int count = argc > 3 ? (int)strtol(argv[2], NULL, 10) : 1;
	int together = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 1;
	int failed = 0;

	if (argc < 4 || together < 1 || together > 64)
		return 2;
	each = strtod(argv[3], NULL) / 1000;
	if (!strcmp(argv[1], "life")) {
		live(NULL);
		return 0;
	}
	if (!strcmp(argv[1], "threads"))
		failed = threads(count, together, pause_at_random);
	else if (!strcmp(argv[1], "aligned"))
		failed = threads(count, together, await_tick);
	else if (!strcmp(argv[1], "periods"))
		for (int i = 0; i < count; i++)
			live(NULL);
	else
		failed = children(count, argv, !strcmp(argv[1], "programs"));
	for (int i = 0; i < 3; i++)
		printf("place.%d %.6f\n", i, (double)used_ns[i] / 1e9);
	printf("queued %.6f\n", (double)queued_ns / 1e9);
	print_usage(start);
	return failed;
}
