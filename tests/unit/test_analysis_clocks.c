/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks whose difference is known by construction, from messages that took some time. */
#include "analysis/kinds/mpi_clock_fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND 1e9

static double random_to(double most)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return most * (double)(state >> 33) / (double)(1u << 31);
}

/* The first clock shows offset + drift * t more than the second, which shows t. */
struct pair {
	double offset, drift;
};

static double difference(const struct pair *pair, double time)
{
	return pair->offset + pair->drift * time;
}

/* There and back, each message taking `least` ns and up to `more`. */
static void exchange(struct clock_bounds *bounds, const struct pair *pair, double time,
		     double least, double more)
{
	double took = least + random_to(more);

	/* Sent by the first clock's time less `took`, received at `time` by the second's. */
	clock_bounds_add_least(bounds, (struct clock_bound){time, difference(pair, time) - took});
	took = least + random_to(more);
	clock_bounds_add_most(bounds, (struct clock_bound){time, difference(pair, time) + took});
}

static void check(const struct clock_line *line, const struct pair *pair, double begin, double end)
{
	for (int i = 0; i <= 10; i++) {
		double time = begin + (end - begin) * i / 10;
		double off = fabs(line->offset_ns + line->drift * time - difference(pair, time));

		assert_true(off <= line->error_ns * (1 + 1e-9) + 1e-3);
	}
}

static void test_lines(void **state)
{
	static const struct pair pairs[] = {
		{0, 0}, {5e6, 3e-5}, {-7e13, -1e-4}, {1e9, 5e-4}, {-3e3, -9e-4}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct clock_bounds bounds = {0};
		struct clock_line line;

		for (int k = 0; k < 20000; k++)
			exchange(&bounds, &pairs[i], random_to(100 * SECOND), 2e3, 1e6);
		assert_true(clock_line_fit(&bounds, 0, 100 * SECOND, &line));
		check(&line, &pairs[i], 0, 100 * SECOND);
		/* A message there and one back took twice 2 us at least. */
		assert_true(line.error_ns >= 2e3 - 1);
		assert_true(line.error_ns < 2e4);
		clock_bounds_fini(&bounds);
	}
}

/* What is asked for lies beyond all messages: the error grows as far as the drift is not known. */
static void test_beyond(void **state)
{
	const struct pair pair = {5e5, 2e-5};
	struct clock_bounds bounds = {0};
	struct clock_line within, line;

	for (int k = 0; k < 1000; k++)
		exchange(&bounds, &pair, 10 * SECOND + random_to(SECOND), 5e3, 1e5);
	assert_true(clock_line_fit(&bounds, 10 * SECOND, 11 * SECOND, &within));
	assert_true(clock_line_fit(&bounds, 0, 60 * SECOND, &line));
	check(&within, &pair, 10 * SECOND, 11 * SECOND);
	check(&line, &pair, 0, 60 * SECOND);
	assert_true(line.error_ns > 2 * within.error_ns);
	clock_bounds_fini(&bounds);
}

static void test_one_way(void **state)
{
	struct clock_bounds bounds = {0};
	struct clock_line line;

	assert_false(clock_line_fit(&bounds, 0, SECOND, &line));
	clock_bounds_add_least(&bounds, (struct clock_bound){5, 7});
	assert_false(clock_line_fit(&bounds, 0, SECOND, &line));
	clock_bounds_add_most(&bounds, (struct clock_bound){5, 9});
	assert_true(clock_line_fit(&bounds, 5, 5, &line));
	assert_true(fabs(line.offset_ns + line.drift * 5 - 8) < 1e-6);
	assert_true(fabs(line.error_ns - 1) < 1e-6);
	clock_bounds_fini(&bounds);
}

/* A clock that was set by 1 ms meanwhile is no line: the error says so. */
static void test_steps(void **state)
{
	const struct pair before = {0, 0}, behind = {1e6, 0};
	struct clock_bounds bounds = {0};
	struct clock_line line;

	for (int k = 0; k < 1000; k++) {
		exchange(&bounds, &before, random_to(SECOND), 1e3, 1e4);
		exchange(&bounds, &behind, SECOND + random_to(SECOND), 1e3, 1e4);
	}
	assert_true(clock_line_fit(&bounds, 0, 2 * SECOND, &line));
	assert_true(line.error_ns > 1e5);
	assert_true(line.error_ns < 1e6);
	clock_bounds_fini(&bounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_beyond),
		cmocka_unit_test(test_one_way),
		cmocka_unit_test(test_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
