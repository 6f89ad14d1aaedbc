/* SPDX-License-Identifier: Apache-2.0 */
/* Which traced mapping (mmap, mremap, brk) an address was in, and when. Private to this module. */
#ifndef HELIO_ANALYSIS_MAPPING_INDEX_H
#define HELIO_ANALYSIS_MAPPING_INDEX_H

#include "base/memory.h"
#include "experiment/experiment.h"

/* Memory [begin, end) that one call mapped and that was there for a while. */
struct mapping_piece {
	uint64_t begin, end;
	uint64_t from_ns, until_ns;
	uint32_t row; /* of the call, in the heap trace */
	bool is_break;
};
struct mapping_list {
	struct mapping_piece *items;
	size_t count, capacity;
};

/* Of one process. Zero-initialised is of none. */
struct mapping_index {
	struct mapping_list pieces; /* by begin */
	uint64_t largest;	    /* bytes of the largest */
};

void mapping_index_build(struct mapping_index *index, const struct process *process);
void mapping_index_fini(struct mapping_index *index);
/* The piece that held an address at that time, or NULL. */
const struct mapping_piece *mapping_index_find(const struct mapping_index *index, uint64_t address,
					       uint64_t time_ns);

#endif
