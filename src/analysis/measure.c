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

static const uint32_t *places_of(const struct event_run *run, const struct measuring *measuring)
{
	return measuring->places ? measuring->places : event_stacks(run);
}

static bool is_chosen(const struct measuring *measuring, size_t row)
{
	return !measuring->chosen || measuring->chosen[row];
}

/* ---- one function per kind: what the events are worth ---- */

static void measure_heap(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *nodes = places_of(run, measuring);
	const uint64_t *sizes = event_field(run, HEAP_SIZE);
	const uint64_t *weights = event_field(run, HEAP_WEIGHT);
	const uint8_t *fates = measuring->fate ? measuring->fate + run->first : NULL;

	for (size_t row = 0; fates && row < run->count; row++) {
		uint64_t blocks = heap_blocks(weights[row]);
		uint64_t bytes = heap_bytes(sizes[row], weights[row]);

		if (fates[row] == HEAP_FATE_NONE || !is_chosen(measuring, row))
			continue;
		add(measuring->sums, MEASURE_HEAP_ALLOCS, nodes[row], blocks);
		add(measuring->sums, MEASURE_HEAP_BYTES, nodes[row], bytes);
		if (fates[row] < HEAP_FATE_LEFT)
			continue;
		add(measuring->sums, MEASURE_HEAP_LEAKS, nodes[row], blocks);
		add(measuring->sums, MEASURE_HEAP_LEAK_BYTES, nodes[row], bytes);
	}
}

static void measure_sync(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *nodes = places_of(run, measuring);
	const uint64_t *waits = event_field(run, SYNC_WAITED);

	for (size_t row = 0; row < run->count; row++) {
		if (!is_chosen(measuring, row))
			continue;
		add(measuring->sums, MEASURE_SYNC_NS, nodes[row], waits[row]);
		add(measuring->sums, MEASURE_SYNC_COUNT, nodes[row], 1);
	}
}

static void add_io(struct measure_sums *sums, const struct event_run *run, size_t row,
		   uint32_t node)
{
	uint64_t waited = event_field(run, IO_WAITED)[row], bytes = event_field(run, IO_BYTES)[row];
	uint64_t type = event_column(run, ROW_TYPE)[row], requests = io_requests(run, row);

	if (requests)
		add(sums, MEASURE_IO_REQUESTS, node, requests);
	if (event_field(run, IO_RESULT)[row]) {
		add(sums, MEASURE_IO_ERRORS, node, 1);
		add(sums, MEASURE_IO_ERROR_NS, node, waited);
	} else if (type == IO_READ) {
		add(sums, MEASURE_IO_READS, node, 1);
		add(sums, MEASURE_IO_READ_BYTES, node, bytes);
		add(sums, MEASURE_IO_READ_NS, node, waited);
	} else if (type == IO_WRITE) {
		add(sums, MEASURE_IO_WRITES, node, 1);
		add(sums, MEASURE_IO_WRITE_BYTES, node, bytes);
		add(sums, MEASURE_IO_WRITE_NS, node, waited);
	} else if (type == IO_WAIT) {
		add(sums, MEASURE_IO_WAITS, node, 1);
		add(sums, MEASURE_IO_WAIT_NS, node, waited);
	} else {
		add(sums, MEASURE_IO_OTHERS, node, 1);
		add(sums, MEASURE_IO_OTHER_NS, node, waited);
	}
}

static void measure_io(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *nodes = places_of(run, measuring);

	for (size_t row = 0; row < run->count; row++)
		if (is_chosen(measuring, row))
			add_io(measuring->sums, run, row, nodes[row]);
}

static void measure_counter(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *nodes = places_of(run, measuring);
	const uint64_t *numbers = event_field(run, COUNTER_NUMBER);
	const uint64_t *values = event_field(run, COUNTER_VALUE);

	for (size_t row = 0; row < run->count; row++) {
		if (!is_chosen(measuring, row) || numbers[row] >= COUNTERS_MAX ||
		    measuring->counter[numbers[row]] == COUNTER_NONE)
			continue;
		add(measuring->sums,
		    (enum measure)(MEASURE_COUNTER + measuring->counter[numbers[row]]), nodes[row],
		    measuring->squares ? values[row] * values[row] : values[row]);
	}
}

