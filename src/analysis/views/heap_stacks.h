/* SPDX-License-Identifier: Apache-2.0 */
/* What the views of heap tracing share. Private to this module. */
#ifndef HELIO_ANALYSIS_HEAP_STACKS_H
#define HELIO_ANALYSIS_HEAP_STACKS_H

#include "analysis/tree/tally.h"
#include "analysis/views/heaps.h"

/* As view_heap_stacks, of the blocks of one process that were live at a moment. */
void heap_stacks_at(struct tally *tally, const struct query *query,
		    const struct session_process *process, uint64_t moment_ns,
		    struct heap_stacks *stacks);

#endif
