/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/code.h"

#include "analysis/linkage.h"
#include "analysis/scan.h"
#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table of addresses ---- */

uint64_t code_hash(const struct code_pc *pc, uint64_t address)
{
	return hash_u64(address ^ (uint64_t)pc->object << 47 ^ (uint64_t)pc->function << 32 ^
			(uint64_t)pc->is_target << 31);
}

static uint32_t add_pc(struct code *code, const struct code_pc *pc)
{
	uint64_t key = code_hash(pc, pc->address);

	for (;; key++) { /* two pcs of one key take neighbours */
		uint32_t fresh = (uint32_t)code->pcs.count;
		uint32_t known = hash_map_put(&code->known, key, fresh);

		if (known == fresh) {
			*vec_push(&code->pcs) = *pc;
			return known;
		}
		if (code->pcs.items[known].function == pc->function &&
		    code->pcs.items[known].address == pc->address &&
		    code->pcs.items[known].is_target == pc->is_target)
			return known;
	}
}

static void add_process(struct session *session, const struct experiment *experiment,
			const struct process *process)
{
	size_t count = process->stacks.locations.count;
	uint32_t *pcs = xmalloc(count * sizeof(*pcs));

	for (uint32_t i = 0; i < count; i++) {
		struct code_pc pc = {
			.file = LINES_NONE,
			.is_target = process->stacks.locations.items[i].is_target,
		};

		pc.function =
			symbols_place(session, experiment, process, i, &pc.object, &pc.address);
		pcs[i] = add_pc(session->code, &pc);
	}
	*vec_push(&session->code->processes) = pcs;
}

/* ---- their lines, object by object ---- */

static int compare_pcs(const void *a, const void *b, void *arg)
{
	const struct code *code = arg;
	const struct code_pc *x = &code->pcs.items[*(const uint32_t *)a];
	const struct code_pc *y = &code->pcs.items[*(const uint32_t *)b];

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return y->is_target - x->is_target;
}

static void sort_pcs(struct code *code)
{
	size_t count = code->pcs.count;

	code->order = xmalloc((count + 1) * sizeof(*code->order));
	for (size_t i = 0; i < count; i++)
		code->order[i] = (uint32_t)i;
	qsort_r(code->order, count, sizeof(*code->order), compare_pcs, code);
}

void code_need_lines(struct session *session, uint32_t object)
{
	struct code *code = session->code;
	size_t count = code->pcs.count;

	for (size_t first = 0, next; first < count; first = next) {
		uint32_t of = code->pcs.items[code->order[first]].object;

		for (next = first; next < count && code->pcs.items[code->order[next]].object == of;)
			next++;
		if ((object != CODE_EVERY_OBJECT && object != of) ||
		    hash_map_get(&code->has_lines, of) != HASH_NONE)
			continue;
		hash_map_put(&code->has_lines, of, 0);
		code_find_lines(session, code->order + first, next - first);
	}
}

const struct code *code_of(struct session *session)
{
	if (session->code)
		return session->code;
	session->code = xcalloc(1, sizeof(*session->code));
	for (size_t i = 0; i < session->experiments.count; i++) {
		const struct experiment *experiment = session->experiments.items[i];

		for (size_t k = 0; k < experiment->processes.count; k++)
			add_process(session, experiment, &experiment->processes.items[k]);
	}
	sort_pcs(session->code);
	return session->code;
}

void code_fini(struct session *session)
{
	struct code *code = session->code;

	if (!code)
		return;
	for (size_t i = 0; i < code->processes.count; i++)
		free(code->processes.items[i]);
	vec_fini(&code->processes);
	free(code->order);
	free(code->instructions);
	vec_fini(&code->pcs);
	hash_map_fini(&code->has_lines);
	hash_map_fini(&code->known);
	hash_map_fini(&code->sources);
	free(code);
	session->code = NULL;
}

/* ---- sums ---- */

static void count_piece(const struct scan_piece *piece, void *state)
{
	struct measuring measuring = piece->measuring;

	measuring.sums = state;
	measure_run(piece->run, &measuring);
}

/*
 * The group of every node of a process's stacks; the root and nodes without one have `none`.  A
 * slot of the procedure linkage table is in its caller's.
 */
static uint32_t *groups_of_nodes(const struct session *session, const struct process *process,
				 const uint32_t *pcs, const uint32_t *group, uint32_t none)
{
	const struct stack_tree *stacks = &process->stacks;
	uint32_t *of = xmalloc(stacks->nodes.count * sizeof(*of));

	of[STACK_ROOT] = none;
	for (size_t i = 1; i < stacks->nodes.count; i++) {
		const struct stack_node *node = &stacks->nodes.items[i];
		uint32_t pc = pcs[node->location];
		bool is_slot = node->parent != STACK_ROOT &&
			       linkage_is_slot(session, session->code->pcs.items[pc].function);

		of[i] = is_slot ? of[node->parent] : group[pc];
	}
	return of;
}

/*
 * Of each node whether none above is of the same group: a walk, depth first, that knows how
 * many nodes of each group are on the way from the root.  Node 0, the root, stands for none.
 */
