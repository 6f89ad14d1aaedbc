/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of pairs: what is found in them, and how often they move. */
#include "base/hash.h"

#include "base/array.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* after the headers that it needs */
#include <cmocka.h>

enum { PAIRS = 20000 };

/* Who makes room for a few pairs at a time, as a process after the other does, moves all the others
 * by the logarithm of their number. */
static void room_for_few_at_a_time(void **state)
{
	uint64_t *pairs = xcalloc(PAIRS, sizeof(*pairs));
	struct pair_set set = {0};
	unsigned moves = 0;

	for (uint32_t i = 0; i < PAIRS; i++) {
		size_t size = set.size;

		pair_set_reserve(&set, pairs, 3);
		moves += set.size != size;
		pairs[i] = (uint64_t)(i + 1) << 32 | i;
		assert_int_equal(pair_set_put(&set, pairs, i, i + 1, i), i);
	}
	assert_in_range(moves, 1, 40);
	for (uint32_t i = 0; i < PAIRS; i++)
		assert_int_equal(pair_set_get(&set, pairs, i, i + 1), i);
	pair_set_fini(&set);
	free(pairs);
}

/* Room that is made at once is no more than needed. */
static void room_at_once(void **state)
{
	struct pair_set set = {0};

	pair_set_reserve(&set, NULL, PAIRS);
	assert_int_equal(set.size, 2 * PAIRS + 1);
	pair_set_fini(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_for_few_at_a_time),
		cmocka_unit_test(room_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
