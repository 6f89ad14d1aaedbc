/* SPDX-License-Identifier: Apache-2.0 */
/* The call tree, from the root down or from the leaves up. */
#ifndef HELIO_ANALYSIS_VIEW_CALL_TREE_H
#define HELIO_ANALYSIS_VIEW_CALL_TREE_H

#include "analysis/views/table.h"

/* The part of a call tree to show; zeroed: all of it, from <Total> down to the leaves. */
struct tree_part {
	/*
	 * From the leaves up: the children of <Total> are the functions with their exclusive
	 * metrics, the children of a function its callers.  An event counts once at each level.
	 */
	bool inverted;
	bool hottest;	/* only the most expensive branch is followed to its end */
	uint32_t depth; /* levels below <Total>; 0: all */
	double percent; /* of the total of the sort metric: what is less is left out */
	size_t most;	/* inverted: rows; percent grows until there are no more; 0: any number
			 */
};
/* The metric that percent and hottest go by. */
const struct metric *tree_part_metric(const struct query *query);
/*
 * Rows in display order, a child after its parent, siblings by the sort metric; part NULL:
 * all.  Where the sort metric is static, `percent` and `hottest` go by the first that is not.
 */
void view_call_tree(struct session *session, const struct query *query,
		    const struct tree_part *part, struct table *table);

#endif
