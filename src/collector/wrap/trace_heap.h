/* SPDX-License-Identifier: Apache-2.0 */
/* What the wrappers of C's and C++'s functions for memory share. */
#ifndef HELIO_COLLECTOR_TRACE_HEAP_H
#define HELIO_COLLECTOR_TRACE_HEAP_H

#include "collector/sources/heap.h"
#include "collector/sources/heap_sample.h"

/*
 * The block that the calling thread allocated last, as heap_hidden tells it: it stays when the call
 * is over, where whoever looks for lost blocks, we and LeakSanitizer, would take it for a pointer
 * of the program's.  Then the one that the thread is about to release.
 */
extern __thread uint64_t heap_newest __attribute__((tls_model("initial-exec")));
extern __thread const void *heap_leaving __attribute__((tls_model("initial-exec")));

static inline uint64_t heap_hidden(const void *block)
{
	return ~(uint64_t)block;
}

/* Before a call of the allocator's: none yet. */
static inline void heap_forget_newest(void)
{
	heap_newest = heap_hidden(NULL);
}

static inline bool heap_is_newest(const void *block)
{
	return heap_newest == heap_hidden(block);
}

static inline bool heap_is_traced(void)
{
	return heap_traces_all || heap_samples;
}

static inline __attribute__((always_inline)) void
heap_note_allocation(enum format_heap_type type, const void *block, size_t size)
{
	heap_newest = heap_hidden(block);
	if (heap_traces_all)
		heap_allocated(type, block, size, __builtin_frame_address(0));
	else if (heap_samples && heap_sample_meets(size))
		heap_sample_allocated(type, block, size);
}

/*
 * What an allocator's function returned, unless it went by way of another that is traced:
 * heap_forget_newest was called before.
 */
static inline __attribute__((always_inline)) void
heap_note_unless_noted(enum format_heap_type type, const void *block, size_t size)
{
	if (!heap_is_newest(block))
		heap_note_allocation(type, block, size);
}

static inline void heap_note_release(const void *block)
{
	if (heap_traces_all)
		heap_released(block);
	else if (heap_samples)
		heap_sample_released(block);
}

#endif
