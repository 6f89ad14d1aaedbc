/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GCC names the body of an OpenMP construct after the function around it, but
 * not after the construct: that shows in which function of the OpenMP run-time
 * is given the body's address.  Clang names neither: name_givers.c finds the
 * parent.  A loop with a static schedule is nothing but a region to the run-time: its body begins
 * by sharing out the iterations.  So does that of clang's sections; the place that is passed to the
 * run-time tells them apart.
 */
#include "object/names/name.h"

#include "base/memory.h"
#include "isa/isa.h"
#include "object/names/name_code.h"
#include "object/names/name_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_omp_body(enum function_kind kind)
{
	return kind >= FUNCTION_OMP_REGION && kind <= FUNCTION_OMP_TARGET;
}

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* What a function is. */
struct classification {
	enum function_kind kind;
	char *parent; /* its symbol as far as names tell it, to be freed, or NULL */
};

/* Where a function is declared, with line 0 where DWARF does not tell. */
static struct line_function declared_at(struct object *object, uint32_t number)
{
	struct lines *lines = object_lines(object);
	uint32_t node;

	lines_find_inlined(lines, &object_function(object, number)->address, 1, &node);
	if (node == LINES_NONE)
		return (struct line_function){.file = LINES_NONE};
	while (lines_inline_node(lines, node).parent != LINES_NONE)
		node = lines_inline_node(lines, node).parent;
	return *lines_function(lines, lines_inline_node(lines, node).function);
}

enum { PLACES = 8 };

/* How far the beginning of a body has been read. */
struct sharing {
	uint64_t addresses[PLACES]; /* that were named last */
	size_t address_count;	    /* of all */
	bool has_counted;	    /* the threads; next, which of them it is */
	bool is_shared;
};

/* What is shared out, as the place says (ident_t of LLVM's run-time) whose address was named. */
static enum function_kind kind_by_place(struct object *object, const struct sharing *sharing)
{
	enum { IS_PLACE = 2, OF_SECTIONS = 0x400 };
	enum function_kind kind = FUNCTION_OMP_LOOP;

	for (size_t i = 0; i < PLACES && i < sharing->address_count; i++) {
		uint32_t words[2]; /* reserved, flags */
		size_t size = object_code(object, sharing->addresses[i], words, sizeof(words));

		if (size == sizeof(words) && words[1] & IS_PLACE && words[1] & OF_SECTIONS)
			kind = FUNCTION_OMP_SECTIONS;
	}
	return kind;
}

static bool is_barrier(const char *callee)
{
	return has_prefix(callee, "__kmpc_barrier") || has_prefix(callee, "GOMP_barrier");
}

/* False: the body does something else first. */
static bool read_call(struct sharing *sharing, const char *callee)
{
	if (sharing->has_counted) {
		sharing->is_shared = has_prefix(callee, "omp_get_thread_num");
		return sharing->is_shared;
	}
	sharing->has_counted = has_prefix(callee, "omp_get_num_threads");
	sharing->is_shared = has_prefix(callee, "__kmpc_dispatch_init") ||
			     has_prefix(callee, "__kmpc_for_static_init");
	return sharing->has_counted || sharing->is_shared || is_barrier(callee);
}

/*
 * The construct by the first things that a body of a region does: FUNCTION_OMP_REGION where it does
 * not share out anything, or goes on together afterwards; *next, if it does nothing but call
 * another body, which is the real one.
 */
