/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of (value, amount): order, sums, and that memory follows the number of values. */
#include "analysis/index/index_cells.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* All 64 bits matter: n-th of numbers that are as good as random and differ. */
static uint64_t scattered(uint64_t n)
{
	return n * UINT64_C(0x9e3779b97f4a7c15);
}

static void check_order(const struct index_cells *cells)
{
	for (size_t i = 1; i < cells->list.count; i++)
		assert_true(cells->list.items[i - 1].value < cells->list.items[i].value);
}

static void test_distinct(void **state)
{
	enum { COUNT = 300000 };
	struct index_cells cells = {0}, more = {0};
	uint64_t sum = 0;

	for (uint64_t i = 0; i < COUNT; i++)
		index_cells_add(i % 3 ? &cells : &more, scattered(i), i);
	index_cells_append(&cells, &more);
	assert_int_equal(more.list.count, 0);
	index_cells_unite(&cells);
	assert_int_equal(cells.list.count, COUNT);
	check_order(&cells);
	for (size_t i = 0; i < COUNT; i++) {
		const struct index_cell *cell = &cells.list.items[i];

		assert_int_equal(scattered(cell->amount), cell->value);
		sum += cell->amount;
	}
	assert_int_equal(sum, (uint64_t)COUNT * (COUNT - 1) / 2);
	index_cells_fini(&cells);
}

/* Ten million amounts of seven values. */
static void test_repeated(void **state)
{
	static const uint64_t values[] = {UINT64_MAX, 0, 1, 2048, 1 << 22, UINT64_C(1) << 63, 5};
	enum { VALUES = sizeof(values) / sizeof(values[0]), ROUNDS = 1500000 };
	struct index_cells cells = {0};

	for (size_t i = 0; i < ROUNDS; i++)
		for (size_t k = 0; k < VALUES; k++)
			index_cells_add(&cells, values[k], values[k] & 7);
	assert_true(cells.list.capacity < (size_t)ROUNDS * VALUES);
	index_cells_unite(&cells);
	assert_int_equal(cells.list.count, VALUES);
	check_order(&cells);
	assert_int_equal(cells.list.items[1].amount, ROUNDS);
	assert_int_equal(cells.list.items[2].amount, 5 * ROUNDS);
	assert_int_equal(cells.list.items[VALUES - 1].amount, UINT64_C(7) * ROUNDS);
	index_cells_fini(&cells);
}

static void test_few(void **state)
{
	struct index_cells cells = {0};

	index_cells_unite(&cells);
	assert_int_equal(cells.list.count, 0);
	index_cells_add(&cells, 9, 1);
	index_cells_unite(&cells);
	assert_int_equal(cells.list.count, 1);
	index_cells_fini(&cells);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distinct),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
