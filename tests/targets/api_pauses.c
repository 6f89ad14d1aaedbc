/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is recorded a little at a time: three places with the same CPU time one after the other, then a
 * pause with more.
 *
 *   api_pauses process COUNT MS HIDDEN   COUNT rounds of 3 x MS of CPU time and HIDDEN ms paused
 *   api_pauses thread COUNT MS HIDDEN    the thread alone is paused
 *   api_pauses uneven COUNT MS HIDDEN    first MS, paused HIDDEN, third 4 x MS, paused HIDDEN
 */
#include "target.h"

#include <heliometer/collectorAPI.h>

#include <pthread.h>
#include <stdbool.h>

static volatile uint64_t sink;
static double used[4];

static inline __attribute__((always_inline)) void spend(int place, double seconds)
{
	double from = cpu_now(), now;

	do {
		sink = churn(sink | 1, 5000);
		now = cpu_now();
	} while (now < from + seconds);
	used[place] += now - from;
}

static NOINLINE void first(double seconds)
{
	spend(0, seconds);
}

static NOINLINE void second(double seconds)
{
	spend(1, seconds);
}

static NOINLINE void third(double seconds)
{
	spend(2, seconds);
}

static NOINLINE void hidden(double seconds)
{
	spend(3, seconds);
}

static void hide(bool thread, double seconds)
{
	if (thread)
		collector_thread_pause(pthread_self());
	else
		collector_pause();
	hidden(seconds);
	if (thread)
		collector_thread_resume(pthread_self());
	else
		collector_resume();
}

int main(int argc, char **argv)
{
	bool uneven = argc > 1 && !strcmp(argv[1], "uneven");
	bool thread = argc > 1 && !strcmp(argv[1], "thread");
	int count = argc > 2 ? atoi(argv[2]) : 100;
	double each = argc > 3 ? atof(argv[3]) / 1e3 : 0.001;
	double paused = argc > 4 ? atof(argv[4]) / 1e3 : 0.007;

	for (int i = 0; i < count; i++) {
		first(each);
		if (uneven)
			hide(false, paused);
		else
			second(each);
		third(uneven ? 4 * each : each);
		hide(thread, paused);
	}
	for (int i = 0; i < 3; i++)
		printf("place.%d %.6f\n", i, used[i]);
	printf("hidden %.6f\n", used[3]);
	return 0;
}
