/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/heap.h"

#include "collector/core/control.h"
#include "collector/core/stamp.h"
#include "collector/core/text.h"
#include "collector/sources/heap_sample.h"
#include "collector/sources/heap_search.h"

bool heap_traces_all, heap_samples;

static uint64_t sample_mean; /* bytes */
static bool searches;	     /* for lost blocks, at the end */
static bool begun_before;    /* a recording began in this process image, or in its parent */

static bool read_param(const char *value)
{
	heap_traces_all = text_starts(value, "all");
	sample_mean = heap_traces_all ? 0 : text_number(value, NULL);
	searches = heap_traces_all && !text_starts(value, "all,noscan");
	return heap_traces_all || sample_mean;
}

/* The child of a fork has blocks of its parent that it knows nothing of. */
static void begin(void)
{
	stamp_begin();
	heap_samples = sample_mean && heap_sample_begin(sample_mean);
	searches &= !begun_before;
	begun_before = true;
}

static void finish(void)
{
	bool whole = control_always_ran() && !collector.partial && !collector.window_end_ns &&
		     !collector.window_start_ns && !atomic_load(&collector.dropped);

	if (searches && whole)
		heap_search();
}

const struct trace_source heap_source = {
	.kind = TRACE_HEAP, .read_param = read_param, .begin = begin, .finish = finish};

void heap_released(const void *block)
{
	struct thread *thread = block ? trace_enter(TRACE_HEAP) : NULL;
	const uint64_t fields[HEAP_FIELDS] = {[HEAP_ADDRESS] = (uint64_t)block};

	if (!thread)
		return;
	trace_event(thread, TRACE_HEAP, HEAP_FREE, stamp_now(), 0, fields);
	trace_leave(thread);
}

void heap_allocated(enum format_heap_type type, const void *block, size_t size, const void *frame)
{
	struct thread *thread = block ? trace_enter(TRACE_HEAP) : NULL;
	const uint64_t fields[HEAP_FIELDS] = {[HEAP_ADDRESS] = (uint64_t)block, [HEAP_SIZE] = size};

	if (!thread)
		return;
	trace_event_above(thread, TRACE_HEAP, type, stamp_now(), frame, fields);
	trace_leave(thread);
}

void heap_reallocated(const void *old, uint64_t begin_ns, const void *block, size_t size)
{
	const uint64_t released[HEAP_FIELDS] = {[HEAP_ADDRESS] = (uint64_t)old};
	const uint64_t fields[HEAP_FIELDS] = {
		[HEAP_ADDRESS] = (uint64_t)block, [HEAP_SIZE] = size, [HEAP_OLD] = (uint64_t)old};
	struct thread *thread = trace_enter(TRACE_HEAP);

	if (!thread)
		return;
	if (old && old != block)
		trace_event(thread, TRACE_HEAP, HEAP_FREE, begin_ns, 0, released);
	if (block)
		trace_event_here(thread, TRACE_HEAP, HEAP_REALLOC, stamp_now(), fields);
	trace_leave(thread);
}

void heap_mapped(enum format_heap_type type, uint64_t address, size_t size, uint64_t old)
{
	const uint64_t fields[HEAP_FIELDS] = {
		[HEAP_ADDRESS] = address, [HEAP_SIZE] = size, [HEAP_OLD] = old};

	struct thread *thread = trace_enter(TRACE_HEAP);

	if (!thread)
		return;
	trace_event_here(thread, TRACE_HEAP, type, stamp_now(), fields);
	trace_leave(thread);
}
