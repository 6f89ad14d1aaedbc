/* SPDX-License-Identifier: Apache-2.0 */
/* What makes events rest: handlers that are slow one after the other, and not one of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/sources/overhead.h"

#include "collector/core/thread_state.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_none),
		cmocka_unit_test(slow_ones_are_bounded),
		cmocka_unit_test(one_that_was_kept_waiting_makes_no_long_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
