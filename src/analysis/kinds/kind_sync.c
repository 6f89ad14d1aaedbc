/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronization tracing: what waits are worth, and its metrics. */
#include "analysis/kinds/kinds.h"
#include "base/array.h"

static void measure_sync(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *nodes = measure_places(run, measuring);
	const uint64_t *waits = event_field(run, SYNC_WAITED);

	for (size_t row = 0; row < run->count; row++) {
		if (!measure_is_chosen(measuring, row))
			continue;
		measure_add(measuring->sums, MEASURE_SYNC_NS, nodes[row], waits[row]);
		measure_add(measuring->sums, MEASURE_SYNC_COUNT, nodes[row], 1);
	}
}

static const struct metric metrics[] = {
	{.command = "sync",
	 .title = "Sync Wait Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_SYNC_NS,
	 .description =
		 "time from the request to the grant of locks and other means of synchronization",
	 .if_data = true},
	{.command = "syncn",
	 .title = "Sync Wait Count",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_SYNC_COUNT,
	 .description = "waits for locks and other means of synchronization",
	 .if_data = true},
};

const struct kind sync_kind = {.measure = measure_sync,
			       .metrics = metrics,
			       .metric_count = COUNT(metrics),
			       .metrics_first = true};
