/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of functions, for all processes together.
 *
 * A parent's id is smaller than its children's, so a backward pass adds up subtrees.
 *
 * Recursion needs to know, for a node, the nearest ancestor of the same
 * function.  One walk in depth-first order with the current depth of every
 * function gives it, in linear time.
 */
#include "analysis/tree/tree.h"

#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/frames.h"
#include "analysis/tree/plt_calls.h"

#include <stdlib.h>
#include <string.h>

uint32_t tree_add_node(struct call_tree *tree, uint32_t parent, uint32_t function)
{
	uint32_t fresh = (uint32_t)tree->nodes.count;
	uint32_t node = pair_set_put(&tree->known, tree->nodes.items, parent, function, fresh);

	if (node == fresh)
		*vec_push(&tree->nodes) = (struct tree_node){parent, function};
	return node;
}

void tree_init(struct call_tree *tree)
{
	*vec_push(&tree->nodes) = (struct tree_node){NODE_ROOT, FUNCTION_TOTAL};
}

void trees_init(struct session *session)
{
	for (int mode = 0; mode < VIEW_MODES; mode++)
		for (int inlines = 0; inlines < 2; inlines++) {
			session->trees[mode][inlines].mode = (enum view_mode)mode;
			session->trees[mode][inlines].inlines = inlines;
		}
	session->trees[VIEW_USER][false].is_made = true; /* as the experiments are opened */
	tree_init(&session->trees[VIEW_USER][false].tree);
}

static void drop_links(struct call_tree *tree)
{
	free(tree->same);
	free(tree->via);
	tree->same = tree->via = NULL;
}

void call_tree_fini(struct call_tree *tree)
{
	vec_fini(&tree->nodes);
	pair_set_fini(&tree->known);
	drop_links(tree);
}

static void empty_tree(struct whole_tree *whole)
{
	call_tree_fini(&whole->tree);
	for (size_t i = 0; i < whole->nodes.count; i++)
		free(whole->nodes.items[i]);
	vec_fini(&whole->nodes);
}

void trees_fini(struct session *session)
{
	for (int mode = 0; mode < VIEW_MODES; mode++)
		for (int inlines = 0; inlines < 2; inlines++)
			empty_tree(&session->trees[mode][inlines]);
}

static uint32_t add_frames(struct call_tree *tree, uint32_t node, const struct frames *frames,
			   uint32_t location)
{
	if (frames->single)
		return tree_add_node(tree, node, frames->single[location]);

	uint32_t i = frames->first.items[location];

	if (frames->outlined.items[location] &&
	    tree->nodes.items[node].function == frames->functions.items[i])
		i++;
	for (; i < frames->first.items[location + 1]; i++)
		node = tree_add_node(tree, node, frames->functions.items[i]);
	return node;
}

/* A call of @plt in the load object of a node's function. */
static uint32_t add_binding(struct session *session, struct call_tree *tree, uint32_t caller)
{
	uint32_t function = tree->nodes.items[caller].function;
	uint32_t object = session->functions.items[function].object;

	return tree_add_node(tree, caller, symbols_linkage(session, object));
}

void tree_settle(struct call_tree *tree)
{
	pair_set_fini(&tree->known);
	tree->nodes.capacity = tree->nodes.count;
	tree->nodes.items =
		xrealloc(tree->nodes.items, tree->nodes.count * sizeof(*tree->nodes.items));
}

/* What a node of a process's stacks is in the tree. */
enum role { ROLE_CALL, ROLE_SLOT, ROLE_BINDING };

/* … of every location, where it has a caller that is a call; the caller frees the array. */
static uint8_t *find_roles(const struct session *session, const struct frames *frames, size_t count)
{
	uint8_t *roles = xmalloc(count + 1);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t function = frames_physical(frames, i);

		roles[i] = plt_calls_is_slot(session, function)	     ? ROLE_SLOT
			   : plt_calls_is_binding(session, function) ? ROLE_BINDING
								     : ROLE_CALL;
	}
	return roles;
}

/*
 * The nodes of the stacks that a mode shows, parents of such among them; NULL: all.  The caller
 * frees the array.
 */
