/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each function is read once, for all bodies: a function with many constructs has many, which are
 * among the functions that are made from it.
 */
#include "object/names/name_code.h"

#include "base/array.h"
#include "isa/isa.h"
#include "object/names/name_index.h"

#include <stdlib.h>
#include <string.h>

enum {
	CODE_LIMIT = 1 << 20,	/* bytes of a function */
	TOTAL_LIMIT = 16 << 20, /* of all of an object: some 1 s */
	CALL_COST = 1 << 9,	/* of a function, however small, in bytes */
	NAMED_MAX = 16,		/* addresses before a call that may be its arguments */
};

void name_code_fini(struct name_code *code)
{
	hash_map_fini(&code->use_of);
	hash_map_fini(&code->is_read);
	hash_map_fini(&code->regions);
	vec_fini(&code->givers);
	hash_map_fini(&code->giver_of);
	hash_map_fini(&code->givers_read);
	hash_map_fini(&code->parents);
	string_table_fini(&code->parent_texts);
}

uint8_t *name_code_read(struct object *object, uint32_t number, size_t *size)
{
	const struct object_function *function = object_function(object, number);
	struct name_code *known = name_index_code(object_name_index(object));
	size_t wanted = function->size < CODE_LIMIT ? (size_t)function->size : CODE_LIMIT;

	if (known->bytes_read >= TOTAL_LIMIT)
		wanted = 0;
	known->bytes_read += wanted + CALL_COST;

	uint8_t *code = xmalloc(wanted + 1);

	*size = wanted ? object_code(object, function->address, code, wanted) : 0;
	return code;
}

const char *name_code_callee(struct object *object, const struct isa_instruction *instruction)
{
	uint32_t callee = instruction->has_target ? object_function_at(object, instruction->target)
						  : OBJECT_NO_FUNCTION;

	return callee == OBJECT_NO_FUNCTION ? "" : object_function(object, callee)->mangled;
}

/* What a function of the run-time does with the body that it is given. */
static enum function_kind kind_by_callee(const char *callee)
{
	static const struct {
		const char *prefix;
		enum function_kind kind;
	} callees[] = {
		{"GOMP_parallel_loop", FUNCTION_OMP_LOOP},
		{"GOMP_parallel_sections", FUNCTION_OMP_SECTIONS},
		{"GOMP_parallel", FUNCTION_OMP_REGION},
		{"GOMP_task", FUNCTION_OMP_TASK},
		{"GOMP_target", FUNCTION_OMP_TARGET},
		{"GOMP_teams", FUNCTION_OMP_REGION},
	};

	for (size_t i = 0; i < COUNT(callees); i++) {
		if (!strncmp(callee, callees[i].prefix, strlen(callees[i].prefix)))
			return callees[i].kind;
	}
	return FUNCTION_PLAIN;
}

/* The addresses that were named since the last call, of any function. */
struct named {
	uint64_t items[NAMED_MAX];
	size_t count; /* of all */
};

/* Bodies are put into registers before a loop whose calls have them as arguments. */
static void keep_bodies(struct object *object, const struct named *named, struct named *bodies)
{
	for (size_t i = 0; i < named->count && i < NAMED_MAX; i++) {
		uint32_t number = object_function_at(object, named->items[i]);

		if (number != OBJECT_NO_FUNCTION &&
		    object_function(object, number)->address == named->items[i] &&
		    strstr(object_function(object, number)->mangled, "._omp_fn."))
			bodies->items[bodies->count++ % NAMED_MAX] = named->items[i];
	}
}

/* The first use counts: others are by copies of the same code. */
static void add_uses(struct name_code *known, const struct named *named, enum function_kind kind)
{
	for (size_t i = 0; i < named->count && i < NAMED_MAX; i++)
		hash_map_put(&known->use_of, named->items[i], kind);
}

/* Notes the bodies that a function gives to the run-time. */
static void read_uses(struct object *object, struct isa *isa, uint32_t number)
{
	struct name_code *known = name_index_code(object_name_index(object));
	uint64_t address = object_function(object, number)->address;
	struct named named = {0}, bodies = {0}, before = {0};
	struct isa_instruction instruction;
	size_t size;

	if (hash_map_get(&known->is_read, number) != HASH_NONE)
		return;
	hash_map_put(&known->is_read, number, 1);
	uint8_t *code = name_code_read(object, number, &size);

	for (size_t at = 0; at < size; at += instruction.length) {
		isa_decode(isa, code + at, size - at, address + at, &instruction);
		if (instruction.has_data || instruction.has_constant)
			named.items[named.count++ % NAMED_MAX] =
				instruction.has_data ? instruction.data : instruction.constant;
		if (!instruction.has_target)
			continue;
		enum function_kind kind = kind_by_callee(name_code_callee(object, &instruction));

		if (kind == FUNCTION_PLAIN && instruction.kind != ISA_CALL)
			continue;
		bodies.count = 0;
		keep_bodies(object, &named, &bodies);
		if (kind == FUNCTION_PLAIN)
			keep_bodies(object, &bodies, &before);
		else
			add_uses(known, bodies.count ? &bodies : &before, kind);
		named.count = 0;
	}
	free(code);
}

enum function_kind name_code_use(struct object *object, uint32_t body, const char *parent)
{
	const struct name_index *index = object_name_index(object);
	struct name_code *known = name_index_code(object_name_index(object));
	uint64_t address = object_function(object, body)->address;
	struct isa *isa = isa_new(object_machine(object));
	uint32_t other, kind = hash_map_get(&known->use_of, address);

	for (size_t n = 0; isa && kind == HASH_NONE; n++) {
		other = name_index_get(index, parent, n);
		if (other == OBJECT_NO_FUNCTION)
			break;
		read_uses(object, isa, other);
		kind = hash_map_get(&known->use_of, address);
	}
	isa_free(isa);
	return kind == HASH_NONE ? FUNCTION_PLAIN : (enum function_kind)kind;
}