/* Waits are measured from end to end; what is sampled is on which function CPU time is spent. */
static void square_clock(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t sampled = 1u << FORMAT_STATE_USER | 1u << FORMAT_STATE_SYSTEM |
				 1u << FORMAT_STATE_TRAP | 1u << PROFILE_STATE_CPU;
	const uint32_t *nodes = places_of(run, measuring);
	const uint64_t *states = event_column(run, ROW_TYPE);
	const uint64_t *weights = event_field(run, PROFILE_WEIGHT);

	for (size_t row = 0; row < run->count; row++) {
		uint64_t square = weights[row] * weights[row];

		if (!is_chosen(measuring, row) || !(sampled >> states[row] & 1))
			continue;
		add(measuring->sums, (enum measure)states[row], nodes[row], square);
		if (measuring->first_thread)
			add(measuring->sums, MEASURE_FIRST_THREAD, nodes[row], square);
	}
}

/* Sums of many call stacks are outside the caches: asked for so many events ahead. */
enum { PREFETCH_ROWS = 12 };

static void measure_clock(const struct event_run *run, const struct measuring *measuring)
{
	uint64_t *sums[PROFILE_STATES] = {0}, *first = NULL;
	const uint32_t *nodes = places_of(run, measuring);
	const uint64_t *states = event_column(run, ROW_TYPE);
	const uint64_t *weights = event_field(run, PROFILE_WEIGHT);

	if (measuring->first_thread)
		first = measuring->sums->of[MEASURE_FIRST_THREAD];
	for (size_t i = 0; i < PROFILE_STATES; i++)
		sums[i] = measuring->sums->of[i];
	for (size_t row = 0; row < run->count; row++) {
		uint64_t state = states[row];

		if (row + PREFETCH_ROWS < run->count && sums[states[row + PREFETCH_ROWS]])
			__builtin_prefetch(
				&sums[states[row + PREFETCH_ROWS]][nodes[row + PREFETCH_ROWS]], 1);
		if (!is_chosen(measuring, row))
			continue;
		if (!sums[state])
			sums[state] = measure_array(measuring->sums, (enum measure)state);
		sums[state][nodes[row]] += weights[row];
		if (first)
			first[nodes[row]] += weights[row];
	}
}

/* Whether any row counts: of the others no column has to be read. */
static bool has_chosen(const struct event_run *run, const struct measuring *measuring)
{
	return !measuring->chosen || memchr(measuring->chosen, 1, run->count);
}

void measure_run(const struct event_run *run, const struct measuring *measuring)
{
	static void (*const measure[EVENTS_KINDS])(const struct event_run *,
						   const struct measuring *) = {
		[EVENTS_CLOCK] = measure_clock,
		[EVENTS_TRACE + TRACE_HEAP] = measure_heap,
		[EVENTS_TRACE + TRACE_SYNC] = measure_sync,
		[EVENTS_TRACE + TRACE_IO] = measure_io,
		[EVENTS_TRACE + TRACE_COUNTER] = measure_counter,
	};
	/* what is traced is exact: it has no squares */
	static void (*const square[EVENTS_KINDS])(const struct event_run *,
						  const struct measuring *) = {
		[EVENTS_CLOCK] = square_clock,
		[EVENTS_TRACE + TRACE_COUNTER] = measure_counter,
	};
	void (*run_kind)(const struct event_run *, const struct measuring *) =
		measuring->squares ? square[run->kind] : measure[run->kind];

	/* the metric is there wherever the thread is */
	if (run->kind == EVENTS_CLOCK && measuring->first_thread && !measuring->squares)
		measure_array(measuring->sums, MEASURE_FIRST_THREAD);
	if (run_kind && has_chosen(run, measuring))
		run_kind(run, measuring);
}
