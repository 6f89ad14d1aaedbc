/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of groups of pcs.  Events are counted once per node of the tree; a grouping then takes two
 * passes over it.  Since subtrees are runs, the sum below a node is a difference of two sums
 * from the beginning, and a node is the outermost one of its group if it lies behind the
 * subtree of the last one that was.
 */
#include "analysis/cache/cache_file.h"
#include "analysis/code/code.h"
#include "analysis/metric/metric_values.h"
#include "analysis/tree/plt_calls.h"

#include <stdlib.h>

/* ---- the tree ---- */

/* The nodes of a process's stacks in the order of the tree, from `first` on; the caller's to free.
 */
static uint32_t *place_nodes(const struct stack_tree *stacks, size_t first, uint32_t *end)
{
	const struct stack_node *nodes = stacks->nodes.items;
	size_t count = stacks->nodes.count;
	uint32_t *place = xmalloc(count * sizeof(*place));
	uint32_t *size =
		xmalloc(count * sizeof(*size)); /* of subtrees; then where the next child goes */

	for (size_t i = 0; i < count; i++)
		size[i] = 1;
	for (size_t i = count; --i;)
		size[nodes[i].parent] += size[i];
	for (size_t i = 0; i < count; i++) {
		uint32_t below = size[i];

		place[i] = i ? size[nodes[i].parent] : (uint32_t)first;
		end[place[i]] = place[i] + below;
		size[i] = place[i] + 1;
		if (i)
			size[nodes[i].parent] += below;
	}
	free(size);
	return place;
}

/* A slot of the procedure linkage table is its caller's. */
static void fill_pcs(struct session *session, const struct stack_tree *stacks, const uint32_t *pcs,
		     const uint32_t *place)
{
	uint32_t *out = session->code->tree.pc;

	out[place[STACK_ROOT]] = NODE_NONE;
	for (size_t i = 1; i < stacks->nodes.count; i++) {
		const struct stack_node *node = &stacks->nodes.items[i];
		uint32_t pc = pcs[node->location];
		bool is_slot = node->parent != STACK_ROOT &&
			       plt_calls_is_slot(session, session->code->pcs.items[pc].function);

		out[place[i]] = is_slot ? out[place[node->parent]] : pc;
	}
}

void code_make_tree(struct session *session)
{
	struct code *code = session->code;
	struct code_tree *tree = &code->tree;
	size_t count = 0;

	for (size_t i = 0; i < session->scanned.count; i++)
		count += session->scanned.items[i].process->stacks.nodes.count;
	tree->pc = xmalloc((count + 1) * sizeof(*tree->pc));
	tree->end = xmalloc((count + 1) * sizeof(*tree->end));
	for (size_t i = 0; i < session->scanned.count; i++) {
		const struct stack_tree *stacks = &session->scanned.items[i].process->stacks;
		uint32_t *place = place_nodes(stacks, tree->count, tree->end);

		fill_pcs(session, stacks, code->processes.items[i], place);
		*vec_push(&tree->places) = place;
		tree->count += stacks->nodes.count;
	}
}

void code_tree_fini(struct code *code)
{
	struct code_tree *tree = &code->tree;

	for (size_t i = 0; i < tree->places.count; i++)
		free(tree->places.items[i]);
	vec_fini(&tree->places);
	free(tree->pc);
	free(tree->end);
}

/* ---- its weights ---- */

static void read_kept(const struct code_tree *tree, struct finished_sums *out)
{
	struct measure_sums weights = {.nodes = tree->count};

	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (tree->kept.of[i])
			cache_values(&tree->kept, (enum measure)i,
				     measure_array(&weights, (enum measure)i));
	measure_finish(out, &weights);
}

static const uint32_t *place_of_nodes(const struct tally *tally, size_t process, uint32_t **owned)
{
	const struct session_process *scanned = &tally->session->scanned.items[process];
	const uint32_t *places = tally->session->code->tree.places.items[process];
	const uint32_t *shown = scanned->shown[tally->shape->whole->mode];
	size_t count = scanned->process->stacks.nodes.count;

	*owned = NULL;
	if (!shown)
		return places;
	*owned = xmalloc(count * sizeof(**owned));
	for (size_t i = 0; i < count; i++)
		(*owned)[i] = places[shown[i]];
	return *owned;
}

const struct finished_sums *code_weights(struct tally *tally)
{
	const struct code_tree *tree = &tally->session->code->tree;

	if (tally->has_code_weights)
		return &tally->code_weights;
	tally->has_code_weights = true;
	if (tally->session->has_no_events)
		read_kept(tree, &tally->code_weights);
	else
		tally_count(tally, tree->count, &tally->code_weights, place_of_nodes);
	return &tally->code_weights;
}

/* ---- sums of groups ---- */

/* Nodes that have none of their group above them. */
struct outermost {
	uint32_t *nodes;
	size_t count;
};

