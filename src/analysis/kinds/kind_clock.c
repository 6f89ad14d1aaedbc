/* SPDX-License-Identifier: Apache-2.0 */
/* What an event of the clock is worth: its time, in its state. */
#include "analysis/kinds/kinds.h"

/* Waits are measured from end to end; what is sampled is on which function CPU time is spent. */
void square_clock(const struct event_run *run, const struct measuring *measuring)
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

void measure_clock(const struct event_run *run, const struct measuring *measuring)
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
