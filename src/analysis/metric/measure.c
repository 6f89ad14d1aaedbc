/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/metric/measure.h"

#include "analysis/kinds/kinds.h"
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

/* ---- of the clock; the traced kinds have theirs in kind_*.c ---- */

/* Waits are measured from end to end; what is sampled is on which function CPU time is spent. */
static void square_clock(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t sampled = 1u << FORMAT_STATE_USER | 1u << FORMAT_STATE_SYSTEM |
				 1u << FORMAT_STATE_TRAP | 1u << PROFILE_STATE_CPU;
	const uint32_t *nodes = measure_places(run, measuring);
	const uint64_t *states = event_column(run, ROW_TYPE);
	const uint64_t *weights = event_field(run, PROFILE_WEIGHT);

	for (size_t row = 0; row < run->count; row++) {
		uint64_t square = weights[row] * weights[row];

		if (!measure_is_chosen(measuring, row) || !(sampled >> states[row] & 1))
			continue;
		measure_add(measuring->sums, (enum measure)states[row], nodes[row], square);
		if (measuring->first_thread)
			measure_add(measuring->sums, MEASURE_FIRST_THREAD, nodes[row], square);
	}
}

/* Sums of many call stacks are outside the caches: asked for so many events ahead. */
enum { PREFETCH_ROWS = 12 };

static void measure_clock(const struct event_run *run, const struct measuring *measuring)
{
	uint64_t *sums[PROFILE_STATES] = {0}, *first = NULL;
	const uint32_t *nodes = measure_places(run, measuring);
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
		if (!measure_is_chosen(measuring, row))
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

/* NULL: its events count for nothing. */
static kind_measure *find_measure(enum event_kind kind, bool squares)
{
	if (kind == EVENTS_CLOCK)
		return squares ? square_clock : measure_clock;
	return squares ? kind_of(kind - EVENTS_TRACE)->square
		       : kind_of(kind - EVENTS_TRACE)->measure;
}

void measure_run(const struct event_run *run, const struct measuring *measuring)
{
	kind_measure *run_kind = find_measure(run->kind, measuring->squares);

	/* the metric is there wherever the thread is */
	if (run->kind == EVENTS_CLOCK && measuring->first_thread && !measuring->squares)
		measure_array(measuring->sums, MEASURE_FIRST_THREAD);
	if (!run_kind || !has_chosen(run, measuring))
		return;
	run_kind(run, measuring);
	if (run->kind == EVENTS_CLOCK && measuring->omp_class && !measuring->squares)
		omp_measure_clock(run, measuring);
}
