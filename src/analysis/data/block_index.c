/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that live at one time do not overlap, but those of different times do: a search goes
 * back from the last block that begins at or below the address, no further than the
 * largest block reaches, nor than WALK_MAX blocks.
 */
#include "analysis/data/block_index.h"

#include <stdlib.h>

enum { WALK_MAX = 100000 };

static int compare_rows(const void *a, const void *b, void *trace)
{
	const struct experiment_trace *heap = trace;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t at_x = trace_field(heap, HEAP_ADDRESS, x),
		 at_y = trace_field(heap, HEAP_ADDRESS, y);

	if (at_x != at_y)
		return at_x < at_y ? -1 : 1;
	at_x = trace_time(heap, x);
	at_y = trace_time(heap, y);
	return at_x < at_y ? -1 : at_x > at_y;
}

void block_index_build(struct block_index *index, const struct process *process)
{
	const struct experiment_trace *heap = &process->traces[TRACE_HEAP];

	*index = (struct block_index){.process = process};
	if (!process->heap.fate || heap->rows.count >= BLOCK_NONE)
		return;
	index->rows = xmalloc(heap->rows.count * sizeof(*index->rows));
	for (uint32_t row = 0; row < heap->rows.count; row++) {
		if (process->heap.fate[row] == HEAP_FATE_NONE)
			continue;
		index->rows[index->count++] = row;
		if (trace_field(heap, HEAP_SIZE, row) > index->largest)
			index->largest = trace_field(heap, HEAP_SIZE, row);
	}
	qsort_r(index->rows, index->count, sizeof(*index->rows), compare_rows, (void *)heap);
}

void block_index_fini(struct block_index *index)
{
	free(index->rows);
	*index = (struct block_index){0};
}

bool block_index_holds(const struct block_index *index, uint32_t row, uint64_t address,
		       uint64_t time_ns)
{
	const struct experiment_trace *heap = &index->process->traces[TRACE_HEAP];
	uint32_t until = index->process->heap.until[row];

	return address - trace_field(heap, HEAP_ADDRESS, row) < trace_field(heap, HEAP_SIZE, row) &&
	       trace_time(heap, row) <= time_ns &&
	       (until == HEAP_NEVER || time_ns <= trace_time(heap, until));
}

uint32_t block_index_find(const struct block_index *index, uint64_t address, uint64_t time_ns)
{
	const struct experiment_trace *heap = &index->process->traces[TRACE_HEAP];
	size_t low = 0, high = index->count; /* blocks before low begin at or below the address */

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (trace_field(heap, HEAP_ADDRESS, index->rows[middle]) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t walked = 0; low-- && walked < WALK_MAX; walked++) {
		if (address - trace_field(heap, HEAP_ADDRESS, index->rows[low]) >= index->largest)
			break;
		if (block_index_holds(index, index->rows[low], address, time_ns))
			return index->rows[low];
	}
	return BLOCK_NONE;
}
