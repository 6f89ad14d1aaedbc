/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pauses single threads.  `free` and `held` work side by side in four phases:
 *
 *   1  both recorded
 *   2  held paused by main
 *   3  held resumed by main
 *   4  held paused by itself
 *
 * `unborn` is paused as soon as it is created, for all its life.
 */
#include "target.h"

#include <heliometer/collectorAPI.h>

#include <pthread.h>

enum { PHASES = 4 };

static pthread_barrier_t gate;
static volatile uint64_t sink;

/* Each thread's work in each phase is a function of its own, with a number that no other has. */
#define WORKER(name)                                                                               \
	static NOINLINE void name(double seconds)                                                  \
	{                                                                                          \
		for (double end = cpu_now() + seconds; cpu_now() < end;)                           \
			sink += churn(sink + __COUNTER__, 50000);                                  \
	}

WORKER(free_1)
WORKER(free_2)
WORKER(free_3)
WORKER(free_4)
WORKER(held_1)
WORKER(held_2)
WORKER(held_3)
WORKER(held_4)
WORKER(unborn_work)

static void *run(void *held)
{
	static void (*const works[2][PHASES])(double) = {{free_1, free_2, free_3, free_4},
							 {held_1, held_2, held_3, held_4}};

	for (int phase = 0; phase < PHASES; phase++) {
		pthread_barrier_wait(&gate); /* main has done its part */
		if (phase == 3 && held)
			collector_thread_pause(pthread_self());
		works[held != NULL][phase](0.1 * (phase + 1));
		pthread_barrier_wait(&gate);
	}
	return NULL;
}

static void *run_unborn(void *unused)
{
	pthread_barrier_wait(&gate);
	unborn_work(0.2);
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	pthread_barrier_init(&gate, NULL, 2);
	pthread_create(&threads[2], NULL, run_unborn, NULL);
	collector_thread_pause(threads[2]);
	pthread_barrier_wait(&gate);
	pthread_join(threads[2], NULL);
	pthread_barrier_destroy(&gate);

	pthread_barrier_init(&gate, NULL, 3);
	pthread_create(&threads[0], NULL, run, NULL);
	pthread_create(&threads[1], NULL, run, "held");
	for (int phase = 0; phase < PHASES; phase++) {
		if (phase == 1)
			collector_thread_pause(threads[1]);
		if (phase == 2)
			collector_thread_resume(threads[1]);
		pthread_barrier_wait(&gate);
		pthread_barrier_wait(&gate);
	}
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
