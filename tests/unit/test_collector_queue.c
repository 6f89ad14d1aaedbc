/* SPDX-License-Identifier: Apache-2.0 */
/* How long a thread can have been queued, from the kernel's averages: against their formula. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "collector/sources/clock_queue.h"

#include <time.h>
#include <unistd.h>

/* The averages of a thread that ran always, slept, was queued, and then ran again, in ms. */
static void averages(double slept, double queued, double ran, double *runnable, double *running)
{
	const double half = 32 * 1.024;
	double decay = exp2(-slept / half);

	*runnable = *running = 1024 * decay;
	decay = exp2(-queued / half);
	*runnable = *runnable * decay + 1024 * (1 - decay);
	*running *= decay;
	decay = exp2(-ran / half);
	*runnable = *runnable * decay + 1024 * (1 - decay);
	*running = *running * decay + 1024 * (1 - decay);
}

static void bound_is_what_was_queued(void **state)
{
	static const double sleeps[] = {50, 100, 1000}, queues[] = {0, 0.5, 3, 10, 25, 60, 100};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < 7; k++) {
			for (double ran = 0; ran < 12; ran += 2.5) {
				double runnable, running;

				averages(sleeps[i], queues[k], ran, &runnable, &running);
				double bound = (double)clock_queue_bound((int64_t)runnable,
									 (int64_t)running,
									 (uint64_t)(ran * 1e6)) /
					       1e6;
				/* whole numbers and periods, more of them where it is nearly full
				 */
				assert_true(bound >= queues[k] * 0.97 - 0.1);
				assert_true(bound <= queues[k] * 1.1 + 3);
			}
		}
	}
}

/* What was measured of sleeps of 0.1 s: a delay of 0.0995 s where there were 0.0079 s, and a true
 * one. */
static void delays_that_cannot_be_are_cut(void **state)
{
	const uint64_t ms = 1000 * 1000;

	(void)state;
	assert_int_equal(clock_queue_possible(99 * ms, 9 * ms, 0), 9 * ms);
	assert_int_equal(clock_queue_possible(100 * ms, 0, 0), 0);
	assert_int_equal(clock_queue_possible(42 * ms, 44 * ms, 0), 42 * ms);
	assert_int_equal(clock_queue_possible(71 * ms, 68 * ms, 0), 71 * ms);
	assert_int_equal(clock_queue_possible(18 * ms, 9 * ms, 1), 18 * ms);
	assert_int_equal(clock_queue_possible(90 * ms, UINT64_MAX, 0), 90 * ms);
}

static void saturated_tells_nothing(void **state)
{
	(void)state;
	assert_true(clock_queue_bound(1023, 0, 0) == UINT64_MAX);
	assert_true(clock_queue_bound(900, 100, 100000000) == UINT64_MAX);
	assert_true(clock_queue_bound(100, 900, 0) == 0);
	assert_true(clock_queue_bound(0, 0, 0) == 0);
}

/* The kernel's text is understood: this thread has just been on a processor. */
static void own_bound_is_read(void **state)
{
	(void)state;
	if (access("/proc/thread-self/sched", R_OK)) {
		print_message("the kernel has no /proc/thread-self/sched\n");
		skip();
	}
	struct timespec nap = {.tv_nsec = 300 * 1000 * 1000};

	for (int tries = 0; tries < 20; tries++) {
		nanosleep(&nap, NULL);
		if (clock_own_queue_bound(0) < 100u * 1000 * 1000)
			return;
	}
	fail();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bound_is_what_was_queued),
		cmocka_unit_test(delays_that_cannot_be_are_cut),
		cmocka_unit_test(saturated_tells_nothing),
		cmocka_unit_test(own_bound_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
