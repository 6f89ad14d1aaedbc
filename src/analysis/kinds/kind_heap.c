/* SPDX-License-Identifier: Apache-2.0 */
/* Heap tracing: what allocations are worth, and its metrics. */
#include "analysis/kinds/kinds.h"
#include "base/array.h"

static void measure_heap(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *nodes = measure_places(run, measuring);
	const uint64_t *sizes = event_field(run, HEAP_SIZE);
	const uint64_t *weights = event_field(run, HEAP_WEIGHT);
	const uint8_t *fates = measuring->fate ? measuring->fate + run->first : NULL;

	for (size_t row = 0; fates && row < run->count; row++) {
		uint64_t all = heap_blocks(weights[row]);
		uint64_t blocks = kind_worth(measuring, all, all);
		uint64_t bytes = kind_worth(measuring, heap_bytes(sizes[row], weights[row]), all);

		if (fates[row] == HEAP_FATE_NONE || !measure_is_chosen(measuring, row))
			continue;
		measure_add(measuring->sums, MEASURE_HEAP_ALLOCS, nodes[row], blocks);
		measure_add(measuring->sums, MEASURE_HEAP_BYTES, nodes[row], bytes);
		if (fates[row] < HEAP_FATE_LEFT)
			continue;
		measure_add(measuring->sums, MEASURE_HEAP_LEAKS, nodes[row], blocks);
		measure_add(measuring->sums, MEASURE_HEAP_LEAK_BYTES, nodes[row], bytes);
	}
}

static const struct metric metrics[] = {
	{.command = "heapalloccnt",
	 .title = "Allocations",
	 .aliases = "alloc",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_HEAP_ALLOCS,
	 .description = "blocks of memory allocated",
	 .if_data = true},
	{.command = "heapallocbytes",
	 .title = "Bytes Allocated",
	 .aliases = "balloc",
	 .unit = UNIT_BYTES,
	 .measure = MEASURE_HEAP_BYTES,
	 .description = "bytes of memory allocated",
	 .if_data = true},
	{.command = "heapleakcnt",
	 .title = "Leaks",
	 .aliases = "leak",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_HEAP_LEAKS,
	 .description = "blocks of memory allocated and never freed",
	 .if_data = true},
	{.command = "heapleakbytes",
	 .title = "Bytes Leaked",
	 .aliases = "bleak",
	 .unit = UNIT_BYTES,
	 .measure = MEASURE_HEAP_LEAK_BYTES,
	 .description = "bytes of memory allocated and never freed",
	 .if_data = true},
};

const struct kind heap_kind = {.measure = measure_heap,
			       .square = measure_heap,
			       .metrics = metrics,
			       .metric_count = COUNT(metrics)};
