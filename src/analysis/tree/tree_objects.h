/* SPDX-License-Identifier: Apache-2.0 */
/* A call tree as a graph shows it: by one metric, its load objects with what is theirs. */
#ifndef HELIO_ANALYSIS_TREE_OBJECTS_H
#define HELIO_ANALYSIS_TREE_OBJECTS_H

#include "base/hash.h"

#include <stdbool.h>

struct query;
struct row;
struct session;
struct table;
struct tree_part;

/* The tree of one column, the inclusive values of the metric that trees go by; see tree_part. */
void view_graph_tree(struct session *session, const struct query *query,
		     const struct tree_part *part, struct table *table);

struct tree_objects {
	struct string_table names; /* of the load objects' files; "" for none */
	double *own;		   /* by its number: what its functions do themselves */
	uint32_t levels;	   /* of the tree, with <Total> */
};

/* "libc.so.6" of a row; "" where it is of no load object. */
const char *tree_object_name(const struct row *row);
/* The sums of the first column. */
void tree_objects_sum(const struct table *table, bool inverted, struct tree_objects *objects);
/* Their numbers, most of their own first, those with less than `least` left out; to be freed. */
size_t *tree_objects_ordered(const struct tree_objects *objects, double least, size_t *count);
void tree_objects_fini(struct tree_objects *objects);

#endif