static struct outermost find_outermost(const struct code_tree *tree, const uint32_t *group,
				       uint32_t groups)
{
	uint32_t *end = xcalloc(groups, sizeof(*end)); /* of the last one of each group */
	struct outermost found = {.nodes = xmalloc((tree->count + 1) * sizeof(*found.nodes))};

	for (uint32_t node = 0; node < tree->count; node++) {
		uint32_t of = tree->pc[node] == NODE_NONE ? NODE_NONE : group[tree->pc[node]];

		if (of == NODE_NONE || node < end[of])
			continue;
		end[of] = tree->end[node];
		found.nodes[found.count++] = node;
	}
	free(end);
	return found;
}

/* weight: of each node, with room for one number more; it is used up. */
static void fold(const struct code_tree *tree, const uint32_t *group,
		 const struct outermost *outermost, uint64_t *weight, enum measure measure,
		 struct code_sums *out)
{
	uint64_t *exclusive = xcalloc(out->exclusive.nodes + 1, sizeof(*exclusive)), *inclusive;
	uint64_t sum = 0;

	for (size_t node = 0; node < tree->count; node++) {
		uint64_t own = weight[node];

		weight[node] = sum; /* of all nodes before it */
		sum += own;
		if (own && tree->pc[node] != NODE_NONE && group[tree->pc[node]] != NODE_NONE)
			exclusive[group[tree->pc[node]]] += own;
	}
	weight[tree->count] = sum;
	finished_take(&out->exclusive, measure, exclusive);
	inclusive = xcalloc(out->inclusive.nodes + 1, sizeof(*inclusive));
	for (size_t i = 0; i < outermost->count; i++) {
		uint32_t node = outermost->nodes[i];
		uint64_t below = weight[tree->end[node]] - weight[node];

		if (below)
			inclusive[group[tree->pc[node]]] += below;
	}
	measure_array(&out->total, measure)[0] += sum;
	finished_take(&out->inclusive, measure, inclusive);
}

void code_count(struct tally *tally, const uint32_t *group, uint32_t groups, struct code_sums *out)
{
	code_count_but(tally, group, groups, MEASURE_NONE, out);
}

void code_count_but(struct tally *tally, const uint32_t *group, uint32_t groups,
		    enum measure left_out, struct code_sums *out)
{
	const struct code_tree *tree = &tally->session->code->tree;
	bool is_kept = tally->session->has_no_events && !tally->has_code_weights;
	const struct finished_sums *weights = is_kept ? NULL : code_weights(tally);
	uint64_t *weight = xmalloc((tree->count + 1) * sizeof(*weight));
	struct outermost outermost = find_outermost(tree, group, groups);

	*out = (struct code_sums){
		.exclusive.nodes = groups, .inclusive.nodes = groups, .total.nodes = 1};
	for (size_t i = 0; i < MEASURE_COUNT; i++) {
		if (i == left_out)
			continue;
		if (weights ? finished_read(weights, (enum measure)i, weight)
			    : cache_values(&tree->kept, (enum measure)i, weight))
			fold(tree, group, &outermost, weight, (enum measure)i, out);
	}
	free(weight);
	free(outermost.nodes);
}

/* What was compiled, by the number of the method in which it ran; 0, which is none: the rest. */
static const uint32_t *compiled_functions(const struct tally *tally, size_t process,
					  uint32_t **owned)
{
	const struct session *session = tally->session;
	const struct session_process *scanned = &session->scanned.items[process];
	const struct stack_tree *stacks = &scanned->process->stacks;
	const uint32_t *shown = scanned->shown[tally->shape->whole->mode];
	const uint32_t *pcs = session->code->processes.items[process];

	*owned = xcalloc(stacks->nodes.count, sizeof(**owned));
	for (size_t i = 0; scanned->is_compiled && shown && i < stacks->nodes.count; i++)
		if (scanned->is_compiled[i] && shown[i] != STACK_ROOT)
			(*owned)[i] = session->code->pcs
					      .items[pcs[stacks->nodes.items[shown[i]].location]]
					      .function;
	return *owned;
}

void code_count_compiled(struct tally *tally, uint32_t function, uint32_t group,
			 struct code_sums *out)
{
	const struct finished_sums *compiled = &tally->compiled;

	if (!tally->has_compiled)
		tally_count(tally, tally->session->functions.count, &tally->compiled,
			    compiled_functions);
	tally->has_compiled = true;
	for (size_t i = 0; i < MEASURE_COUNT && function < compiled->nodes; i++) {
		uint64_t sum = finished_has(compiled, (enum measure)i)
				       ? finished_at(compiled, (enum measure)i, function)
				       : 0;

		if (!sum)
			continue;
		finished_add(&out->exclusive, (enum measure)i, group, sum);
		finished_add(&out->inclusive, (enum measure)i, group, sum);
	}
}

void code_sums_fini(struct code_sums *sums)
{
	finished_fini(&sums->exclusive);
	finished_fini(&sums->inclusive);
	measure_fini(&sums->total);
}

double code_value(const struct code_sums *sums, uint32_t group, const struct metric_choice *choice)
{
	const struct finished_sums *of =
		choice->flavor == FLAVOR_EXCLUSIVE ? &sums->exclusive : &sums->inclusive;

	return values_convert(choice->metric, values_at_finished(of, group, choice->metric));
}

double code_total(const struct code_sums *sums, const struct metric_choice *choice)
{
	return values_convert(choice->metric, values_at(&sums->total, 0, choice->metric));
}
