/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of functions, for all processes together.
 *
 * Events are counted per stack node of their process first (a table that mostly
 * fits the cache), then folded into the nodes of this tree, then everything is
 * computed from the weights of the nodes.  A parent's id is smaller than its
 * children's, so a backward pass adds up subtrees.
 *
 * Recursion needs to know, for a node, the nearest ancestor of the same
 * function.  One walk in depth-first order with the current depth of every
 * function gives it, in linear time.
 */
#include "analysis/session.h"

#include <stdlib.h>
#include <string.h>

static uint32_t add_node(struct call_tree *tree, uint32_t parent, uint32_t function)
{
	uint32_t fresh = (uint32_t)tree->nodes.count;
	uint32_t node = hash_map_put(&tree->known, (uint64_t)parent << 32 | function, fresh);

	if (node == fresh)
		*vec_push(&tree->nodes) = (struct tree_node){parent, function};
	return node;
}

void tree_init(struct session *session)
{
	*vec_push(&session->tree.nodes) = (struct tree_node){NODE_ROOT, FUNCTION_TOTAL};
}

static void drop_links(struct call_tree *tree)
{
	free(tree->order);
	free(tree->same);
	free(tree->via);
	tree->order = tree->same = tree->via = NULL;
}

void tree_fini(struct session *session)
{
	vec_fini(&session->tree.nodes);
	hash_map_fini(&session->tree.known);
	drop_links(&session->tree);
	for (size_t i = 0; i < WEIGHT_COUNT; i++)
		free(session->weights[i]);
}

/* The tree node of every stack node. */
static uint32_t *map_nodes(struct session *session, const struct stack_tree *stacks,
			   const uint32_t *functions)
{
	struct call_tree *tree = &session->tree;
	uint32_t *map = xmalloc(stacks->nodes.count * sizeof(*map));

	map[STACK_ROOT] = NODE_ROOT;
	for (size_t i = 1; i < stacks->nodes.count; i++) {
		const struct stack_node *node = &stacks->nodes.items[i];

		map[i] = add_node(tree, map[node->parent], functions[node->location]);
	}
	return map;
}

/* Per state, the weight of every stack node. */
struct stack_counts {
	uint64_t *weights[WEIGHT_COUNT];
	bool seen[WEIGHT_COUNT];
};

static void count_segment(const struct experiment_profile *profile,
			  const struct profile_segment *segment, struct stack_counts *counts)
{
	const struct profile_slab *slab = &profile->slabs.items[segment->slab];

	for (uint32_t row = segment->first; row < segment->first + segment->count; row++)
		counts->weights[slab->state[row]][slab->stack[row]] += slab->weight[row];
}

static void count_first_thread(const struct experiment_profile *profile,
			       const struct profile_segment *segment, struct stack_counts *counts)
{
	const struct profile_slab *slab = &profile->slabs.items[segment->slab];
	uint64_t *weights = counts->weights[WEIGHT_FIRST_THREAD];

	for (uint32_t row = segment->first; row < segment->first + segment->count; row++)
		weights[slab->stack[row]] += slab->weight[row];
}

static void count_events(const struct process *process, uint32_t first_thread,
			 struct stack_counts *counts)
{
	const struct experiment_profile *profile = &process->profile;

	/* untouched pages of zeroed memory cost nothing */
	for (size_t i = 0; i < WEIGHT_COUNT; i++)
		counts->weights[i] = xcalloc(process->stacks.nodes.count, sizeof(uint64_t));
	for (size_t i = 0; i < profile->segments.count; i++) {
		count_segment(profile, &profile->segments.items[i], counts);
		if (profile->segments.items[i].thread == first_thread)
			count_first_thread(profile, &profile->segments.items[i], counts);
	}
	for (size_t i = 0; i < profile->threads.count; i++)
		for (size_t state = 0; state < FORMAT_STATE_COUNT; state++)
			counts->seen[state] |= profile->threads.items[i].state_us[state] > 0;
	counts->seen[WEIGHT_FIRST_THREAD] = first_thread < profile->threads.count;
}

static void grow_weights(struct session *session, size_t old_count)
{
	size_t count = session->tree.nodes.count;

	for (size_t i = 0; i < WEIGHT_COUNT; i++) {
		if (!session->weights[i])
			continue;
		session->weights[i] = xrealloc(session->weights[i], count * sizeof(uint64_t));
		memset(session->weights[i] + old_count, 0, (count - old_count) * sizeof(uint64_t));
	}
}

static void fold(struct session *session, const struct stack_counts *counts, const uint32_t *map,
		 size_t stack_count)
{
	for (size_t i = 0; i < WEIGHT_COUNT; i++) {
		if (!counts->seen[i])
			continue;
		if (i < FORMAT_STATE_COUNT)
			session->states_seen |= 1u << i;
		if (!session->weights[i])
			session->weights[i] = xcalloc(session->tree.nodes.count, sizeof(uint64_t));
		for (size_t node = 0; node < stack_count; node++)
			session->weights[i][map[node]] += counts->weights[i][node];
	}
}

