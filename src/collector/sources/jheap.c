/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/jheap.h"

#include "collector/core/time.h"
#include "collector/core/trace.h"
#include "collector/sources/heap_sample.h"
#include "collector/storage/text.h"

uint64_t jheap_interval;

static bool read_param(const char *value)
{
	jheap_interval = text_number(value, NULL);
	return jheap_interval;
}

bool jheap_allocated(uint64_t number, uint64_t size, uint64_t class)
{
	struct thread *thread = trace_enter(TRACE_JHEAP);
	uint64_t random = heap_sample_random(&(uint64_t){number});
	const uint64_t fields[JHEAP_FIELDS] = {
		[JHEAP_NUMBER] = number,
		[JHEAP_SIZE] = size,
		[JHEAP_WEIGHT] = heap_sample_weight(random, size, jheap_interval),
		[JHEAP_CLASS] = class};

	if (!thread)
		return false;
	bool done = trace_event_here(thread, TRACE_JHEAP, JHEAP_ALLOCATED, clock_now_ns(), fields);

	trace_leave(thread);
	return done;
}

void jheap_collected(uint64_t number)
{
	struct thread *thread = trace_enter(TRACE_JHEAP);
	const uint64_t fields[JHEAP_FIELDS] = {[JHEAP_NUMBER] = number};

	if (!thread)
		return;
	trace_event(thread, TRACE_JHEAP, JHEAP_COLLECTED, clock_now_ns(), 0, fields);
	trace_leave(thread);
}

const struct trace_source jheap_source = {.kind = TRACE_JHEAP,
					  .made_late = true,
					  .needs_param = true,
					  .unmade = "the Java heap is not recorded: its file could "
						    "not be made",
					  .read_param = read_param};
