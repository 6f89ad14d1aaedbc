/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/heap.h"

#include "collector/core/stamp.h"

bool heap_traces_all, heap_samples;

void heap_released(const void *block)
{
	struct thread *thread = block ? trace_enter(TRACE_HEAP) : NULL;
	const uint64_t fields[HEAP_FIELDS] = {[HEAP_ADDRESS] = (uint64_t)block};

	if (!thread)
		return;
	trace_event(thread, TRACE_HEAP, HEAP_FREE, stamp_in_order(thread), 0, fields);
	trace_leave(thread);
}

void heap_allocated(enum format_heap_type type, const void *block, size_t size, const void *frame)
{
	struct thread *thread = block ? trace_enter(TRACE_HEAP) : NULL;
	const uint64_t fields[HEAP_FIELDS] = {[HEAP_ADDRESS] = (uint64_t)block, [HEAP_SIZE] = size};

	if (!thread)
		return;
	trace_event_above(thread, TRACE_HEAP, type, stamp_in_order(thread), frame, fields);
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
		trace_event_here(thread, TRACE_HEAP, HEAP_REALLOC, stamp_in_order(thread), fields);
	trace_leave(thread);
}

void heap_mapped(enum format_heap_type type, uint64_t address, size_t size, uint64_t old)
{
	const uint64_t fields[HEAP_FIELDS] = {
		[HEAP_ADDRESS] = address, [HEAP_SIZE] = size, [HEAP_OLD] = old};

	struct thread *thread = trace_enter(TRACE_HEAP);

	if (!thread)
		return;
	trace_event_here(thread, TRACE_HEAP, type, stamp_in_order(thread), fields);
	trace_leave(thread);
}
