/* SPDX-License-Identifier: Apache-2.0 */
/* What makes events rest, handlers that are slow one after the other and not one of them; and what
 * makes the monitor take over from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/sources/overhead.h"

#include "collector/core/thread_state.h"
#include "collector/sources/clock_switches.h"

enum { MS = 1000 * 1000, INTERVALS = 1000 };

/* How many of them there are until the first rest, each of an interval of 1 ms of CPU time. */
static int handlers_until_rest(uint64_t cost_ns, int every)
{
	struct overhead_account account = {.clock_ns = MS};
	int handlers = 0;

	for (uint64_t i = 1; i < INTERVALS; i++) {
		bool slow = i % (uint64_t)every == 0;

		handlers += slow;
		if (overhead_charge(&account, (i + 1) * MS, slow ? cost_ns : 10 * 1000))
			return handlers;
	}
	return 0;
}

static void one_is_none(void **state)
{
	(void)state;
	for (uint64_t ms = 1; ms <= 1000; ms *= 10) {
		assert_int_equal(handlers_until_rest(ms * MS, INTERVALS - 1), 0);
		assert_int_equal(handlers_until_rest(ms * MS, INTERVALS / 8), 0);
	}
}

static void slow_ones_are_bounded(void **state)
{
	(void)state;
	assert_int_equal(handlers_until_rest(100 * 1000, 1), 0); /* 10 % */
	int slow = handlers_until_rest(300 * 1000, 1), slower = handlers_until_rest(100 * MS, 1);

	/* a debt of 10 ms: 0.1 ms by each of them, and never by less than four */
	assert_in_range(slow, 90, 110);
	assert_in_range(slower, 4, 6);
}

/* A timer that is due again when its interrupt returns leaves a handler nothing to get on by. */
static void handlers_that_take_all_are_bounded(void **state)
{
	struct overhead_account account = {.clock_ns = MS};
	uint64_t clock_ns = MS, rest_ns = 0;
	int handlers = 0;

	(void)state;
	for (; !rest_ns && handlers < INTERVALS; handlers++)
		rest_ns = overhead_charge(&account, clock_ns += 300 * MS, 300 * MS - 10 * 1000);
	assert_in_range(handlers, 1, 10);
}

static void one_that_was_kept_waiting_makes_no_long_rest(void **state)
{
	struct overhead_account account = {.clock_ns = MS};

	(void)state;
	overhead_limited();
	assert_in_range(overhead_charge(&account, MS + 1, 40 * MS), 1, 25 * MS);
	assert_in_range(overhead_charge(&account, 21 * MS, 10 * 1000), 1,
			25 * MS); /* of what is left */
	assert_in_range(overhead_charge(&account, 41 * MS, 40 * MS), 1, 25 * MS);
	assert_true(overhead_charge(&account, 61 * MS, 40 * MS) > 100 * MS);
}

/* How many windows, each of so many switches at this distance, there are until it is too many. */
static int windows_until_too_many(int switches, uint64_t distance_ns)
{
	enum { WINDOWS = 1000 };
	uint64_t now_ns = MS;

	switches_forget_windows();
	for (int window = 1; window <= WINDOWS; window++) {
		switches_begin_window();
		for (int i = 0; i < switches; i++)
			switches_count(now_ns += distance_ns);
		if (switches_are_too_many(now_ns))
			return window;
	}
	return 0;
}

static void switches_that_are_many(void **state)
{
	(void)state;
	assert_in_range(windows_until_too_many(20, MS / 2), 2, 10); /* 2,000 a second */
	assert_int_equal(windows_until_too_many(20, 10 * MS), 0);
}

/* What one took has ended its window: that it was there alone is no frequency. */
static void switches_that_take_long(void **state)
{
	(void)state;
	assert_int_equal(windows_until_too_many(1, 30 * MS), 0);
	assert_int_equal(windows_until_too_many(2, 30 * MS), 0);
	assert_int_equal(windows_until_too_many(2, MS / 2), 0); /* one that the other has woken */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_none),
		cmocka_unit_test(slow_ones_are_bounded),
		cmocka_unit_test(handlers_that_take_all_are_bounded),
		cmocka_unit_test(one_that_was_kept_waiting_makes_no_long_rest),
		cmocka_unit_test(switches_that_are_many),
		cmocka_unit_test(switches_that_take_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
