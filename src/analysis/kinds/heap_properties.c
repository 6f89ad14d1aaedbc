/* SPDX-License-Identifier: Apache-2.0 */
/* Heap tracing: the properties of its events. */
#include "analysis/filter/filter_property.h"

#include <string.h>

static void load_heap_type(const struct filter_rows *rows, struct filter_slot *slot)
{
	static const uint8_t number[HEAP_TYPES] = {
		[HEAP_MALLOC] = 0,  [HEAP_CALLOC] = 0, [HEAP_ALIGNED] = 0,  [HEAP_FREE] = 1,
		[HEAP_REALLOC] = 2, [HEAP_MMAP] = 3,   [HEAP_MUNMAP] = 4,   [HEAP_MREMAP] = 5,
		[HEAP_BRK] = 6,	    [HEAP_LOST] = 7,   [HEAP_SEARCHED] = 8,
	};

	const uint64_t *types = event_column(rows->run, ROW_TYPE);

	EACH_ROW slot->value[i] = number[types[i]];
}

/* The size of a block that was never released, or that was; 0 for the others. */
static void load_fate(const struct filter_rows *rows, struct filter_slot *slot, bool left)
{
	const struct event_run *run = rows->run;
	const uint8_t *fate = rows->process->process->heap.fate + run->first;
	const uint64_t *sizes = event_field(run, HEAP_SIZE);

	EACH_ROW
	{
		bool fits = left ? fate[i] >= HEAP_FATE_LEFT
				 : fate[i] == HEAP_FATE_RELEASED || fate[i] == HEAP_FATE_TEMPORARY;

		slot->value[i] = fits ? sizes[i] : 0;
	}
}

static void load_leaked(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_fate(rows, slot, true);
}

static void load_freed(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_fate(rows, slot, false);
}

static void load_heap_address(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, HEAP_ADDRESS);
}

static void load_old_address(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, HEAP_OLD);
}

static void prepare_course(struct session *session)
{
	for (size_t i = 0; i < session->scanned.count; i++) {
		struct session_process *process = &session->scanned.items[i];

		if (!process->heap_course.live)
			experiment_heap_course(&process->process->heap,
					       &process->process->traces[TRACE_HEAP],
					       &process->heap_course);
	}
}

static void load_column(const struct filter_rows *rows, struct filter_slot *slot,
			const uint64_t *column)
{
	memcpy(slot->value, column + rows->run->first, rows->run->count * sizeof(*slot->value));
}

static void load_live(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_column(rows, slot, rows->process->heap_course.live);
}

static void load_change(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_column(rows, slot, rows->process->heap_course.change);
}

static void load_left(const struct filter_rows *rows, struct filter_slot *slot)
{
	load_column(rows, slot, rows->process->heap_course.left);
}

static void load_size(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, HEAP_SIZE);
}

static const struct filter_property properties[] = {
	FILTER_PROPERTY(
		"HTYPE",
		"0 allocation, 1 free, 2 realloc, 3 mmap, 4 munmap, 5 mremap, 6 brk; 7, 8: leak "
		"search",
		"heap", FILTER_HEAP, load_heap_type),
	FILTER_PROPERTY("HSIZE", "bytes", "heap", FILTER_HEAP, load_size),
	FILTER_PROPERTY("HVADDR", "address of the block", "heap", FILTER_HEAP, load_heap_address),
	FILTER_PROPERTY("HOVADDR", "address of the block that it was before", "heap", FILTER_HEAP,
			load_old_address),
	FILTER_PROPERTY("HLEAKED", "bytes, if the block was never released, else 0", "heap",
			FILTER_HEAP, load_leaked),
	FILTER_PROPERTY("HFREED", "bytes, if the block was released, else 0", "heap", FILTER_HEAP,
			load_freed),
	FILTER_PROPERTY("HMEM_USAGE", "bytes that the process had in use after the event", "heap",
			FILTER_HEAP, load_live, .prepare = prepare_course),
	FILTER_PROPERTY("HCUR_ALLOCS", "the same", "heap", FILTER_HEAP, load_live,
			.prepare = prepare_course),
	FILTER_PROPERTY("HCUR_NET_ALLOC",
			"by how much the event changed them; below 0: 0 - what was freed", "heap",
			FILTER_HEAP, load_change, .prepare = prepare_course),
	FILTER_PROPERTY("HCUR_LEAKS", "bytes allocated up to then that were never released", "heap",
			FILTER_HEAP, load_left, .prepare = prepare_course),
};

const struct filter_properties heap_properties = FILTER_PROPERTIES(properties);
