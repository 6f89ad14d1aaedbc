/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about the functions of a call stack.
 *
 * A node of the call tree is the stack of the events that end there; its answer follows from its
 * parent's, which has a smaller number, so one pass forwards answers for all stacks.
 */
#include "analysis/filter_program.h"

#include <stdlib.h>
#include <string.h>

/* A set that holds what any of the sets holds. */
static uint8_t *united(const struct session *session, uint8_t *const *sets, size_t count)
{
	uint8_t *all = xcalloc(session->functions.count, 1);

	for (size_t set = 0; set < count; set++)
		for (size_t i = 0; i < session->functions.count; i++)
			all[i] |= sets[set][i];
	return all;
}

static void match_members(const struct session *session, enum stack_question question,
			  const uint8_t *set, uint8_t *match)
{
	const struct tree_node *nodes = tree_whole(session)->nodes.items;

	match[NODE_ROOT] = question == STACK_IN;
	for (size_t i = 1; i < tree_whole(session)->nodes.count; i++) {
		uint8_t member = set[nodes[i].function], above = match[nodes[i].parent];

		match[i] = question == LEAF_IN	  ? member
			   : question == STACK_IN ? above && member
						  : above || member;
	}
}

/* `bit`: of the functions in question at most 64, each a bit of its own, the rest 0. */
static void match_bits(const struct session *session, const uint64_t *bit, uint64_t all,
		       uint64_t *seen, uint8_t *match)
{
	const struct tree_node *nodes = tree_whole(session)->nodes.items;

	seen[NODE_ROOT] = 0;
	for (size_t i = 1; i < tree_whole(session)->nodes.count; i++) {
		seen[i] = seen[nodes[i].parent] | bit[nodes[i].function];
		match[i] &= seen[i] == all;
	}
}

/* All functions of the set, 64 at a time. An empty one is on no stack. */
static void match_all(const struct session *session, const uint8_t *set, uint8_t *match)
{
	uint64_t *seen = xcalloc(tree_whole(session)->nodes.count, sizeof(*seen));
	uint64_t *bit = xcalloc(session->functions.count, sizeof(*bit));
	size_t functions = session->functions.count, members = 0;

	memset(match, 1, tree_whole(session)->nodes.count);
	for (size_t i = 0; i < functions;) {
		uint64_t all = 0, next = 1;

		memset(bit, 0, functions * sizeof(*bit));
		for (; i < functions && next; i++) {
			if (!set[i])
				continue;
			bit[i] = next;
			all |= next;
			next <<= 1;
			members++;
		}
		match_bits(session, bit, all, seen, match);
	}
	if (!members)
		memset(match, 0, tree_whole(session)->nodes.count);
	free(bit);
	free(seen);
}

/* Whether the `count` innermost functions of a node are one each of the sets, from sets[0] on, or
 * from the last one. */
static bool ends_here(const struct tree_node *nodes, uint32_t node, uint8_t *const *sets,
		      size_t count)
{
	bool inwards = true, outwards = true;

	for (size_t i = 0; i < count && (inwards || outwards); i++) {
		if (node == NODE_ROOT)
			return false;
		outwards = outwards && sets[i][nodes[node].function];
		inwards = inwards && sets[count - 1 - i][nodes[node].function];
		node = nodes[node].parent;
	}
	return inwards || outwards;
}

const uint8_t *filter_stack_match(const struct session *session, enum stack_question question,
				  uint8_t *const *sets, size_t count, struct arena *arena)
{
	const struct tree_node *nodes = tree_whole(session)->nodes.items;
	uint8_t *match = arena_array(arena, uint8_t, tree_whole(session)->nodes.count);

	if (question == STACK_ORDERED) {
		for (uint32_t i = 1; i < tree_whole(session)->nodes.count; i++)
			match[i] = match[nodes[i].parent] || ends_here(nodes, i, sets, count);
		return match;
	}

	uint8_t *set = united(session, sets, count);

	if (question == STACK_HAS)
		match_all(session, set, match);
	else
		match_members(session, question, set, match);
	free(set);
	return match;
}
