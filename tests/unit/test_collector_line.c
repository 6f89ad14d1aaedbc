/* SPDX-License-Identifier: Apache-2.0 */
/* What processes leave of their clock intervals to each other: evenly, once each, whatever the page
 * holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "collector/sources/clock_jitter.h"
#include "collector/sources/clock_line.h"
#include "format/family.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { INTERVAL_NS = 10 * 1000 * 1000, LIFE_NS = 3 * 1000 * 1000, GROUP = 10, GROUPS = 2000 };

/* Whether a life laid behind those before it has a tick. */
static bool live(struct format_family *family)
{
	uint64_t left_ns, at_ns = 0;
	uint32_t without_wall = 0;
	bool ticked = false;

	if (!line_read(line_take(family), INTERVAL_NS, &left_ns, &without_wall))
		left_ns = jitter_random(INTERVAL_NS);
	for (; at_ns + left_ns < LIFE_NS; left_ns = jitter_ns(INTERVAL_NS)) {
		at_ns += left_ns;
		ticked = true;
	}
	line_give(family, line_word(at_ns + left_ns - LIFE_NS, INTERVAL_NS, without_wall));
	return ticked;
}

static double mean_and_variance(bool together, double *variance)
{
	struct format_family family = {.first_ticks = 0};
	double sum = 0, squares = 0;

	for (int group = 0; group < GROUPS; group++) {
		int ticks = 0;

		for (int i = 0; i < GROUP; i++) {
			if (!together)
				memset(&family, 0, sizeof(family));
			ticks += live(&family);
		}
		sum += ticks;
		squares += ticks * ticks;
	}
	*variance = squares / GROUPS - sum / GROUPS * (sum / GROUPS);
	return sum / GROUPS;
}

static void lives_in_a_line_are_even(void **state)
{
	const double share = (double)LIFE_NS / INTERVAL_NS, binomial = GROUP * share * (1 - share);
	double variance, mean;

	(void)state;
	mean = mean_and_variance(false, &variance); /* a coin for each */
	assert_in_range((long)(1000 * mean), 2850, 3150);
	assert_in_range((long)(1000 * variance), (long)(800 * binomial), (long)(1200 * binomial));
	mean = mean_and_variance(true, &variance);
	assert_in_range((long)(1000 * mean), 2950, 3050);
	assert_in_range((long)(1000 * variance), 0, (long)(200 * binomial));
}

static void word_is_a_part_of_an_interval(void **state)
{
	static const uint64_t intervals[] = {10000, 1000000, 10007000, 1000000000, 10000000000};

	(void)state;
	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		uint64_t interval = intervals[i], left;
		uint32_t without_wall;

		for (uint64_t part = 0; part <= 10; part++) {
			uint64_t given = interval / 8 * part;

			assert_true(line_read(line_word(given, interval, (uint32_t)part), interval,
					      &left, &without_wall));
			assert_int_equal(without_wall, part);
			assert_true(left <= given && given - left <= interval / 1000000 + 1);
			/* Another process's interval is ten times as long. */
			assert_true(line_read(line_word(given, interval, 0), 10 * interval, &left,
					      &without_wall));
			assert_true(left <= 10 * given &&
				    10 * given - left <= interval / 100000 + 10);
		}
		assert_true(line_read(line_word(UINT64_MAX, interval, UINT32_MAX), interval, &left,
				      &without_wall));
		assert_in_range(left, jitter_longest_ns(interval) - interval / 1000000 - 1,
				jitter_longest_ns(interval));
	}
}

/* Any word: nothing, or no more than the longest interval and so many lives. */
static void damaged_page(void **state)
{
	struct format_family family;

	(void)state;
	srandom(1);
	for (int round = 0; round < 100000; round++) {
		uint64_t word = (uint64_t)random() << 33 ^ (uint64_t)random() << 11 ^
				(uint64_t)random(),
			 left;
		uint32_t without_wall;

		if (round % 3 == 0)
			word &= (uint64_t)1 << 63 | 0xff03ffffffu;
		memset(&family, 0, sizeof(family));
		family.lines[round % FAMILY_LINES] = word;
		assert_int_equal(line_take(&family), word);
		assert_int_equal(line_take(&family), 0);
		if (line_read(word, INTERVAL_NS, &left, &without_wall)) {
			assert_true(left <= jitter_longest_ns(INTERVAL_NS));
			assert_true(without_wall <= 255);
		}
	}
	uint64_t left;
	uint32_t without_wall;

	assert_false(line_read(0, INTERVAL_NS, &left, &without_wall));
	assert_false(line_read(UINT64_MAX, INTERVAL_NS, &left, &without_wall));
	/* A page full of it, and more ends than lines. */
	memset(&family, 0xff, sizeof(family));
	for (int i = 0; i < 3 * FAMILY_LINES; i++)
		line_give(&family, line_word(LIFE_NS, INTERVAL_NS, 0));
	assert_int_equal(family.first_ticks, UINT64_MAX);
	for (int i = 0; i < FAMILY_LINES; i++)
		assert_true(line_take(&family));
	assert_int_equal(line_take(&family), 0);
}

enum { THREADS = 4, TURNS = 20000 };

static struct format_family shared;

/* Takes and gives at once with others, and so has one word at a time at most. */
static void *exchange(void *first)
{
	uint64_t word = (uint64_t)(uintptr_t)first;

	for (int i = 0; i < TURNS; i++) {
		if (word)
			line_give(&shared, word);
		word = line_take(&shared);
	}
	return (void *)(uintptr_t)word;
}

/* No word is lost, and none is taken twice, where there are fewer processes than lines. */
static void many_at_once(void **state)
{
	pthread_t threads[THREADS];
	uint64_t sum = 0, word;

	(void)state;
	for (uint64_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, exchange,
						(void *)(uintptr_t)(1ul << 8 * i)),
				 0);
	for (int i = 0; i < THREADS; i++) {
		void *left;

		pthread_join(threads[i], &left);
		sum += (uint64_t)(uintptr_t)left;
	}
	while ((word = line_take(&shared)))
		sum += word;
	assert_int_equal(sum, 0x01010101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lives_in_a_line_are_even),
		cmocka_unit_test(word_is_a_part_of_an_interval),
		cmocka_unit_test(damaged_page),
		cmocka_unit_test(many_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
