/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/measure.h"

#include "analysis/counter.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

uint64_t *measure_array(struct measure_sums *sums, enum measure measure)
{
	if (!sums->of[measure])
		sums->of[measure] = xcalloc(sums->nodes, sizeof(uint64_t));
	return sums->of[measure];
}

void measure_grow(struct measure_sums *sums, size_t nodes)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++) {
		uint64_t *of = sums->of[i];

		if (!of)
			continue;
		sums->of[i] = of = xrealloc(of, nodes * sizeof(*of));
		memset(of + sums->nodes, 0, (nodes - sums->nodes) * sizeof(*of));
	}
	sums->nodes = nodes;
}

void measure_fold(struct measure_sums *to, struct measure_sums *from, const uint32_t *map)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++) {
		if (!from->of[i])
			continue;

		uint64_t *of = measure_array(to, (enum measure)i);

		for (size_t node = 0; node < from->nodes; node++)
			of[map ? map[node] : node] += from->of[i][node];
		free(from->of[i]);
		from->of[i] = NULL;
	}
	measure_fini(from);
}

void measure_fini(struct measure_sums *sums)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		free(sums->of[i]);
	*sums = (struct measure_sums){0};
}

static void add(struct measure_sums *sums, enum measure measure, uint32_t node, uint64_t value)
{
	measure_array(sums, measure)[node] += value;
}

/* ---- one function per kind: what the event in `row` is worth ---- */

static void add_heap(const struct event_run *run, size_t row, const struct measuring *measuring)
{
	struct measure_sums *sums = measuring->sums;
	uint32_t node = run->stack[row];
	uint64_t blocks, bytes;

	if (!measuring->fate || measuring->fate[run->first + row] == HEAP_FATE_NONE)
		return;
	blocks = heap_blocks(run->field, row);
	bytes = heap_bytes(run->field, row);
	add(sums, MEASURE_HEAP_ALLOCS, node, blocks);
	add(sums, MEASURE_HEAP_BYTES, node, bytes);
	if (measuring->fate[run->first + row] < HEAP_FATE_LEFT)
		return;
	add(sums, MEASURE_HEAP_LEAKS, node, blocks);
	add(sums, MEASURE_HEAP_LEAK_BYTES, node, bytes);
}

static void add_sync(const struct event_run *run, size_t row, const struct measuring *measuring)
{
	add(measuring->sums, MEASURE_SYNC_NS, run->stack[row], run->field[SYNC_WAITED][row]);
	add(measuring->sums, MEASURE_SYNC_COUNT, run->stack[row], 1);
}

static void add_io(const struct event_run *run, size_t row, const struct measuring *measuring)
{
	struct measure_sums *sums = measuring->sums;
	uint32_t node = run->stack[row];
	uint64_t waited = run->field[IO_WAITED][row], bytes = run->field[IO_BYTES][row];

	if (run->field[IO_RESULT][row]) {
		add(sums, MEASURE_IO_ERRORS, node, 1);
		add(sums, MEASURE_IO_ERROR_NS, node, waited);
	} else if (run->type[row] == IO_READ) {
		add(sums, MEASURE_IO_READS, node, 1);
		add(sums, MEASURE_IO_READ_BYTES, node, bytes);
		add(sums, MEASURE_IO_READ_NS, node, waited);
	} else if (run->type[row] == IO_WRITE) {
		add(sums, MEASURE_IO_WRITES, node, 1);
		add(sums, MEASURE_IO_WRITE_BYTES, node, bytes);
		add(sums, MEASURE_IO_WRITE_NS, node, waited);
	} else if (run->type[row] == IO_WAIT) {
		add(sums, MEASURE_IO_WAITS, node, 1);
		add(sums, MEASURE_IO_WAIT_NS, node, waited);
	} else {
		add(sums, MEASURE_IO_OTHERS, node, 1);
		add(sums, MEASURE_IO_OTHER_NS, node, waited);
	}
}