static enum function_kind kind_by_sharing(struct object *object, struct isa *isa, uint32_t body,
					  uint64_t *next)
{
	uint64_t address = object_function(object, body)->address;
	struct sharing sharing = {0};
	struct isa_instruction instruction;
	size_t size;
	uint8_t *code = name_code_read(object, body, &size);

	for (size_t at = 0; at < size; at += instruction.length) {
		isa_decode(isa, code + at, size - at, address + at, &instruction);
		const char *name = name_code_callee(object, &instruction);

		if (sharing.is_shared && is_barrier(name)) {
			sharing.is_shared = false;
			break;
		}
		if (sharing.is_shared)
			continue;
		if (instruction.has_data || instruction.has_constant)
			sharing.addresses[sharing.address_count++ % PLACES] =
				instruction.has_data ? instruction.data : instruction.constant;
		if (instruction.has_target && strstr(name, "omp_outlined"))
			*next = instruction.target != address ? instruction.target : 0;
		if (instruction.kind == ISA_CALL && !read_call(&sharing, name))
			break;
	}
	free(code);
	return sharing.is_shared ? kind_by_place(object, &sharing) : FUNCTION_OMP_REGION;
}

/* A loop whose iterations are shared out in the body itself is a region to the run-time. */
static enum function_kind kind_of_region(struct object *object, uint32_t number)
{
	struct name_code *known = name_index_code(object_name_index(object));
	uint32_t body = number, kept = hash_map_get(&known->regions, number);
	struct isa *isa = kept == HASH_NONE ? isa_new(object_machine(object)) : NULL;
	enum function_kind kind = kept == HASH_NONE ? FUNCTION_OMP_REGION : kept;

	/* Without optimisation clang's body is called by another one. */
	for (int step = 0; step < 2 && isa && body != OBJECT_NO_FUNCTION; step++) {
		uint64_t next = 0;

		kind = kind_by_sharing(object, isa, body, &next);
		body = kind == FUNCTION_OMP_REGION && next ? object_function_at(object, next)
							   : OBJECT_NO_FUNCTION;
	}
	isa_free(isa);
	hash_map_put(&known->regions, number, kind);
	return kind;
}

static struct classification classify(struct object *object, uint32_t number)
{
	const struct object_function *function = object_function(object, number);
	struct classification is = {0};

	is.kind = function_name_parse(function->mangled, &is.parent);
	if (function->is_resolver)
		is.kind = FUNCTION_RESOLVER;
	if (is.kind == FUNCTION_OMP_REGION && is.parent) {
		enum function_kind use = name_code_use(object, number, is.parent);

		is.kind = use == FUNCTION_PLAIN ? FUNCTION_OMP_REGION : use;
	}
	if (is.kind == FUNCTION_OMP_REGION)
		is.kind = kind_of_region(object, number);
	return is;
}

enum function_kind function_kind_of(struct object *object, uint32_t number)
{
	struct classification is = classify(object, number);

	free(is.parent);
	return is.kind;
}

/*
 * Where a body's construct is: its declaration, which clang gives; else its first line, since gcc's
 * code begins with that of the directive.
 */
static struct line_function where(struct object *object, uint32_t number)
{
	const struct object_function *function = object_function(object, number);
	struct line_function place = declared_at(object, name_outer_body(object, number));

	if (!place.line) {
		const struct line_row first = lines_first(object_lines(object), function->address,
							  function->address + function->size);

		place.file = first.file;
		place.line = first.line;
	}
	return place;
}

/* Of the functions with that very symbol the one in the child's unit, else the nearest. */
static uint32_t find_parent(struct object *object, uint32_t child, const char *parent)
{
	struct lines *lines = object_lines(object);
	uint64_t address = object_function(object, child)->address;
	const struct line_unit *unit = lines_unit_at(lines, address);
	uint64_t best_distance = UINT64_MAX;
	uint32_t best = OBJECT_NO_FUNCTION, other;

	for (size_t n = 0;; n++) {
		other = name_index_get(object_name_index(object), parent, n);
		if (other == OBJECT_NO_FUNCTION)
			return best;
		const struct object_function *function = object_function(object, other);
		uint64_t distance = function->address < address ? address - function->address
								: function->address - address;
		char *made_from;
		enum function_kind kind = function_name_parse(function->mangled, &made_from);

		free(made_from);
		if (unit && lines_unit_at(lines, function->address) == unit)
			distance = 0;
		if (other != child && (kind == FUNCTION_PLAIN || kind == FUNCTION_RESOLVER) &&
		    distance < best_distance) {
			best = other;
			best_distance = distance;
		}
	}
}

