/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks by their source lines and by their instructions, for STACKL and STACKI.
 *
 * A line is (path, number), whichever functions and load objects it was compiled into; an
 * instruction is (function, address).  Stacks are those of each process as they were recorded,
 * which is finer than the call tree: so there is one tree for each process.
 */
#include "analysis/code/code.h"
#include "analysis/filter/filter_program.h"
#include "analysis/tree/plt_calls.h"

#include <stdlib.h>

/* The item of a pc that is like others by a number; item 0 is none. */
static uint32_t item_of(struct filter_code *code, struct hash_map *known, uint64_t key, uint32_t pc)
{
	uint32_t fresh = (uint32_t)code->first.count;
	uint32_t item = hash_map_put(known, key, fresh);

	if (item == fresh)
		*vec_push(&code->first) = pc;
	return item;
}

/* The number of a source file's path, which many load objects may have. */
static uint32_t path_of(struct session *session, const struct code_pc *pc,
			struct string_table *paths, struct hash_map *known)
{
	uint64_t file = (uint64_t)pc->object << 32 | pc->file;
	uint32_t path = hash_map_get(known, file);

	if (path == HASH_NONE) {
		path = string_table_add(paths, code_file(session, pc->object, pc->file));
		hash_map_put(known, file, path);
	}
	return path;
}

static void find_lines(struct session *session, struct filter_code *code, const struct code *pcs,
		       uint32_t *of_pc)
{
	struct string_table paths = {0};
	struct hash_map files = {0}, known = {0};

	code_need_lines(session, CODE_EVERY_OBJECT);
	for (uint32_t i = 0; i < pcs->pcs.count; i++) {
		const struct code_pc *pc = &pcs->pcs.items[i];

		if (pc->file == LINES_NONE || !pc->line)
			continue;

		uint64_t path = path_of(session, pc, &paths, &files);

		of_pc[i] = item_of(code, &known, path << 32 | pc->line, i);
	}
	string_table_fini(&paths);
	hash_map_fini(&files);
	hash_map_fini(&known);
}

/* Pcs in one instruction are neighbours in the order of function and address. */
static void find_instructions(struct session *session, struct filter_code *code,
			      const struct code *pcs, uint32_t *of_pc)
{
	const uint64_t *start = code_instructions(session);
	const struct code_pc *before = NULL;
	uint64_t address = 0;

	for (size_t i = 0; i < pcs->pcs.count; i++) {
		uint32_t at = pcs->order[i];
		const struct code_pc *pc = &pcs->pcs.items[at];

		if (!before || before->object != pc->object || before->function != pc->function ||
		    before->is_target != pc->is_target || address != start[at])
			*vec_push(&code->first) = at;
		of_pc[at] = (uint32_t)code->first.count - 1;
		before = pc;
		address = start[at];
	}
}

/* A slot of the procedure linkage table counts for its caller. */
static struct filter_frame frame_of(const struct session *session, const struct stack_tree *stacks,
				    size_t node, const uint32_t *pcs, const uint32_t *of_pc,
				    const struct filter_frame *frames)
{
	uint32_t pc = pcs[stacks->nodes.items[node].location];
	uint32_t parent = stacks->nodes.items[node].parent;

	if (parent != STACK_ROOT &&
	    plt_calls_is_slot(session, session->code->pcs.items[pc].function))
		return frames[parent];
	return (struct filter_frame){parent, of_pc[pc]};
}

struct filter_code *filter_code_make(struct session *session, enum stack_item kind)
{
	const struct code *pcs = code_of(session);
	struct filter_code *code = xcalloc(1, sizeof(*code));
	uint32_t *of_pc = xcalloc(pcs->pcs.count + 1, sizeof(*of_pc));

	*vec_push(&code->first) = 0; /* of none */
	if (kind == ITEM_LINE)
		find_lines(session, code, pcs, of_pc);
	else
		find_instructions(session, code, pcs, of_pc);
	for (size_t i = 0; i < session->scanned.count; i++) {
		const struct stack_tree *stacks = &session->scanned.items[i].process->stacks;
		struct filter_frame *frames = xcalloc(stacks->nodes.count, sizeof(*frames));

		for (size_t node = 1; node < stacks->nodes.count; node++)
			frames[node] = frame_of(session, stacks, node, pcs->processes.items[i],
						of_pc, frames);
		*vec_push(&code->stacks) = (struct filter_stacks){
			.frames = frames,
			.count = stacks->nodes.count,
			.items = code->first.count,
		};
	}
	free(of_pc);
	return code;
}

void filter_code_free(struct filter_code *code)
{
	if (!code)
		return;
	for (size_t i = 0; i < code->stacks.count; i++)
		free(code->stacks.items[i].frames);
	vec_fini(&code->stacks);
	vec_fini(&code->first);
	free(code);
}

uint8_t *filter_code_at(struct session *session, const struct filter_code *code, uint64_t address,
			size_t *count)
{
	const uint64_t *start = code_instructions(session);
	uint8_t *set = xcalloc(code->first.count, 1);

	*count = 0;
	for (size_t i = 1; i < code->first.count; i++) {
		set[i] = start[code->first.items[i]] == address;
		*count += set[i];
	}
	return set;
}

const uint8_t *const *filter_code_match(const struct filter_code *code,
					enum stack_question question, uint8_t *const *sets,
					size_t count, struct arena *arena)
{
	const uint8_t **matches = arena_array(arena, const uint8_t *, code->stacks.count + 1);

	for (size_t i = 0; i < code->stacks.count; i++)
		matches[i] =
			filter_stack_match(&code->stacks.items[i], question, sets, count, arena);
	return matches;
}
