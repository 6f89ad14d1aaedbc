/* SPDX-License-Identifier: Apache-2.0 */
/* Call trees as they lie in memory.  Private to this module. */
#ifndef HELIO_ANALYSIS_CALL_TREE_H
#define HELIO_ANALYSIS_CALL_TREE_H

#include "analysis/metric/measure.h"
#include "analysis/session/view_mode.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>

#define NODE_NONE UINT32_MAX
#define NODE_ROOT 0u

struct tree_node {
	uint32_t parent; /* smaller than the node itself */
	uint32_t function;
};

struct call_tree {
	VEC(struct tree_node) nodes; /* 0 is the root, <Total> */
	struct pair_set known;	     /* (parent, function) → node */
	/* computed together when first needed, see tree.c */
	uint32_t *same; /* nearest ancestor of the same function, or NODE_NONE */
	uint32_t *via;	/* child of same[n] on the way to n, or NODE_NONE */
};

/* The call stacks of all processes, in which every function stands for itself. */
struct whole_tree {
	bool is_made;
	enum view_mode mode;
	bool inlines;  /* inlined functions are calls */
	bool is_plain; /* … but there are none: empty, the other tree is the same */
	struct call_tree tree;
	VEC(uint32_t *) nodes; /* by process: the tree node of every node that its events have */
	struct kept_sums kept; /* their sums, of a session that has no events */
};

#endif
