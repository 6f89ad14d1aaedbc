/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracing of allocations and releases of memory; the wrapped calls are in wrap/trace_heap.c.
 *
 * A release is recorded before it happens and an allocation after: what another thread gets
 * of the memory in between lies between them in time too.  Blocks are known by address, so
 * nothing is kept here of the blocks that there are: whoever reads the experiment matches
 * them up.
 */
#ifndef HELIO_COLLECTOR_HEAP_H
#define HELIO_COLLECTOR_HEAP_H

#include "collector/core/trace.h"

/* Every call is to be recorded, or a sample of them; neither: -H is off. */
extern bool heap_traces_all, heap_samples;

/* Before the release of a block; NULL is none. */
void heap_released(const void *block);
/* After an allocation; NULL: it failed.  frame: __builtin_frame_address(0) of the function that the
 * program called. */
void heap_allocated(enum format_heap_type type, const void *block, size_t size, const void *frame);
/* After a realloc that was begun at begin_ns and did not fail. */
void heap_reallocated(const void *old, uint64_t begin_ns, const void *block, size_t size);
/* After a call that changes mappings; fields as in format/kind_heap.h. */
void heap_mapped(enum format_heap_type type, uint64_t address, size_t size, uint64_t old);

#endif
