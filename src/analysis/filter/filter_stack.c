/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about the functions, lines or instructions of a call stack.
 *
 * A node of a tree of stacks is the stack of the events that end there; its answer follows from
 * its parent's, which has a smaller number, so one pass forwards answers for all stacks.
 */
#include "analysis/filter/filter_program.h"

#include <stdlib.h>
#include <string.h>

/* A set that holds what any of the sets holds. */
static uint8_t *united(size_t items, uint8_t *const *sets, size_t count)
{
	uint8_t *all = xcalloc(items, 1);

	for (size_t set = 0; set < count; set++)
		for (size_t i = 0; i < items; i++)
			all[i] |= sets[set][i];
	return all;
}

static void match_members(const struct filter_stacks *stacks, enum stack_question question,
			  const uint8_t *set, uint8_t *match)
{
	const struct filter_frame *nodes = stacks->frames;

	match[NODE_ROOT] = question == STACK_IN;
	for (size_t i = 1; i < stacks->count; i++) {
		uint8_t member = set[nodes[i].item], above = match[nodes[i].parent];

		match[i] = question == LEAF_IN	  ? member
			   : question == STACK_IN ? above && member
						  : above || member;
	}
}

/* `bit`: of the items in question at most 64, each a bit of its own, the rest 0. */
static void match_bits(const struct filter_stacks *stacks, const uint64_t *bit, uint64_t all,
		       uint64_t *seen, uint8_t *match)
{
	const struct filter_frame *nodes = stacks->frames;

	seen[NODE_ROOT] = 0;
	for (size_t i = 1; i < stacks->count; i++) {
		seen[i] = seen[nodes[i].parent] | bit[nodes[i].item];
		match[i] &= seen[i] == all;
	}
}

/* All items of the set, 64 at a time. An empty one is on no stack. */
static void match_all(const struct filter_stacks *stacks, const uint8_t *set, uint8_t *match)
{
	uint64_t *seen = xcalloc(stacks->count, sizeof(*seen));
	uint64_t *bit = xcalloc(stacks->items, sizeof(*bit));
	size_t items = stacks->items, members = 0;

	memset(match, 1, stacks->count);
	for (size_t i = 0; i < items;) {
		uint64_t all = 0, next = 1;

		memset(bit, 0, items * sizeof(*bit));
		for (; i < items && next; i++) {
			if (!set[i])
				continue;
			bit[i] = next;
			all |= next;
			next <<= 1;
			members++;
		}
		match_bits(stacks, bit, all, seen, match);
	}
	if (!members)
		memset(match, 0, stacks->count);
	free(bit);
	free(seen);
}

/* Whether the `count` innermost items of a node are one each of the sets, from sets[0] on, or
 * from the last one. */
static bool ends_here(const struct filter_frame *nodes, uint32_t node, uint8_t *const *sets,
		      size_t count)
{
	bool inwards = true, outwards = true;

	for (size_t i = 0; i < count && (inwards || outwards); i++) {
		if (node == NODE_ROOT)
			return false;
		outwards = outwards && sets[i][nodes[node].item];
		inwards = inwards && sets[count - 1 - i][nodes[node].item];
		node = nodes[node].parent;
	}
	return inwards || outwards;
}

const uint8_t *filter_stack_match(const struct filter_stacks *stacks, enum stack_question question,
				  uint8_t *const *sets, size_t count, struct arena *arena)
{
	const struct filter_frame *nodes = stacks->frames;
	uint8_t *match = arena_array(arena, uint8_t, stacks->count);

	if (question == STACK_ORDERED) {
		for (uint32_t i = 1; i < stacks->count; i++)
			match[i] = match[nodes[i].parent] || ends_here(nodes, i, sets, count);
		return match;
	}

	uint8_t *set = united(stacks->items, sets, count);

	if (question == STACK_HAS)
		match_all(stacks, set, match);
	else
		match_members(stacks, question, set, match);
	free(set);
	return match;
}

const uint8_t *filter_function_match(const struct session *session, const struct whole_tree *whole,
				     enum stack_question question, uint8_t *const *sets,
				     size_t count, struct arena *arena)
{
	const struct call_tree *tree = &whole->tree;
	struct filter_stacks stacks = {.count = tree->nodes.count,
				       .items = session->functions.count};
	const uint8_t *match;

	stacks.frames = xmalloc(stacks.count * sizeof(*stacks.frames));
	for (size_t i = 0; i < stacks.count; i++)
		stacks.frames[i] = (struct filter_frame){tree->nodes.items[i].parent,
							 tree->nodes.items[i].function};
	match = filter_stack_match(&stacks, question, sets, count, arena);
	free(stacks.frames);
	return match;
}