static bool *find_outermost(const struct stack_tree *stacks, const uint32_t *groups, size_t count)
{
	const struct stack_node *nodes = stacks->nodes.items;
	bool *outermost = xcalloc(stacks->nodes.count, sizeof(*outermost));
	uint32_t *child = xcalloc(stacks->nodes.count, sizeof(*child));
	uint32_t *sibling = xcalloc(stacks->nodes.count, sizeof(*sibling));
	uint32_t *above = xcalloc(count, sizeof(*above));

	for (uint32_t node = (uint32_t)stacks->nodes.count; --node;) {
		sibling[node] = child[nodes[node].parent];
		child[nodes[node].parent] = node;
	}
	for (uint32_t node = child[STACK_ROOT]; node;) {
		outermost[node] = !above[groups[node]]++;
		if (child[node]) {
			node = child[node];
			continue;
		}
		for (; node && !sibling[node]; node = nodes[node].parent)
			above[groups[node]]--;
		if (node) {
			above[groups[node]]--;
			node = sibling[node];
		}
	}
	free(child);
	free(sibling);
	free(above);
	return outermost;
}

static void fold(const struct stack_tree *stacks, const uint32_t *groups, const bool *outermost,
		 uint64_t *values, enum measure measure, struct code_sums *out)
{
	uint64_t *exclusive = measure_array(&out->exclusive, measure);
	uint64_t *inclusive = measure_array(&out->inclusive, measure);

	for (size_t node = 1; node < stacks->nodes.count; node++)
		exclusive[groups[node]] += values[node];
	for (size_t node = stacks->nodes.count; --node;)
		values[stacks->nodes.items[node].parent] += values[node];
	for (size_t node = 1; node < stacks->nodes.count; node++)
		if (outermost[node])
			inclusive[groups[node]] += values[node];
	measure_array(&out->total, measure)[0] += values[STACK_ROOT];
}

static void count_process(struct session *session, size_t index, const uint32_t *group,
			  struct measure_sums *sums, void **states, struct code_sums *out)
{
	const struct session_process *process = &session->scanned.items[index];
	const struct stack_tree *stacks = &process->process->stacks;
	size_t threads = scan_threads();
	uint32_t *groups =
		groups_of_nodes(session, process->process, session->code->processes.items[index],
				group, (uint32_t)out->exclusive.nodes - 1);
	bool *outermost = find_outermost(stacks, groups, out->exclusive.nodes);

	for (size_t i = 0; i < threads; i++) {
		sums[i].nodes = stacks->nodes.count;
		states[i] = &sums[i];
	}
	scan_process(session, process, count_piece, states);
	for (size_t i = 0; i < threads; i++) {
		for (size_t measure = 0; measure < MEASURE_COUNT; measure++)
			if (sums[i].of[measure])
				fold(stacks, groups, outermost, sums[i].of[measure],
				     (enum measure)measure, out);
		measure_fini(&sums[i]);
	}
	free(outermost);
	free(groups);
}

void code_count(struct session *session, const uint32_t *group, uint32_t groups,
		struct code_sums *out)
{
	size_t threads = scan_threads();
	struct measure_sums *sums = xcalloc(threads, sizeof(*sums));
	void **states = xcalloc(threads, sizeof(*states));

	/* one more, for what has no pc */
	*out = (struct code_sums){
		.exclusive.nodes = groups + 1, .inclusive.nodes = groups + 1, .total.nodes = 1};
	for (size_t i = 0; i < session->scanned.count; i++)
		count_process(session, i, group, sums, states, out);
	free(states);
	free(sums);
}

void code_sums_fini(struct code_sums *sums)
{
	measure_fini(&sums->exclusive);
	measure_fini(&sums->inclusive);
	measure_fini(&sums->total);
}

double code_value(const struct code_sums *sums, uint32_t group, const struct metric_choice *choice)
{
	const struct measure_sums *of =
		choice->flavor == FLAVOR_EXCLUSIVE ? &sums->exclusive : &sums->inclusive;

	return values_convert(choice->metric, values_at(of, group, choice->metric));
}

double code_total(const struct code_sums *sums, const struct metric_choice *choice)
{
	return values_convert(choice->metric, values_at(&sums->total, 0, choice->metric));
}

/* ---- instructions ---- */

/* Finds the instructions of pcs of one function, which are sorted. */
static void align(struct session *session, const uint32_t *order, size_t count, uint64_t *out)
{
	const struct code_pc *pcs = session->code->pcs.items;
	uint32_t id = pcs[order[0]].function;
	const struct function *function = &session->functions.items[id];
	struct isa *isa = code_isa(session, id);
	struct arena arena = {0};
	const uint8_t *bytes = isa ? code_bytes(session, id, &arena) : NULL;
	uint64_t offset = 0, length = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t at = pcs[order[i]].address - function->address;

		out[order[i]] = pcs[order[i]].address;
		if (!bytes || at >= function->size)
			continue;
		while (offset + length <= at) {
			struct isa_instruction instruction;

			offset += length;
			isa_decode(isa, bytes + offset, function->size - offset,
				   function->address + offset, &instruction);
			length = instruction.length;
		}
		out[order[i]] = function->address + offset;
	}
	arena_fini(&arena);
	if (isa)
		isa_free(isa);
}

const uint64_t *code_instructions(struct session *session)
{
	struct code *code = session->code;
	size_t count = code->pcs.count;

	if (code->instructions)
		return code->instructions;

	const uint32_t *order = code->order;

	code->instructions = xmalloc((count + 1) * sizeof(*code->instructions));
	for (size_t first = 0, next; first < count; first = next) {
		uint32_t function = code->pcs.items[order[first]].function;

		for (next = first;
		     next < count && code->pcs.items[order[next]].function == function;)
			next++;
		align(session, order + first, next - first, code->instructions);
	}
	return code->instructions;
}
