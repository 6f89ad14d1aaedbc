/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clang's bodies of OpenMP constructs do not say whose they are: that is the function whose code
 * gives the body's address to the run-time.  Where that code was inlined into another function,
 * DWARF tells at the call which one it is.  Clang puts bodies near their function, but functions
 * of templates elsewhere: those are sought among the functions that are declared before the body.
 * Without such code it is the one that is declared last before it.
 */
#include "object/names/name_code.h"

#include "base/array.h"
#include "isa/isa.h"
#include "object/names/name_index.h"

#include <stdlib.h>
#include <string.h>

enum {
	NEAR_MAX = 64,	    /* functions around a body that may give it to the run-time */
	DECLARED_MAX = 16,  /* functions declared before it */
	NESTED_MAX = 16,    /* bodies in bodies */
	OUTER_NEAR_MAX = 16 /* functions behind a body's debug version */
};

static bool is_body(const char *symbol)
{
	char *parent;
	enum function_kind kind = function_name_parse(symbol, &parent);

	free(parent);
	return kind >= FUNCTION_OMP_REGION && kind <= FUNCTION_OMP_TARGET;
}

/* ---- who names a body ---- */

/* The body that an instruction names, or OBJECT_NO_FUNCTION. */
static uint32_t named_body(struct object *object, const struct isa_instruction *instruction)
{
	uint64_t address = instruction->has_data       ? instruction->data
			   : instruction->has_constant ? instruction->constant
			   : instruction->has_target   ? instruction->target
						       : 0;
	uint32_t number = address ? object_function_at(object, address) : OBJECT_NO_FUNCTION;

	return number != OBJECT_NO_FUNCTION &&
			       object_function(object, number)->address == address &&
			       is_body(object_function(object, number)->mangled)
		       ? number
		       : OBJECT_NO_FUNCTION;
}

static void note_giver(struct name_code *known, uint32_t body, uint32_t function, uint64_t at)
{
	uint32_t fresh = (uint32_t)known->givers.count;

	if (body != function && hash_map_put(&known->giver_of, body, fresh) == fresh)
		*vec_push(&known->givers) = (struct name_giver){.function = function, .call = at};
}

/* Notes the bodies that a function names, with the call of the run-time behind that. */
static void read_function(struct object *object, struct isa *isa, uint32_t number)
{
	struct name_code *known = name_index_code(object_name_index(object));
	uint64_t address = object_function(object, number)->address;
	size_t open = known->givers.count, size;
	struct isa_instruction instruction;

	if (hash_map_get(&known->givers_read, number) != HASH_NONE)
		return;
	hash_map_put(&known->givers_read, number, 1);
	uint8_t *code = name_code_read(object, number, &size);

	for (size_t at = 0; at < size; at += instruction.length) {
		isa_decode(isa, code + at, size - at, address + at, &instruction);
		uint32_t body = named_body(object, &instruction);

		if (body != OBJECT_NO_FUNCTION)
			note_giver(known, body, number, instruction.address);
		if (instruction.kind != ISA_CALL ||
		    strncmp(name_code_callee(object, &instruction), "__kmpc_", 7) != 0)
			continue;
		for (; open < known->givers.count; open++)
			known->givers.items[open].call = instruction.address;
	}
	free(code);
}

/* Who names a body, as far as it is known. */
static const struct name_giver *known_giver(struct object *object, uint32_t body)
{
	const struct name_code *known = name_index_code(object_name_index(object));
	uint32_t place = hash_map_get(&known->giver_of, body);

	return place == HASH_NONE ? NULL : &known->givers.items[place];
}

uint32_t name_outer_body(struct object *object, uint32_t number)
{
	static const char inner[] = "omp_outlined", debug[] = "_debug__";
	const struct object_function *function = object_function(object, number);
	struct isa *isa = strstr(function->mangled, debug) ? isa_new(object_machine(object)) : NULL;
	uint32_t found = number;

	for (uint32_t step = 1; isa && found == number && step < OUTER_NEAR_MAX; step++) {
		uint32_t next = number + step;
		const char *name = next < object_function_count(object)
					   ? object_function(object, next)->mangled
					   : "";

		if (!strstr(name, inner) || strstr(name, debug))
			continue;
		read_function(object, isa, next);

		const struct name_giver *giver = known_giver(object, number);

		if (giver && giver->function == next)
			found = next;
	}
	isa_free(isa);
	return found;
}

/* ---- whose code that is ---- */

