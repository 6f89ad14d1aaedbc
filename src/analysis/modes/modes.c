/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/modes/modes.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

static const struct mode_runtime *const runtimes[] = {&mode_omp, &mode_java};

/* ---- what it may cost ---- */

/* Nodes that are added, for so many recorded nodes and pairs one; frames that are walked for each.
 */
enum { NODES_ALWAYS = 1 << 16, STACKS_PER_NODE = 4, STEPS_ALWAYS = 1 << 24, STEPS_PER_STACK = 512 };

static void set_limits(struct rewriting *rewriting)
{
	uint64_t stacks = rewriting->process->stacks.nodes.count + rewriting->pairs.count;

	rewriting->nodes_left = NODES_ALWAYS + stacks / STACKS_PER_NODE;
	rewriting->steps_left = STEPS_ALWAYS + STEPS_PER_STACK * stacks;
}

void rewriting_spend(struct rewriting *rewriting, size_t frames)
{
	rewriting->is_over |= frames > rewriting->steps_left;
	if (!rewriting->is_over)
		rewriting->steps_left -= frames;
}

/* ---- stacks ---- */

uint32_t rewriting_node(struct rewriting *rewriting, uint32_t parent, uint32_t location)
{
	struct stack_tree *stacks = &rewriting->process->stacks;
	uint32_t fresh = (uint32_t)stacks->nodes.count;
	uint32_t node = rewriting->nodes_left ? pair_set_put(&rewriting->added, stacks->nodes.items,
							     parent, location, fresh)
					      : pair_set_get(&rewriting->added, stacks->nodes.items,
							     parent, location);

	if (node == HASH_NONE) {
		rewriting->is_over = true;
		return parent;
	}
	if (node == fresh) {
		*vec_push(&stacks->nodes) = (struct stack_node){parent, location};
		rewriting->nodes_left--;
	}
	return node;
}

uint32_t rewriting_location(struct rewriting *rewriting, uint64_t pc, uint32_t epoch)
{
	struct stack_tree *stacks = &rewriting->process->stacks;

	*vec_push(&stacks->locations) = (struct stack_location){.pc = pc, .epoch = epoch};
	return (uint32_t)stacks->locations.count - 1;
}

uint32_t rewriting_pseudo_location(struct rewriting *rewriting, enum format_pseudo_pc pc)
{
	uint32_t known = hash_map_get(&rewriting->pseudo, pc);

	if (known != HASH_NONE)
		return known;
	return hash_map_put(&rewriting->pseudo, pc, rewriting_location(rewriting, pc, 0));
}

/* ---- the pairs that events have ---- */

static uint32_t pair_of(struct rewriting *rewriting, uint32_t stack, uint32_t context)
{
	struct stack_tree *stacks = &rewriting->process->stacks;
	uint32_t fresh = (uint32_t)rewriting->pairs.count, node = stack;
	uint32_t known =
		pair_set_put(&rewriting->variants, rewriting->pairs.items, stack, context, fresh);

	if (known != fresh)
		return rewriting->pairs.items[known].node;
	if (context) {
		const struct stack_node copy = stacks->nodes.items[stack];

		node = (uint32_t)stacks->nodes.count;
		*vec_push(&stacks->nodes) = copy;
	}
	*vec_push(&rewriting->pairs) = (struct rewritten){
		.node = node, .stack = stack, .context = context, .shown = {stack, stack, stack}};
	return node;
}

struct node_setter {
	struct rewriting *rewriting;
	const struct rows *rows;
};

/* Sets the nodes of a page's events to those of their pairs. */
static bool set_nodes(uint64_t *nodes, size_t first, size_t count, void *arg)
{
	const struct node_setter *setter = arg;
	uint64_t contexts[ROWS_PAGE];
	bool changed = false;

	rows_read(setter->rows, ROW_CONTEXT, first, count, contexts);
	for (size_t i = 0; i < count; i++) {
		uint32_t node = (uint32_t)nodes[i];

		if (node == STACK_ROOT)
			continue;
		nodes[i] = pair_of(setter->rewriting, node, (uint32_t)contexts[i]);
		changed |= nodes[i] != node;
	}
	return changed;
}

static void find_pairs(struct rewriting *rewriting)
{
	struct process *process = rewriting->process;
	struct node_setter setter = {rewriting, &process->profile.rows};

	rows_map(&process->profile.rows, ROW_STACK, set_nodes, &setter);
	for (int kind = 0; kind < TRACE_KINDS; kind++) {
		setter.rows = &process->traces[kind].rows;
		rows_map(&process->traces[kind].rows, ROW_STACK, set_nodes, &setter);
	}
}