uint32_t function_parent(struct object *object, uint32_t number)
{
	struct classification is = classify(object, number);
	uint32_t found = OBJECT_NO_FUNCTION;

	if (is_omp_body(is.kind) && !is.parent) {
		const struct line_function place = where(object, number);

		is.parent = name_giver(object, number, &place);
	}
	if (is.parent && is.kind != FUNCTION_RESOLVER)
		found = find_parent(object, number, is.parent);
	free(is.parent);
	return found;
}

/* MODULE::NAME for __MODULE_MOD_NAME, to be freed, or NULL. */
static char *fortran_name(const char *symbol)
{
	static const char middle[] = "_MOD_";
	const char *name = has_prefix(symbol, "__") ? strstr(symbol + 2, middle) : NULL;

	if (!name || name == symbol + 2)
		return NULL;
	return xasprintf("%.*s::%s", (int)(name - symbol - 2), symbol + 2,
			 name + sizeof(middle) - 1);
}

static char *plain_name(const char *symbol, enum name_style style)
{
	char *name = fortran_name(symbol);

	return name ? name : object_demangle(symbol, style);
}

static const char *description(enum function_kind kind)
{
	switch (kind) {
	case FUNCTION_PART:
		return "outline code";
	case FUNCTION_OMP_REGION:
		return "OMP parallel region";
	case FUNCTION_OMP_LOOP:
		return "OMP parallel loop";
	case FUNCTION_OMP_SECTIONS:
		return "OMP sections";
	case FUNCTION_OMP_TASK:
		return "OMP task";
	case FUNCTION_OMP_TARGET:
		return "OMP target region";
	case FUNCTION_RESOLVER:
		return "IFUNC resolver";
	case FUNCTION_ENTRIES:
		return "all entries";
	default:
		return NULL;
	}
}

/* PARENT -- DESCRIPTION from line N [SYMBOL]; that of a part has the line that is known, or 0. */
static char *describe(struct object *object, uint32_t number, struct classification *is,
		      enum name_style style, uint32_t known_line)
{
	const char *symbol = object_function(object, number)->mangled;
	struct line_function place = {.line = is->kind == FUNCTION_PART ? known_line : 0};
	char line[32] = "", *name;

	if (is_omp_body(is->kind)) {
		place = where(object, number);
		if (!is->parent)
			is->parent = name_giver(object, number, &place);
	} else if (!is->parent) {
		is->parent = xstrdup(symbol);
	}
	if (place.line)
		snprintf(line, sizeof(line), " from line %u", place.line);
	name = is->parent ? plain_name(is->parent, style) : NULL;

	char *text = xasprintf("%s%s%s%s [%s]", name ? name : "", name ? " -- " : "",
			       description(is->kind), line, symbol);

	free(name);
	return text;
}

char *function_entry_name(struct object *object, uint32_t number, enum name_style style,
			  uint32_t line)
{
	const char *symbol = object_function(object, number)->mangled;
	struct classification is;
	char *name;

	if (style == NAME_MANGLED)
		return xstrdup(symbol);
	is = classify(object, number);
	name = description(is.kind) ? describe(object, number, &is, style, line)
				    : plain_name(symbol, style);
	free(is.parent);
	return name;
}

char *function_part_name(const char *symbol, enum name_style style)
{
	char *parent = NULL;
	bool is_part = strchr(symbol, '.') && function_name_parse(symbol, &parent) == FUNCTION_PART;

	free(parent);
	return is_part ? object_demangle(symbol, style) : NULL;
}

/* A part's line would have the line tables read for every list of functions. */
char *function_display_name(struct object *object, uint32_t number, enum name_style style)
{
	return function_entry_name(object, number, style, 0);
}
