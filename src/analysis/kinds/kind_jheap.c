/* SPDX-License-Identifier: Apache-2.0 */
/* The Java heap: what sampled objects are worth, and its metrics. */
#include "analysis/kinds/kinds.h"
#include "base/array.h"
#include "experiment/objects.h"

/* An object counts for as many as its weight says. */
static void measure_jheap(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *nodes = measure_places(run, measuring);
	const uint64_t *sizes = event_field(run, JHEAP_SIZE);
	const uint64_t *weights = event_field(run, JHEAP_WEIGHT);
	const uint8_t *fates = measuring->fate ? measuring->fate + run->first : NULL;

	for (size_t row = 0; fates && row < run->count; row++) {
		uint64_t all_bytes = sizes[row] * weights[row];
		uint64_t objects = kind_worth(measuring, weights[row], weights[row]);
		uint64_t bytes = kind_worth(measuring, all_bytes, weights[row]);

		if (fates[row] == OBJECT_NONE || !measure_is_chosen(measuring, row))
			continue;
		measure_add(measuring->sums, MEASURE_JHEAP_ALLOCS, nodes[row], objects);
		measure_add(measuring->sums, MEASURE_JHEAP_BYTES, nodes[row], bytes);
		if (fates[row] < OBJECT_NEW)
			continue;
		measure_add(measuring->sums, MEASURE_JHEAP_LIVE, nodes[row], objects);
		measure_add(measuring->sums, MEASURE_JHEAP_LIVE_BYTES, nodes[row], bytes);
		if (fates[row] != OBJECT_KEPT)
			continue;
		measure_add(measuring->sums, MEASURE_JHEAP_KEPT, nodes[row], objects);
		measure_add(measuring->sums, MEASURE_JHEAP_KEPT_BYTES, nodes[row], bytes);
	}
}

#define METRIC(command_, title_, unit_, measure_, description_)                                    \
	{                                                                                          \
		.command = (command_), .title = (title_), .unit = (unit_),                         \
		.measure = MEASURE_JHEAP_##measure_, .description = (description_),                \
		.if_data = true                                                                    \
	}

static const struct metric metrics[] = {
	METRIC("jalloccnt", "Java Allocations", UNIT_COUNT, ALLOCS,
	       "objects of Java allocated, estimated by a sample"),
	METRIC("jallocbytes", "Java Bytes Allocated", UNIT_BYTES, BYTES,
	       "bytes of them, estimated by a sample"),
	METRIC("jlivecnt", "Java Objects Live", UNIT_COUNT, LIVE,
	       "of these, objects that no garbage collection has found dead up to the end"),
	METRIC("jlivebytes", "Java Bytes Live", UNIT_BYTES, LIVE_BYTES, "bytes of them"),
	METRIC("jkeptcnt", "Java Objects Kept", UNIT_COUNT, KEPT,
	       "of the live ones, those that are older than the last garbage collection"),
	METRIC("jkeptbytes", "Java Bytes Kept", UNIT_BYTES, KEPT_BYTES, "bytes of them"),
};

const struct kind jheap_kind = {.measure = measure_jheap,
				.square = measure_jheap,
				.metrics = metrics,
				.metric_count = COUNT(metrics)};