static bool *find_wanted(const struct session_process *process, enum view_mode mode)
{
	const struct stack_tree *stacks = &process->process->stacks;
	const uint32_t *shown = process->shown[mode];
	bool *wanted = shown ? xcalloc(stacks->nodes.count, sizeof(*wanted)) : NULL;

	for (size_t i = 0; shown && i < stacks->nodes.count; i++)
		wanted[shown[i]] = true;
	for (size_t i = stacks->nodes.count; shown && --i;)
		wanted[stacks->nodes.items[i].parent] |= wanted[i];
	return wanted;
}

/* The tree nodes of the nodes that are wanted. */
static void add_stacks(struct session *session, struct call_tree *tree,
		       const struct stack_tree *stacks, const struct frames *frames,
		       const bool *wanted, uint32_t *map)
{
	uint8_t *roles = xcalloc(stacks->nodes.count, sizeof(*roles)); /* ROLE_CALL */
	uint8_t *by_location = find_roles(session, frames, stacks->locations.count);

	for (size_t i = 1; i < stacks->nodes.count; i++) {
		const struct stack_node *node = &stacks->nodes.items[i];
		enum role caller = roles[node->parent];

		map[i] = map[node->parent];
		if (wanted && !wanted[i])
			continue;
		if (caller == ROLE_BINDING)
			roles[i] = ROLE_BINDING;
		else if (node->parent != STACK_ROOT)
			roles[i] = by_location[node->location];
		if (roles[i] == ROLE_CALL)
			map[i] = add_frames(tree, map[i], frames, node->location);
		else if (roles[i] == ROLE_BINDING && caller != ROLE_BINDING)
			map[i] = add_binding(session, tree, map[i]);
	}
	free(by_location);
	free(roles);
}

void tree_add_process(struct session *session, struct whole_tree *whole,
		      const struct experiment *experiment, const struct session_process *process)
{
	struct call_tree *tree = &whole->tree;
	const struct stack_tree *stacks = &process->process->stacks;
	uint32_t *map = xmalloc(stacks->nodes.count * sizeof(*map));
	uint32_t *shown = process->shown[whole->mode];
	bool *wanted = find_wanted(process, whole->mode);
	struct frames frames;

	frames_find(session, whole->inlines, experiment, process->process, &frames);
	pair_set_reserve(&tree->known, tree->nodes.items, stacks->nodes.count);
	map[STACK_ROOT] = NODE_ROOT;
	add_stacks(session, tree, stacks, &frames, wanted, map);
	/* an event of an empty stack counts for a leaf of its own */
	/* What has no event here is met first elsewhere. */
	if (!process->process->is_elsewhere)
		map[STACK_ROOT] = tree_add_node(tree, NODE_ROOT, FUNCTION_NO_STACK);
	if (shown) {
		uint32_t *of_events = xmalloc(stacks->nodes.count * sizeof(*of_events));

		for (size_t i = 0; i < stacks->nodes.count; i++)
			of_events[i] = map[shown[i]];
		free(map);
		map = of_events;
	}
	drop_links(tree);
	frames_fini(&frames);
	free(wanted);
	*vec_push(&whole->nodes) = map;
}

/* Inlined functions have numbers of their own: with the same nodes it has none. */
static bool is_same(const struct call_tree *a, const struct call_tree *b)
{
	return a->nodes.count == b->nodes.count &&
	       !memcmp(a->nodes.items, b->nodes.items, a->nodes.count * sizeof(*a->nodes.items));
}

/* The mode that shows the same stacks. */
static enum view_mode mode_like(const struct session *session, enum view_mode mode)
{
	if (!session->has_modes || (mode == VIEW_EXPERT && !session->has_expert))
		return VIEW_USER;
	return mode;
}

static void make_tree(struct session *session, struct whole_tree *whole)
{
	tree_init(&whole->tree);
	for (size_t i = 0; i < session->scanned.count; i++) {
		const struct session_process *process = &session->scanned.items[i];

		tree_add_process(session, whole, session->experiments.items[process->experiment],
				 process);
	}
	tree_settle(&whole->tree);
	whole->is_made = true;
}

struct whole_tree *session_tree(struct session *session, enum view_mode mode, bool inlines)
{
	struct whole_tree *trees = session->trees[mode_like(session, mode)];
	struct whole_tree *whole = &trees[inlines];