static void add_counter(const struct event_run *run, size_t row, const struct measuring *measuring)
{
	uint64_t number = run->field[COUNTER_NUMBER][row];

	if (number >= COUNTERS_MAX || measuring->counter[number] == COUNTER_NONE)
		return;
	add(measuring->sums, (enum measure)(MEASURE_COUNTER + measuring->counter[number]),
	    run->stack[row], run->field[COUNTER_VALUE][row]);
}

/* Waits are measured from end to end; what is sampled is on which function CPU time is spent. */
static void square_clock(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t sampled = 1u << FORMAT_STATE_USER | 1u << FORMAT_STATE_SYSTEM |
				 1u << FORMAT_STATE_TRAP | 1u << PROFILE_STATE_CPU;

	for (size_t row = 0; row < run->count; row++) {
		uint64_t square = (uint64_t)run->weight[row] * run->weight[row];

		if ((measuring->chosen && !measuring->chosen[row]) ||
		    !(sampled >> run->type[row] & 1))
			continue;
		add(measuring->sums, (enum measure)run->type[row], run->stack[row], square);
		if (measuring->first_thread)
			add(measuring->sums, MEASURE_FIRST_THREAD, run->stack[row], square);
	}
}

static void square_counter(const struct event_run *run, const struct measuring *measuring)
{
	for (size_t row = 0; row < run->count; row++) {
		uint64_t number = run->field[COUNTER_NUMBER][row];
		uint64_t value = run->field[COUNTER_VALUE][row];

		if ((measuring->chosen && !measuring->chosen[row]) || number >= COUNTERS_MAX ||
		    measuring->counter[number] == COUNTER_NONE)
			continue;
		add(measuring->sums, (enum measure)(MEASURE_COUNTER + measuring->counter[number]),
		    run->stack[row], value * value);
	}
}

/* What is traced is exact: it has no squares. */
static void square_run(const struct event_run *run, const struct measuring *measuring)
{
	if (run->kind == EVENTS_CLOCK)
		square_clock(run, measuring);
	else if (run->kind == EVENTS_TRACE + TRACE_COUNTER)
		square_counter(run, measuring);
}

/* Sums of many call stacks are outside the caches: asked for so many events ahead. */
enum { PREFETCH_ROWS = 12 };

static void measure_clock(const struct event_run *run, const struct measuring *measuring)
{
	uint64_t *states[PROFILE_STATES] = {0}, *first = NULL;

	if (measuring->first_thread)
		first = measure_array(measuring->sums, MEASURE_FIRST_THREAD);
	for (size_t row = 0; row < run->count; row++) {
		uint8_t state = run->type[row];

		if (row + PREFETCH_ROWS < run->count && states[run->type[row + PREFETCH_ROWS]])
			__builtin_prefetch(&states[run->type[row + PREFETCH_ROWS]]
						  [run->stack[row + PREFETCH_ROWS]],
					   1);
		if (measuring->chosen && !measuring->chosen[row])
			continue;
		if (!states[state])
			states[state] = measure_array(measuring->sums, (enum measure)state);
		states[state][run->stack[row]] += run->weight[row];
		if (first)
			first[run->stack[row]] += run->weight[row];
	}
}

void measure_run(const struct event_run *run, const struct measuring *measuring)
{
	static void (*const add_event[TRACE_KINDS])(const struct event_run *, size_t,
						    const struct measuring *) = {
		[TRACE_HEAP] = add_heap,
		[TRACE_SYNC] = add_sync,
		[TRACE_IO] = add_io,
		[TRACE_COUNTER] = add_counter,
	};

	if (measuring->squares) {
		square_run(run, measuring);
		return;
	}
	if (run->kind == EVENTS_CLOCK) {
		measure_clock(run, measuring);
		return;
	}
	for (size_t row = 0; row < run->count; row++)
		if (!measuring->chosen || measuring->chosen[row])
			add_event[run->kind - EVENTS_TRACE](run, row, measuring);
}
