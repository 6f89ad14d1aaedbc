/* SPDX-License-Identifier: Apache-2.0 */
/* Counters: what their events are worth; their metrics are those of the session. */
#include "analysis/kinds/counter.h"
#include "analysis/kinds/kinds.h"

static void measure_counter(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *nodes = measure_places(run, measuring);
	const uint64_t *numbers = event_field(run, COUNTER_NUMBER);
	const uint64_t *values = event_field(run, COUNTER_VALUE);

	for (size_t row = 0; row < run->count; row++) {
		if (!measure_is_chosen(measuring, row) || numbers[row] >= COUNTERS_MAX ||
		    measuring->counter[numbers[row]] == COUNTER_NONE)
			continue;
		measure_add(measuring->sums,
			    (enum measure)(MEASURE_COUNTER + measuring->counter[numbers[row]]),
			    nodes[row],
			    measuring->squares ? values[row] * values[row] : values[row]);
	}
}

/* They are sampled; what is traced each time is exact, and has no squares. */
const struct kind counter_kind = {.measure = measure_counter, .square = measure_counter};
