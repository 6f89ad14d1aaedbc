/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/heap.h"

#include "collector/core/text.h"
#include "collector/sources/clock.h"

bool heap_traces_all, heap_samples;

static bool read_param(const char *value)
{
	heap_traces_all = text_starts(value, "all");
	heap_samples = !heap_traces_all && text_number(value, NULL);
	return heap_traces_all || heap_samples;
}

const struct trace_source heap_source = {.kind = TRACE_HEAP, .read_param = read_param};

static void record(struct thread *thread, enum format_heap_type type, uint64_t time_ns,
		   uint32_t stack, const uint64_t *fields)
{
	trace_event(thread, TRACE_HEAP, type, time_ns, stack, fields);
}

static void record_release(struct thread *thread, const void *block, uint64_t time_ns)
{
	const uint64_t fields[HEAP_FIELDS] = {[HEAP_ADDRESS] = (uint64_t)block};

	record(thread, HEAP_FREE, time_ns, 0, fields);
}

void heap_released(const void *block)
{
	struct thread *thread = block ? trace_enter(TRACE_HEAP) : NULL;

	if (!thread)
		return;
	record_release(thread, block, clock_now_ns());
	trace_leave(thread);
}

void heap_allocated(enum format_heap_type type, const void *block, size_t size)
{
	struct thread *thread = block ? trace_enter(TRACE_HEAP) : NULL;
	const uint64_t fields[HEAP_FIELDS] = {[HEAP_ADDRESS] = (uint64_t)block, [HEAP_SIZE] = size};

	if (!thread)
		return;
	record(thread, type, clock_now_ns(), trace_stack(thread), fields);
	trace_leave(thread);
}

void heap_reallocated(const void *old, uint64_t begin_ns, const void *block, size_t size)
{
	struct thread *thread = trace_enter(TRACE_HEAP);
	const uint64_t fields[HEAP_FIELDS] = {
		[HEAP_ADDRESS] = (uint64_t)block, [HEAP_SIZE] = size, [HEAP_OLD] = (uint64_t)old};

	if (!thread)
		return;
	if (old && old != block)
		record_release(thread, old, begin_ns);
	if (block)
		record(thread, HEAP_REALLOC, clock_now_ns(), trace_stack(thread), fields);
	trace_leave(thread);
}

void heap_mapped(enum format_heap_type type, uint64_t address, size_t size, uint64_t old)
{
	struct thread *thread = trace_enter(TRACE_HEAP);
	const uint64_t fields[HEAP_FIELDS] = {
		[HEAP_ADDRESS] = address, [HEAP_SIZE] = size, [HEAP_OLD] = old};

	if (!thread)
		return;
	record(thread, type, clock_now_ns(), trace_stack(thread), fields);
	trace_leave(thread);
}