/* A pair at which all is spent stays as it was, too: its stack is not whole. */
void rewriting_pairs(struct rewriting *rewriting,
		     void (*show)(void *runtime, struct rewritten *pair), void *runtime)
{
	for (size_t i = 0; i < rewriting->pairs.count; i++) {
		struct rewritten *pair = &rewriting->pairs.items[i];
		const struct rewritten before = *pair;

		show(runtime, pair);
		if (rewriting->is_over)
			memcpy(pair->shown, before.shown, sizeof(before.shown));
	}
}

/* ---- what is kept of them ---- */

static void keep_mode(struct rewriting *rewriting, enum view_mode mode)
{
	const struct stack_node *nodes = rewriting->process->stacks.nodes.items;
	size_t count = rewriting->process->stacks.nodes.count;
	uint32_t *shown = xcalloc(count, sizeof(*shown)); /* STACK_ROOT: what no event has */
	bool *on = xcalloc(count, sizeof(*on)); /* a stack that is shown, or part of one */

	for (size_t i = 0; i < rewriting->pairs.count; i++) {
		const struct rewritten *pair = &rewriting->pairs.items[i];

		shown[pair->node] = pair->shown[mode];
		on[pair->shown[mode]] = true;
	}
	for (size_t i = count; --i;)
		on[nodes[i].parent] |= on[i];
	for (uint32_t i = 0; i < count; i++)
		if (on[i]) /* stacks are shown as themselves that have no frames of a runtime */
			shown[i] = i;
	free(on);
	rewriting->scanned->shown[mode] = shown;
}

/* An event's context; or a construct of OpenMP's that no event but its own has met. */
static bool has_said(const struct process *process, enum format_runtime runtime)
{
	return process->contexts.said[runtime] ||
	       (runtime == RUNTIME_OPENMP && process->traces[TRACE_OMP].rows.count);
}

static bool is_wanted(const struct process *process)
{
	for (size_t i = 0; i < COUNT(runtimes); i++)
		if (has_said(process, runtimes[i]->runtime))
			return true;
	return false;
}

void modes_rewrite(struct session *session, const struct experiment *experiment,
		   struct process *process, struct session_process *scanned)
{
	struct rewriting rewriting = {.session = session,
				      .experiment = experiment,
				      .process = process,
				      .scanned = scanned,
				      .variants.item = sizeof(struct rewritten)};

	if (!is_wanted(process))
		return;
	find_pairs(&rewriting);
	set_limits(&rewriting);
	for (size_t i = 0; i < COUNT(runtimes); i++) {
		if (!has_said(process, runtimes[i]->runtime))
			continue;
		runtimes[i]->rewrite(&rewriting);
		session->has_modes = true;
		session->has_expert |= runtimes[i]->has_expert;
		session->has_java |= runtimes[i] == &mode_java;
	}
	if (rewriting.is_over)
		diag_add(&session->warnings, DIAG_WARNING,
			 "%s: call stacks of OpenMP or Java would be many times what was recorded; "
			 "not all are shown as the programmer knows them",
			 process->name);
	for (int mode = 0; mode < VIEW_MODES; mode++)
		keep_mode(&rewriting, (enum view_mode)mode);
	pair_set_fini(&rewriting.added);
	hash_map_fini(&rewriting.pseudo);
	pair_set_fini(&rewriting.variants);
	vec_fini(&rewriting.pairs);
}

void modes_grow(struct session_process *scanned, size_t before, size_t count)
{
	size_t more = count - before;

	if (scanned->omp_class) {
		scanned->omp_class = xrealloc(scanned->omp_class, count * sizeof(uint8_t));
		memset(scanned->omp_class + before, 0, more * sizeof(uint8_t));
	}
	if (scanned->is_compiled) {
		scanned->is_compiled = xrealloc(scanned->is_compiled, count * sizeof(bool));
		memset(scanned->is_compiled + before, 0, more * sizeof(bool));
	}
}

bool modes_is_system(const char *path)
{
	static const char *const names[] = {"libc.so",	"libc-", "libpthread",
					    "ld-linux", "ld-2",	 "[vdso]"};
	const char *name = path_name(path);

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

void modes_free(struct session_process *scanned)
{
	for (int mode = 0; mode < VIEW_MODES; mode++)
		free(scanned->shown[mode]);
	free(scanned->omp_class);
	free(scanned->is_compiled);
	free(scanned->in_mpi);
	free(scanned->omp_constructs);
}
