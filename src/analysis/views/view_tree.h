/* SPDX-License-Identifier: Apache-2.0 */
/* What the two directions of a call tree share.  Private to this module. */
#ifndef HELIO_ANALYSIS_VIEW_TREE_H
#define HELIO_ANALYSIS_VIEW_TREE_H

#include "analysis/tree/tally.h"

struct table;
struct tree_part;

/* Fills a table whose columns are set. */
void view_inverted_tree(struct tally *tally, const struct query *query,
			const struct tree_part *part, struct table *table);

#endif
