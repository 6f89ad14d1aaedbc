/* SPDX-License-Identifier: Apache-2.0 */
/* Packed columns against plain arrays of the same numbers. */
#include "experiment/rows.h"
#include "format/varint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 3, ROWS_MOST = 5 * ROWS_PAGE };

static uint64_t truth[COLUMNS][ROWS_MOST];
static uint64_t seed = 1;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void add(struct rows *rows, size_t count)
{
	rows_open(rows);
	for (size_t i = 0; i < count; i++) {
		for (unsigned column = 0; column < COLUMNS; column++)
			row_put(rows_next_row(rows), column, truth[column][rows->count]);
		rows_next(rows);
	}
	rows_close(rows);
}

static void assert_all(const struct rows *rows)
{
	uint64_t wide[ROWS_PAGE];
	uint32_t narrow[ROWS_PAGE];

	for (unsigned column = 0; column < COLUMNS; column++) {
		for (size_t row = 0; row < rows->count; row++)
			assert_true(rows_get(rows, column, row) == truth[column][row]);
		for (size_t first = 0, count; first < rows->count; first += count) {
			size_t most = ROWS_PAGE - first % ROWS_PAGE;

			most = most < rows->count - first ? most : rows->count - first;
			count = 1 + next_random() % most;
			rows_read(rows, column, first, count, wide);
			rows_read_u32(rows, column, first, count, narrow);
			for (size_t i = 0; i < count; i++) {
				assert_true(wide[i] == truth[column][first + i]);
				assert_int_equal(narrow[i], (uint32_t)truth[column][first + i]);
			}
		}
	}
}

/* Numbers of so many low bits, with the same ones above them. */
static void fill(unsigned column, unsigned bits)
{
	uint64_t mask = bits ? UINT64_MAX >> (64 - bits) : 0, common = next_random() & ~mask;

	for (size_t i = 0; i < ROWS_MOST; i++)
		truth[column][i] = common | (next_random() & mask);
}

static void test_every_width(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits <= 64; bits++) {
		struct rows rows = {.columns = COLUMNS};

		fill(0, bits);
		fill(1, 64 - bits);
		fill(2, 1);
		add(&rows, ROWS_PAGE + 1 + next_random() % ROWS_PAGE);
		assert_all(&rows);
		rows_fini(&rows);
	}
}

static void test_numbers_in_common_take_nothing(void **state)
{
	struct rows rows = {.columns = COLUMNS};

	(void)state;
	fill(0, 0);
	fill(1, 0);
	fill(2, 7);
	add(&rows, ROWS_MOST);
	assert_all(&rows);
	assert_int_equal(rows.column[0].word_count, 0);
	assert_int_equal(rows.column[2].word_count, ROWS_MOST * 7 / 64);
	rows_fini(&rows);
}

/* Each time the last page is taken up again, full or not. */
static void test_rows_that_come_later(void **state)
{
	static const size_t counts[] = {
		1, 0, 62, ROWS_PAGE - 63, ROWS_PAGE, 3 * ROWS_PAGE / 2, ROWS_PAGE, 1};
	struct rows rows = {.columns = COLUMNS};

	(void)state;
	fill(0, 20);
	fill(1, 64);
	fill(2, 3);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		add(&rows, counts[i]);
		assert_all(&rows);
	}
	rows_fini(&rows);
}

static void test_a_row_that_is_none(void **state)
{
	struct rows rows = {.columns = COLUMNS};

	(void)state;
	rows_open(&rows);
	row_put(rows_next_row(&rows), 0, UINT64_MAX);
	row_put(rows_next_row(&rows), 2, 5);
	rows_drop(&rows);
	row_put(rows_next_row(&rows), 1, 7);
	rows_next(&rows);
	rows_close(&rows);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows_get(&rows, 0, 0), 0);
	assert_int_equal(rows_get(&rows, 1, 0), 7);
	assert_int_equal(rows_get(&rows, 2, 0), 0);
	rows_fini(&rows);
}

/* All but the second page. */
static bool triple(uint64_t *values, size_t first, size_t count, void *arg)
{
	size_t *seen = arg;

	assert_int_equal(first, *seen);
	*seen += count;
	if (first == ROWS_PAGE)
		return false;
	for (size_t i = 0; i < count; i++)
		values[i] *= 3;
	return true;
}

static void test_mapped(void **state)
{
	struct rows rows = {.columns = COLUMNS};
	size_t seen = 0;

	(void)state;
	for (unsigned column = 0; column < COLUMNS; column++)
		fill(column, 30);
	add(&rows, 2 * ROWS_PAGE + 5);
	rows_map(&rows, 1, triple, &seen);
	for (size_t i = 0; i < rows.count; i++)
		truth[1][i] *= i / ROWS_PAGE == 1 ? 1 : 3;
	assert_int_equal(seen, rows.count);
	assert_all(&rows);
	rows_fini(&rows);
}

/* Numbers of every length, with the end of what may be read directly behind them and further on. */
static void test_varints(void **state)
{
	enum { BEHIND = 10 };

	for (unsigned bits = 0; bits < 64; bits++)
		for (int less = -1; less < 2; less++) {
			uint64_t number = (UINT64_C(1) << bits) + (uint64_t)less, read;
			uint8_t bytes[VARINT_MAX + BEHIND];
			uint8_t *end = varint_put(bytes, number);

			for (int behind = 0; behind < BEHIND; behind++) {
				memset(end, behind % 2 ? 0xff : 0x7f, (size_t)behind);
				assert_ptr_equal(varint_get(bytes, end + behind, &read), end);
				assert_true(read == number);
			}
			for (const uint8_t *cut = bytes; cut < end; cut++)
				assert_null(varint_get(bytes, cut, &read));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_width),
		cmocka_unit_test(test_numbers_in_common_take_nothing),
		cmocka_unit_test(test_rows_that_come_later),
		cmocka_unit_test(test_a_row_that_is_none),
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_varints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