	if (whole->is_plain)
		return session_tree(session, mode, false);
	/* Of what is kept there is no other tree than those that are kept. */
	if (!whole->is_made && session->has_no_events)
		return &session->trees[VIEW_USER][false];
	if (whole->is_made)
		return whole;
	make_tree(session, whole);
	if (!inlines)
		return whole;
	whole->is_plain = is_same(&whole->tree, &session_tree(session, mode, false)->tree);
	if (!whole->is_plain)
		return whole;
	empty_tree(whole);
	return session_tree(session, mode, false);
}

/* Walks depth first, children in the order of their ids. */
struct walk {
	const struct call_tree *tree;
	uint32_t *child; /* first child, or NODE_NONE; on the way to a node the one that leads there
			  */
	uint32_t *sibling; /* next sibling, or NODE_NONE */
	uint32_t *above;   /* nearest ancestor of the same group, or NODE_NONE */
	uint32_t *nearest; /* per group: its innermost node on the way, or NODE_NONE */
};

static void walk_init(struct walk *walk, const struct call_tree *tree, size_t groups)
{
	size_t count = tree->nodes.count;

	walk->tree = tree;
	walk->child = xmalloc(count * sizeof(uint32_t));
	walk->sibling = xmalloc(count * sizeof(uint32_t));
	walk->above = xmalloc(count * sizeof(uint32_t));
	memset(walk->child, 0xff, count * sizeof(uint32_t));
	walk->sibling[0] = NODE_NONE;
	for (size_t i = count; --i;) {
		uint32_t parent = tree->nodes.items[i].parent;

		walk->sibling[i] = walk->child[parent];
		walk->child[parent] = (uint32_t)i;
	}
	walk->nearest = xmalloc((groups + 1) * sizeof(uint32_t));
	memset(walk->nearest, 0xff, (groups + 1) * sizeof(uint32_t));
}

/* What is above each node is the caller's to free. */
static uint32_t *walk_fini(struct walk *walk)
{
	free(walk->child);
	free(walk->sibling);
	free(walk->nearest);
	return walk->above;
}

static uint32_t group_of(const struct walk *walk, const uint32_t *group, uint32_t node)
{
	uint32_t function = walk->tree->nodes.items[node].function;

	return group ? group[function] : function;
}

/*
 * The walk itself, which fills what is above each node, and via, unless that is NULL: the child of
 * the node above that is on the way.  group NULL: every function is its own.
 */
static void walk_run(struct walk *walk, const uint32_t *group, uint32_t *via)
{
	const struct tree_node *nodes = walk->tree->nodes.items;
	uint32_t node = NODE_ROOT;

	for (;;) {
		uint32_t *nearest = &walk->nearest[group_of(walk, group, node)];

		walk->above[node] = *nearest;
		if (via)
			via[node] = *nearest == NODE_NONE ? NODE_NONE : walk->child[*nearest];
		*nearest = node;
		if (walk->child[node] != NODE_NONE) {
			node = walk->child[node];
			continue;
		}
		for (;;) { /* leave nodes until one has a sibling */
			walk->nearest[group_of(walk, group, node)] = walk->above[node];
			if (node == NODE_ROOT)
				return;
			if (walk->sibling[node] != NODE_NONE)
				break;
			node = nodes[node].parent;
		}
		walk->child[nodes[node].parent] = walk->sibling[node];
		node = walk->sibling[node];
	}
}

void tree_link(struct call_tree *tree, size_t functions)
{
	struct walk walk;

	if (tree->same)
		return;
	tree->via = xmalloc(tree->nodes.count * sizeof(uint32_t));
	walk_init(&walk, tree, functions);
	walk_run(&walk, NULL, tree->via);
	tree->same = walk_fini(&walk);
}

bool *tree_first_of_group(const struct call_tree *tree, const uint32_t *group, uint32_t group_count)
{
	bool *first = xcalloc(tree->nodes.count, sizeof(*first));
	struct walk walk;
	uint32_t *above;

	walk_init(&walk, tree, group_count);
	walk_run(&walk, group, NULL);
	above = walk_fini(&walk);
	for (size_t i = 0; i < tree->nodes.count; i++)
		first[i] = above[i] == NODE_NONE;
	free(above);
	return first;
}
