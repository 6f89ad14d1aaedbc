/* SPDX-License-Identifier: Apache-2.0 */
/* Which block or mapping an address was in: side by side, within others' old places, and after one
 * another. */
#include "analysis/data/block_index.h"
#include "analysis/index/mapping_index.h"

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
		assert_int_equal(block_index_find(&index, cases[i].address, cases[i].time_ns).row,
				 cases[i].row);
	block_index_fini(&index);
	experiment_trace_fini(&process.traces[TRACE_HEAP]);
}

/* Which block holds an address at a moment, by looking at all; at the end of one it still does. */
static uint32_t look(uint64_t address, uint64_t time_ns)
{
	uint32_t found = BLOCK_NONE;

	for (uint32_t row = 0; row < ROWS; row++)
		if (fates[row] != HEAP_FATE_NONE && address - addresses[row] < sizes[row] &&
		    times[row] <= time_ns &&
		    (until[row] == HEAP_NEVER || time_ns <= times[until[row]]))
			found = row;
	return found;
}

/* What a span says of other moments is what would be found there. */
static void test_spans(void **state)
{
	enum { LATEST = 70 };
	static const uint64_t at[] = {0,      0xfff,  0x1000, 0x1010, 0x103f, 0x1040,
				      0x1800, 0x180f, 0x1810, 0x1fff, 0x2000, 0x9000};
	struct block_index index;
	struct process process;
	unsigned for_ever = 0;

	make(&process);
	block_index_build(&index, &process);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		for (uint64_t time_ns = 0; time_ns < LATEST; time_ns++) {
			struct block_span span = block_index_find(&index, at[i], time_ns);

			assert_int_equal(span.row, look(at[i], time_ns));
			assert_true(span.begin_ns <= time_ns && time_ns <= span.end_ns);
			for_ever += span.end_ns - span.begin_ns == UINT64_MAX;
			for (uint64_t other = span.begin_ns; other < span.end_ns && other < LATEST;
			     other++)
				assert_int_equal(look(at[i], other), span.row);
		}
	assert_int_equal(for_ever, 4 * LATEST); /* in front of all blocks, and behind them */
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

/* ---- mappings ---- */

enum { MAP, UNMAP, OVER, MOVE, BREAK, LOWER, SMALL, LATE, CALLS };

/* In the order of time but for the last, which another thread made before all of them. */
static const struct trace_event calls[CALLS] = {
	[MAP] = {.time_ns = 10, .type = HEAP_MMAP, .field = {0x10000, 0x4000}},
	[UNMAP] = {.time_ns = 20, .type = HEAP_MUNMAP, .field = {0x11000, 0x1000}},
	[OVER] = {.time_ns = 30, .type = HEAP_MMAP, .field = {0x12000, 0x1000}},
	[MOVE] = {.time_ns = 40, .type = HEAP_MREMAP, .field = {0x50000, 0x2000, 0x13000}},
	[BREAK] = {.time_ns = 50, .type = HEAP_BRK, .field = {0x90000, 0x8000}},
	[LOWER] = {.time_ns = 60, .type = HEAP_BRK, .field = {0x8c000, 0}},
	[SMALL] = {.time_ns = 70, .type = HEAP_MMAP, .field = {0xa0000, 100}},
	[LATE] = {.time_ns = 5, .type = HEAP_MMAP, .field = {0x13000, 0x2000}},
};

static void test_mappings(void **state)
{
	enum { NONE = CALLS };
	static const struct {
		uint64_t address, time_ns;
		unsigned row;
	} cases[] = {
		{0x10000, 10, MAP},   {0x13fff, 39, MAP},     {0x14000, 15, LATE},
		{0x13000, 7, LATE},   {0x10000, 9, NONE},     {0x15000, 15, NONE},
		{0x11000, 20, MAP},   {0x11000, 21, NONE},    {0x10fff, 99, MAP},
		{0x12000, 25, MAP},   {0x12000, 31, OVER},    {0x12fff, 99, OVER},
		{0x13000, 41, NONE},  {0x14000, 41, LATE},    {0x50000, 41, MOVE},
		{0x51fff, 99, MOVE},  {0x52000, 99, NONE},    {0x88000, 55, BREAK},
		{0x87fff, 55, NONE},  {0x8ffff, 59, BREAK},   {0x8c000, 61, NONE},
		{0x8bfff, 99, BREAK}, {0x90000, 55, NONE},    {0xa0fff, 99, SMALL},
		{0xa1000, 99, NONE},  {UINT64_MAX, 99, NONE},
	};
	struct process process = {0};
	struct experiment_trace *trace = &process.traces[TRACE_HEAP];
	struct mapping_index index;

	experiment_trace_init(trace, TRACE_HEAP);
	rows_open(&trace->rows);
	for (size_t i = 0; i < CALLS; i++)
		experiment_trace_add(trace, TRACE_HEAP, &calls[i]);
	rows_close(&trace->rows);
	mapping_index_build(&index, &process);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct mapping_piece *piece =
			mapping_index_find(&index, cases[i].address, cases[i].time_ns);

		if ((piece ? piece->row : NONE) != cases[i].row)
			fail_msg("%#lx at %lu: %d", cases[i].address, cases[i].time_ns,
				 piece ? (int)piece->row : -1);
	}
	mapping_index_fini(&index);
	experiment_trace_fini(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_nothing_traced),
		cmocka_unit_test(test_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