/* The symbol without what makes it a part or a clone, to be freed; NULL: that of a body. */
static char *plain_symbol(const char *symbol)
{
	char *parent;
	enum function_kind kind = function_name_parse(symbol, &parent);

	if (kind >= FUNCTION_OMP_REGION && kind <= FUNCTION_OMP_HELPER) {
		free(parent);
		return NULL;
	}
	return parent ? parent : xstrdup(symbol);
}

/* The function in whose source the call is, to be freed; NULL: it is a body. */
static char *symbol_at(struct object *object, const struct name_giver *giver)
{
	struct lines *lines = object_lines(object);
	char *symbol = NULL;
	uint32_t node;

	lines_find_inlined(lines, &giver->call, 1, &node);
	while (node != LINES_NONE && !symbol) {
		struct inline_node inlined = lines_inline_node(lines, node);
		const char *name = lines_function(lines, inlined.function)->mangled;

		if (*name && inlined.parent != LINES_NONE)
			symbol = plain_symbol(name);
		node = inlined.parent;
	}
	return symbol ? symbol : plain_symbol(object_function(object, giver->function)->mangled);
}

/* ---- where it is sought ---- */

/* First those before it; a task's entry may lie before the body that creates it. */
static bool find_near(struct object *object, struct isa *isa, uint32_t body)
{
	uint32_t count = object_function_count(object);

	for (uint32_t step = 1; step <= NEAR_MAX && step <= body; step++) {
		if (known_giver(object, body))
			return true;
		read_function(object, isa, body - step);
	}
	for (uint32_t step = 1; step <= NEAR_MAX && step < count - body; step++) {
		if (known_giver(object, body))
			return true;
		read_function(object, isa, body + step);
	}
	return known_giver(object, body);
}

/* Functions in the order of their declarations before a place, the last one first. */
struct declared {
	const struct line_function *items[DECLARED_MAX];
	size_t count;
};

static void add_declared(struct declared *declared, const struct line_function *function)
{
	size_t at = declared->count < DECLARED_MAX ? declared->count++ : DECLARED_MAX;

	for (; at && declared->items[at - 1]->line < function->line; at--)
		if (at < DECLARED_MAX)
			declared->items[at] = declared->items[at - 1];
	if (at < DECLARED_MAX)
		declared->items[at] = function;
}

static struct declared declared_before(struct object *object, const struct line_function *place)
{
	struct lines *lines = object_lines(object);
	struct declared declared = {0};
	uint32_t count = lines_function_count(lines);

	for (uint32_t i = 0; i < count && place->file != LINES_NONE; i++) {
		const struct line_function *function = lines_function(lines, i);
		char *parent;

		if (function->file != place->file || !function->line ||
		    function->line > place->line)
			continue;
		if (function_name_parse(function->mangled, &parent) == FUNCTION_PLAIN)
			add_declared(&declared, function);
		free(parent);
	}
	return declared;
}

static bool find_declared(struct object *object, struct isa *isa, uint32_t body,
			  const struct declared *declared)
{
	for (size_t i = 0; i < declared->count; i++) {
		uint32_t number;

		for (size_t n = 0; n < NEAR_MAX; n++) {
			number = name_index_get(object_name_index(object),
						declared->items[i]->mangled, n);
			if (number == OBJECT_NO_FUNCTION)
				break;
			read_function(object, isa, number);
			if (known_giver(object, body))
				return true;
		}
	}
	return false;
}

static char *search(struct object *object, uint32_t body, const struct line_function *place)
{
	struct isa *isa = isa_new(object_machine(object));
	const struct declared declared = declared_before(object, place);
	char *symbol = NULL;

	for (int depth = 0; isa && !symbol && depth < NESTED_MAX; depth++) {
		body = name_outer_body(object, body);
		if (!find_near(object, isa, body) && !find_declared(object, isa, body, &declared))
			break;
		symbol = symbol_at(object, known_giver(object, body));
		body = known_giver(object, body)->function;
	}
	isa_free(isa);
	if (!symbol && declared.count)
		symbol = xstrdup(declared.items[0]->mangled);
	return symbol;
}

char *name_giver(struct object *object, uint32_t body, const struct line_function *place)
{
	struct name_code *known = name_index_code(object_name_index(object));
	uint32_t kept = hash_map_get(&known->parents, body); /* one more than the text's; 0: none */
	char *symbol;

	if (kept != HASH_NONE)
		return kept ? xstrdup(string_table_text(&known->parent_texts, kept - 1)) : NULL;
	symbol = search(object, body, place);
	hash_map_put(&known->parents, body,
		     symbol ? string_table_add(&known->parent_texts, symbol) + 1 : 0);
	return symbol;
}
