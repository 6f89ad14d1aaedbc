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

/* When the block of a row was there. */
static struct block_span span_of(const struct block_index *index, uint32_t row)
{
	const struct experiment_trace *heap = &index->process->traces[TRACE_HEAP];
	uint32_t until = index->process->heap.until[row];

	return (struct block_span){.row = row,
				   .begin_ns = trace_time(heap, row),
				   .end_ns = until == HEAP_NEVER ? UINT64_MAX
								 : trace_time(heap, until)};
}

/* How many blocks begin at or below the address. */
static size_t count_below(const struct block_index *index, uint64_t address)
{
	const struct experiment_trace *heap = &index->process->traces[TRACE_HEAP];
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (trace_field(heap, HEAP_ADDRESS, index->rows[middle]) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct block_span block_index_find(const struct block_index *index, uint64_t address,
				   uint64_t time_ns)
{
	const struct experiment_trace *heap = &index->process->traces[TRACE_HEAP];
	const struct block_span none_now = {BLOCK_NONE, time_ns, time_ns};
	bool is_ever_held = false;

	for (size_t at = count_below(index, address), walked = 0; at--; walked++) {
		uint32_t row = index->rows[at];
		uint64_t offset = address - trace_field(heap, HEAP_ADDRESS, row);

		if (offset >= index->largest)
			break;
		if (walked == WALK_MAX)
			return none_now;
		if (offset >= trace_field(heap, HEAP_SIZE, row))
			continue;

		struct block_span span = span_of(index, row);

		if (span.begin_ns <= time_ns && time_ns <= span.end_ns)
			return span;
		is_ever_held = true;
	}
	return is_ever_held ? none_now : (struct block_span){BLOCK_NONE, 0, UINT64_MAX};
}
