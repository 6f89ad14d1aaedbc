/* SPDX-License-Identifier: Apache-2.0 */
/* Which traced block of memory an address was in, and when. Private to this module. */
#ifndef HELIO_ANALYSIS_BLOCK_INDEX_H
#define HELIO_ANALYSIS_BLOCK_INDEX_H

#include "experiment/experiment.h"

/* Of one process. Zero-initialised is of none. */
struct block_index {
	const struct process *process;
	uint32_t *rows; /* allocations of the heap trace, by address, then by time */
	size_t count;
	uint64_t largest; /* bytes of the largest */
};

#define BLOCK_NONE UINT32_MAX

/* The block that holds an address, and from when until when at least: the end is not among it. */
struct block_span {
	uint32_t row; /* of the allocation; BLOCK_NONE: no block does */
	uint64_t begin_ns, end_ns;
};

void block_index_build(struct block_index *index, const struct process *process);
void block_index_fini(struct block_index *index);
/* The block that held the address at that time. */
struct block_span block_index_find(const struct block_index *index, uint64_t address,
				   uint64_t time_ns);

#endif
