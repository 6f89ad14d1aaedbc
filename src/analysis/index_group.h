/* SPDX-License-Identifier: Apache-2.0 */
/* Events grouped by a value: the engine of index objects. Private to this room. */
#ifndef HELIO_ANALYSIS_INDEX_GROUP_H
#define HELIO_ANALYSIS_INDEX_GROUP_H

#include "analysis/filter_program.h"

#define INDEX_UNKNOWN UINT64_MAX

struct index_groups {
	uint64_t *values; /* ascending: INDEX_UNKNOWN is the last */
	size_t count;
	struct measure_sums sums; /* by group */
};

void index_group(const struct session *session, const struct filter_program *program,
		 struct index_groups *groups);
void index_groups_fini(struct index_groups *groups);

#endif