void tree_add_process(struct session *session, const struct process *process,
		      const uint32_t *functions, uint32_t first_thread)
{
	struct stack_counts counts = {0};
	size_t old_count = session->tree.nodes.count;
	uint32_t *map = map_nodes(session, &process->stacks, functions);

	count_events(process, first_thread, &counts);
	/* an event of an empty stack counts for a leaf of its own */
	for (size_t i = 0; i < WEIGHT_COUNT; i++)
		if (counts.weights[i][STACK_ROOT])
			map[STACK_ROOT] = add_node(&session->tree, NODE_ROOT, FUNCTION_NO_STACK);
	grow_weights(session, old_count);
	fold(session, &counts, map, process->stacks.nodes.count);
	for (size_t i = 0; i < WEIGHT_COUNT; i++)
		free(counts.weights[i]);
	free(map);
	drop_links(&session->tree);
}

/* Walks depth first, children in the order of their ids. */
struct walk {
	const struct call_tree *tree;
	uint32_t *child;   /* first child, or NODE_NONE */
	uint32_t *sibling; /* next sibling, or NODE_NONE */
	uint32_t *path;	   /* ancestors of the current node and itself, by depth */
	uint32_t *nearest; /* per group: depth + 1 of its innermost node on the path, or 0 */
	uint32_t *hidden;  /* by depth: what `nearest` was before that node */
};

static uint32_t tree_depth(const struct call_tree *tree)
{
	size_t count = tree->nodes.count;
	uint32_t *depth = xcalloc(count, sizeof(*depth)), deepest = 0;

	for (size_t i = 1; i < count; i++) {
		depth[i] = depth[tree->nodes.items[i].parent] + 1;
		if (depth[i] > deepest)
			deepest = depth[i];
	}
	free(depth);
	return deepest;
}

static void walk_init(struct walk *walk, const struct call_tree *tree, size_t groups)
{
	size_t count = tree->nodes.count;
	size_t depth = tree_depth(tree) + 1;

	walk->tree = tree;
	walk->child = xmalloc(count * sizeof(uint32_t));
	walk->sibling = xmalloc(count * sizeof(uint32_t));
	memset(walk->child, 0xff, count * sizeof(uint32_t));
	walk->sibling[0] = NODE_NONE;
	for (size_t i = count; --i;) {
		uint32_t parent = tree->nodes.items[i].parent;

		walk->sibling[i] = walk->child[parent];
		walk->child[parent] = (uint32_t)i;
	}
	walk->path = xmalloc(depth * sizeof(uint32_t));
	walk->hidden = xmalloc(depth * sizeof(uint32_t));
	walk->nearest = xcalloc(groups, sizeof(uint32_t));
}

static void walk_fini(struct walk *walk)
{
	free(walk->child);
	free(walk->sibling);
	free(walk->path);
	free(walk->nearest);
	free(walk->hidden);
}

static uint32_t group_of(const struct walk *walk, const uint32_t *group, uint32_t node)
{
	uint32_t function = walk->tree->nodes.items[node].function;

	return group ? group[function] : function;
}

/*
 * The walk itself.  visit() gets each node with the depth + 1 of its nearest
 * ancestor of the same group, or 0.  group NULL: every function is its own.
 */
static void walk_run(struct walk *walk, const uint32_t *group,
		     void (*visit)(struct walk *walk, uint32_t node, uint32_t above, void *data),
		     void *data)
{
	uint32_t node = NODE_ROOT, depth = 0;

	for (;;) {
		uint32_t own = group_of(walk, group, node);

		walk->path[depth] = node;
		walk->hidden[depth] = walk->nearest[own];
		visit(walk, node, walk->nearest[own], data);
		walk->nearest[own] = depth + 1;
		if (walk->child[node] != NODE_NONE) {
			node = walk->child[node];
			depth++;
			continue;
		}
		for (;;) { /* leave nodes until one has a sibling */
			walk->nearest[group_of(walk, group, node)] = walk->hidden[depth];
			if (walk->sibling[node] != NODE_NONE)
				break;
			if (!depth--)
				return;
			node = walk->path[depth];
		}
		node = walk->sibling[node];
	}
}

struct link {
	struct call_tree *tree;
	size_t visited;
};

static void visit_link(struct walk *walk, uint32_t node, uint32_t above, void *data)
{
	struct link *link = data;

	link->tree->order[link->visited++] = node;
	link->tree->same[node] = above ? walk->path[above - 1] : NODE_NONE;
	link->tree->via[node] = above ? walk->path[above] : NODE_NONE;
}

void tree_link(struct session *session)
{
	struct call_tree *tree = &session->tree;
	struct link link = {.tree = tree};
	struct walk walk;

	if (tree->order)
		return;
	tree->order = xmalloc(tree->nodes.count * sizeof(uint32_t));
	tree->same = xmalloc(tree->nodes.count * sizeof(uint32_t));
	tree->via = xmalloc(tree->nodes.count * sizeof(uint32_t));
	walk_init(&walk, tree, session->functions.count);
	walk_run(&walk, NULL, visit_link, &link);
	walk_fini(&walk);
}

static void visit_first(struct walk *walk, uint32_t node, uint32_t above, void *data)
{
	bool *first = data;

	(void)walk;
	first[node] = !above;
}

bool *tree_first_of_group(struct session *session, const uint32_t *group, uint32_t group_count)
{
	bool *first = xcalloc(session->tree.nodes.count, sizeof(*first));
	struct walk walk;

	walk_init(&walk, &session->tree, group_count);
	walk_run(&walk, group, visit_first, first);
	walk_fini(&walk);
	return first;
}
