/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who dies is written by another thread than who was born, so the file's order says nothing: first
 * all births go into a table by number, then the deaths are looked up.
 */
#include "experiment/objects.h"

#include "base/hash.h"
#include "experiment/collections.h"

#include <stdlib.h>

/* Rows by the number of their object, open addressing; 0: free, else the row + 1. */
struct births {
	const struct experiment_trace *trace;
	uint32_t *rows;
	size_t mask;
};

static uint32_t *find_birth(const struct births *births, uint64_t number)
{
	size_t at = hash_u64(number) & births->mask;

	while (births->rows[at] &&
	       trace_field(births->trace, JHEAP_NUMBER, births->rows[at] - 1) != number)
		at = (at + 1) & births->mask;
	return &births->rows[at];
}

static void births_init(struct births *births, const struct experiment_trace *trace)
{
	size_t count = trace->rows.count, slots = 64;

	while (slots < 2 * count)
		slots *= 2;
	*births = (struct births){
		.trace = trace, .rows = xcalloc(slots, sizeof(uint32_t)), .mask = slots - 1};
	for (size_t row = 0; row < count; row++)
		if (trace_type(trace, row) == JHEAP_ALLOCATED)
			*find_birth(births, trace_field(trace, JHEAP_NUMBER, row)) =
				(uint32_t)row + 1;
}

static uint64_t last_begin(const struct collections *collections)
{
	size_t count = collections->list.count;

	return count ? collections->list.items[count - 1].begin_ns : 0;
}

void experiment_objects_match(struct experiment_objects *objects,
			      const struct experiment_trace *trace,
			      const struct collections *collections)
{
	size_t count = trace->rows.count;
	uint64_t looked_ns = last_begin(collections);
	struct births births;

	*objects = (struct experiment_objects){0};
	if (!count || count >= UINT32_MAX)
		return;
	objects->fate = xcalloc(count, sizeof(*objects->fate));
	births_init(&births, trace);
	for (size_t row = 0; row < count; row++)
		if (trace_type(trace, row) == JHEAP_ALLOCATED)
			objects->fate[row] =
				trace_time(trace, row) < looked_ns ? OBJECT_KEPT : OBJECT_NEW;
	for (size_t row = 0; row < count; row++) {
		if (trace_type(trace, row) != JHEAP_COLLECTED)
			continue;
		uint32_t birth = *find_birth(&births, trace_field(trace, JHEAP_NUMBER, row));

		if (birth)
			objects->fate[birth - 1] = OBJECT_COLLECTED;
		else
			objects->unmatched++;
	}
	free(births.rows);
}

void experiment_objects_fini(struct experiment_objects *objects)
{
	free(objects->fate);
	*objects = (struct experiment_objects){0};
}
