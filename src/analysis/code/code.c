/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/code/code.h"

#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/frames.h"
#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table of addresses ---- */

uint64_t code_hash(const struct code_pc *pc, uint64_t address)
{
	return hash_pair((uint64_t)pc->object << 33 ^ (uint64_t)pc->is_target << 32 ^ pc->function,
			 address);
}

static uint32_t add_pc(struct code *code, const struct code_pc *pc)
{
	uint64_t key = code_hash(pc, pc->address);

	for (;; key++) { /* two pcs of one key take neighbours */
		uint32_t fresh = (uint32_t)code->pcs.count;
		uint32_t known = key_numbers_put(&code->known, key);

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

/* For so many more pcs at once: pieces that they outgrow would lie between all else. */
static void make_room(struct code *code, size_t more)
{
	size_t most = code->pcs.count + more;

	if (more < code->pcs.count || most <= code->pcs.capacity)
		return;
	code->pcs.items = xrealloc(code->pcs.items, most * sizeof(*code->pcs.items));
	code->pcs.capacity = most;
	pair_set_reserve(&code->known.known, code->known.keys.items, more);
}

static void add_process(struct session *session, const struct experiment *experiment,
			const struct process *process)
{
	size_t count = process->stacks.locations.count;
	uint32_t *pcs = xmalloc(count * sizeof(*pcs));

	make_room(session->code, count);
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
	key_numbers_fini(&session->code->known);
	sort_pcs(session->code);
	code_make_tree(session);
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
	code_tree_fini(code);
	free(code->order);
	free(code->instructions);
	vec_fini(&code->pcs);
	vec_fini(&code->parts);
	hash_map_fini(&code->has_lines);
	hash_map_fini(&code->sources);
	string_table_fini(&code->announced_sources);
	vec_fini(&code->announced_first);
	vec_fini(&code->units);
	hash_map_fini(&code->unit_of);
	free(code);
	session->code = NULL;
}

/* ---- parts of functions ---- */

void code_need_parts(struct session *session)
{
	struct code *code = session->code;

	if (code->parts_sought < FUNCTION_FIRST_REAL)
		code->parts_sought = FUNCTION_FIRST_REAL;
	for (; code->parts_sought < session->functions.count; code->parts_sought++) {
		uint32_t parent = frames_outlined_from(session, code->parts_sought);

		if (parent != NODE_NONE)
			*vec_push(&code->parts) = (struct code_part){code->parts_sought, parent};
	}
}

/* ---- instructions ---- */

/* Finds the instructions of pcs of one function, which are sorted. */
static void align(struct session *session, const uint32_t *order, size_t count, uint64_t *out)
{
	const struct code_pc *pcs = session->code->pcs.items;
	uint32_t id = pcs[order[0]].function;
	const struct function *function = &session->functions.items[id];
	struct arena arena = {0};
	struct isa *isa = code_isa(session, id, &arena);
	uint64_t offset = 0, length = 0, size = 0;
	const uint8_t *bytes = isa ? code_bytes(session, id, &arena, &size) : NULL;

	for (size_t i = 0; i < count; i++) {
		uint64_t at = pcs[order[i]].address - function->address;

		out[order[i]] = pcs[order[i]].address;
		if (!bytes || at >= size)
			continue;
		while (offset + length <= at) {
			struct isa_instruction instruction;

			offset += length;
			isa_decode(isa, bytes + offset, size - offset, function->address + offset,
				   &instruction);
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
