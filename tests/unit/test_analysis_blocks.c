/* SPDX-License-Identifier: Apache-2.0 */
/* Which block an address was in: blocks side by side, within others' old places, and after one
 * another. */
#include "analysis/block_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { A, A_FREED, LARGE, LARGE_FREED, INSIDE, AGAIN, ROWS };

/* Row, time: A 0x1000+64 lives 10-20, LARGE 0x1000+4096 30-40, INSIDE 0x1800+16 from 50, AGAIN A's
 * place from 60. */
static uint64_t times[ROWS] = {10, 20, 30, 40, 50, 60};
static uint64_t addresses[ROWS] = {0x1000, 0x1000, 0x1000, 0x1000, 0x1800, 0x1000};
static uint64_t sizes[ROWS] = {64, 0, 4096, 0, 16, 64};
static uint8_t fates[ROWS] = {HEAP_FATE_RELEASED, HEAP_FATE_NONE, HEAP_FATE_RELEASED,
			      HEAP_FATE_NONE,	  HEAP_FATE_LEFT, HEAP_FATE_LEFT};
static uint32_t until[ROWS] = {A_FREED,	   HEAP_NEVER, LARGE_FREED,
			       HEAP_NEVER, HEAP_NEVER, HEAP_NEVER};

static void make(struct process *process)
{
	*process = (struct process){.heap = {.fate = fates, .until = until}};

	struct experiment_trace *trace = &process->traces[TRACE_HEAP];

	experiment_trace_init(trace, TRACE_HEAP);
	rows_open(&trace->rows);
	for (size_t i = 0; i < ROWS; i++)
		experiment_trace_add(
			trace, TRACE_HEAP,
			&(struct trace_event){
				.time_ns = times[i],
				.field = {[HEAP_ADDRESS] = addresses[i], [HEAP_SIZE] = sizes[i]}});
	rows_close(&trace->rows);
}

static void test_find(void **state)
{
	static const struct {
		uint64_t address, time_ns;
		uint32_t row;
	} cases[] = {
		{0x1000, 10, A},	  {0x103f, 20, A},	     {0x1040, 15, BLOCK_NONE},
		{0x1000, 5, BLOCK_NONE},  {0x1000, 25, BLOCK_NONE},  {0x1000, 30, LARGE},
		{0x1800, 35, LARGE},	  {0x1fff, 40, LARGE},	     {0x2000, 35, BLOCK_NONE},
		{0x1800, 45, BLOCK_NONE}, {0x180f, 55, INSIDE},	     {0x1810, 55, BLOCK_NONE},
		{0x1010, 1000, AGAIN},	  {0xfff, 1000, BLOCK_NONE}, {UINT64_MAX, 35, BLOCK_NONE},
	};
	struct block_index index;
	struct process process;

	make(&process);
	block_index_build(&index, &process);
	assert_int_equal(index.count, 4);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(block_index_find(&index, cases[i].address, cases[i].time_ns),
				 cases[i].row);
	block_index_fini(&index);
	experiment_trace_fini(&process.traces[TRACE_HEAP]);
}

static void test_nothing_traced(void **state)
{
	static const struct process process;
	struct block_index index;

	block_index_build(&index, &process);
	assert_int_equal(index.count, 0);
	block_index_fini(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_nothing_traced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
