/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks: the call stacks as one tree of (parent, location).
 *
 * Equal nodes of the file become one; a parent's number is always smaller than
 * its children's, so one pass in either direction visits parents first or last.
 */
#ifndef HELIO_EXPERIMENT_STACKS_H
#define HELIO_EXPERIMENT_STACKS_H

#include "base/hash.h"
#include "base/memory.h"
#include "experiment/block.h"
#include "experiment/rows.h"

#define STACK_NO_NODE	  UINT32_MAX
#define STACK_NO_LOCATION UINT32_MAX
#define STACK_EPOCH_MAX	  ((1u << 30) - 1) /* later ones, which only damage makes, are it */

/* An address at a time; see docs/format.md on epochs. pc < FORMAT_PC_LIMIT: a pseudo-function. */
struct __attribute__((packed, aligned(4))) stack_location {
	uint64_t pc;
	uint32_t epoch : 30;
	bool is_trigger : 1; /* of an event that was recorded behind it; never in files */
	bool is_target : 1;  /* likewise: where a branch may have led to, see
				analysis/code/attribution.h */
};

struct stack_node {
	uint32_t parent; /* smaller than the node itself */
	uint32_t location;
};

struct stack_tree {
	bool present;
	bool damaged;
	struct block_counts counts;
	/* 0 is the root, which has no location; 1 is <Unknown>, for what is missing */
	VEC(struct stack_node) nodes;
	VEC(struct stack_location) locations; /* distinct */
	uint32_t *by_id;		      /* id in the file → node, STACK_NO_NODE, */
	size_t id_count;		      /* … until experiment_stacks_forget_ids */
};

#define STACK_ROOT    0u
#define STACK_UNKNOWN 1u

/* What keeps the locations and nodes of a tree distinct while it is made. */
struct stack_builder {
	struct stack_tree *tree;
	struct hash_map epoch_ids; /* epoch → index into pcs */
	VEC(struct pair_set) pcs;  /* per epoch: pc → location */
	struct pair_set nodes;	   /* (parent, location) → node */
};

/* Begins a tree, which must be zero-initialised, with the root and <Unknown>. */
void stack_builder_init(struct stack_builder *builder, struct stack_tree *tree);
uint32_t stack_builder_location(struct stack_builder *builder, uint64_t pc, uint32_t epoch);
/* The node of this parent and location. */
uint32_t stack_builder_node(struct stack_builder *builder, uint32_t parent, uint32_t location);
/* No location will be added: what finds those that are there is let go. */
void stack_builder_forget_locations(struct stack_builder *builder);
void stack_builder_fini(struct stack_builder *builder);

/*
 * Reads stacks; a missing file leaves `present` false, is not reported, and
 * still gives a tree of the root and <Unknown>.
 */
void experiment_stacks_read(struct stack_tree *tree, const struct read_context *context);
/* The node of a stack that is only the pseudo-function `pc` (below FORMAT_PC_LIMIT). */
uint32_t experiment_stacks_stand_in(struct stack_tree *tree, uint64_t pc);
/* The node of an id of the file; STACK_UNKNOWN, and one more in *missing, if it is not there. */
static inline uint32_t experiment_stacks_node(const struct stack_tree *tree, uint32_t id,
					      unsigned long long *missing)
{
	uint32_t node = id;

	if (id)
		node = id < tree->id_count ? tree->by_id[id] : STACK_NO_NODE;
	if (node != STACK_NO_NODE)
		return node;
	++*missing;
	return STACK_UNKNOWN;
}
/*
 * The same of ROW_STACK of all rows; how many were not there.  always: FORMAT_NO_STACK is a stack
 * that was not recorded, not an event that has none.
 */
unsigned long long experiment_stacks_bind(struct stack_tree *tree, struct rows *rows, bool always);
/* Forgets the ids of the file, once all events have their nodes. */
void experiment_stacks_forget_ids(struct stack_tree *tree);
void experiment_stacks_fini(struct stack_tree *tree);

#endif
