/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a load object: opened from a file, asked for functions, lines, inlined calls,
 * data, variables and their types.
 */
#include "base/memory.h"
#include "object/lines/lines.h"
#include "object/names/name.h"
#include "object/object.h"
#include "object/types/variables.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ASKED = 500 }; /* of what an object has any number of */

static void ask(struct object *object, uint64_t address)
{
	uint32_t index = object_function_at(object, address);

	if (index == OBJECT_NO_FUNCTION)
		return;
	const struct object_function *function = object_function(object, index);

	if (address < function->address || address - function->address >= function->size)
		abort();
	free(object_demangle(function->mangled, NAME_SHORT));
}

/* Rows have no holes, and chains of calls come to an end. */
static void ask_lines(struct object *object, const struct object_function *function)
{
	struct lines *lines = object_lines(object);
	uint64_t start = function->address;
	uint64_t end = function->size < 0x100 ? start + function->size : start + 0x100;
	struct line_rows rows = {0};

	lines_in_range(lines, start, end, &rows);
	for (size_t i = 0; i < rows.count; i++) {
		uint32_t node;

		if (rows.items[i].start != start || rows.items[i].end <= start)
			abort();
		start = rows.items[i].end;
		lines_find_inlined(lines, &rows.items[i].start, 1, &node);
		for (uint32_t parent; node != LINES_NONE; node = parent) {
			parent = lines_inline_node(lines, node).parent;
			if (parent != LINES_NONE && parent >= node)
				abort();
		}
	}
	lines_unit_at(lines, start);
	vec_fini(&rows);
}

/* Members lie in their order or not, but each has a type that can be asked for. */
static void ask_type(struct variables *variables, uint32_t type)
{
	enum { DEPTH = 8 };
	const struct data_member *members;

	for (unsigned depth = 0; type != TYPE_NONE && depth < DEPTH; depth++) {
		const struct data_type *known = variables_type(variables, type);
		size_t count = variables_members(variables, type, &members);

		for (size_t i = 0; i < count && i < ASKED; i++)
			if (members[i].type != TYPE_NONE)
				variables_type(variables, members[i].type);
		type = known->target != TYPE_NONE ? known->target
		       : count			  ? members[count - 1].type
						  : TYPE_NONE;
	}
}

static void ask_variables(struct object *object, uint64_t address)
{
	struct variables *variables = object_variables(object);
	const struct data_function *function = variables_function_at(variables, address);
	const struct variable *fixed = variables_at(variables, address);
	struct object_data data;
	int64_t offset;
	uint8_t reg;

	object_data_at(object, address, &data);
	variables_frame_at(variables, address, &reg, &offset);
	if (fixed)
		ask_type(variables, fixed->type);
	for (size_t i = 0; function && i < function->places.count && i < ASKED; i++)
		ask_type(variables, function->places.items[i].variable->type);
	if (function)
		ask_type(variables, function->result);
}

static void ask_data(struct object *object)
{
	uint64_t start, end;

	if (!object_data_span(object, &start, &end))
		return;
	for (uint64_t step = (end - start) / ASKED + 1, i = 0; i < ASKED; i++)
		ask_variables(object, start + i * step);
}

/* All rows of the files that the tables name, in order. */
static void ask_files(struct object *object)
{
	enum { FILES = 16 };
	struct lines *lines = object_lines(object);
	uint32_t count = lines_file_count(lines, true);

	for (uint32_t file = 0; file < count && file < FILES; file++) {
		struct line_rows rows = {0};

		lines_of_file(lines, file, &rows);
		for (size_t i = 1; i < rows.count; i++)
			if (rows.items[i].start < rows.items[i - 1].start)
				abort();
		vec_fini(&rows);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1;
	static char path[64];
	struct object_request request = {.path = path};
	struct diag_list diags = {0};
	struct object *object;

	if (file < 0) {
		file = memfd_create("object", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
		setenv("HELIO_DEBUG_ROOT", "/nonexistent", 1);
	}
	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		return 0;
	object_open(&request, &object, &diags);

	uint32_t count = object_function_count(object);

	for (uint32_t i = 0; i < count && i < 1000; i++) {
		const struct object_function *function = object_function(object, i);

		ask(object, function->address);
		ask(object, function->address + function->size);
		ask_lines(object, function);
		ask_variables(object, function->address);
		free(function_display_name(object, i, NAME_LONG));
	}
	for (uint64_t address = 0; address < 0x4000; address += 97) {
		ask(object, address);
		ask_variables(object, address);
	}
	ask_data(object);
	ask_files(object);
	object_take_diags(object, &diags);
	object_free(object);
	diag_fini(&diags);
	return 0;
}
