/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load objects for the engine's tests: PATH "/lib/NAME" has 16 functions of 256
 * bytes, "NAME_0" … "NAME_15", from address 0; a path with "missing" has none.
 * As mangled name they have "_ZNAME_0", as long name "NAME_0(int)". They have no code, no lines and
 * no variables.
 */
#include "base/memory.h"
#include "object/lines/lines.h"
#include "object/names/name.h"
#include "object/object.h"
#include "object/types/variables.h"

#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 16, FUNCTION_SIZE = 256 };

struct object {
	char *name;
	struct object_function functions[FUNCTIONS];
	uint32_t count;
	bool archived;
};

void object_open(const struct object_request *request, struct object **out, struct diag_list *diags)
{
	struct object *object = xcalloc(1, sizeof(*object));
	const char *slash = strrchr(request->path, '/');

	object->archived = request->archive_path != NULL;
	object->name = xstrdup(slash ? slash + 1 : request->path);
	if (strstr(request->path, "missing"))
		diag_add(diags, DIAG_WARNING, "%s: not found", request->path);
	else
		object->count = FUNCTIONS;
	for (uint32_t i = 0; i < object->count; i++) {
		object->functions[i].address = i * FUNCTION_SIZE;
		object->functions[i].size = FUNCTION_SIZE;
		object->functions[i].mangled = xasprintf("_Z%s_%u", object->name, i);
		object->functions[i].alias_list = i == 1 ? "another_name third_name" : NULL;
	}
	*out = object;
}

void object_free(struct object *object)
{
	for (uint32_t i = 0; i < object->count; i++)
		free((char *)object->functions[i].mangled);
	free(object->name);
	free(object);
}

void object_make_up_functions(struct object *object)
{
	(void)object;
}

uint32_t object_function_at(struct object *object, uint64_t address)
{
	return address / FUNCTION_SIZE < object->count ? (uint32_t)(address / FUNCTION_SIZE)
						       : OBJECT_NO_FUNCTION;
}

const struct object_function *object_function(const struct object *object, uint32_t index)
{
	return &object->functions[index];
}

uint32_t object_function_count(struct object *object)
{
	return object->count;
}

const char *object_provenance(const struct object *object)
{
	if (object->archived)
		return "found in the archive";
	return object->count ? "found" : "not found";
}

bool object_is_missing(const struct object *object)
{
	return !object->archived && !object->count;
}

bool object_identify(const struct object *object, struct object_identity *out)
{
	(void)object;
	*out = (struct object_identity){0};
	return false;
}

const char *object_debug_file(struct object *object)
{
	(void)object;
	return NULL;
}

void object_take_diags(struct object *object, struct diag_list *diags)
{
	(void)object;
	(void)diags;
}

char *object_demangle(const char *mangled, enum name_style style)
{
	if (style == NAME_MANGLED || strncmp(mangled, "_Z", 2))
		return xstrdup(mangled);
	return style == NAME_SHORT ? xstrdup(mangled + 2) : xasprintf("%s(int)", mangled + 2);
}

char *function_part_name(const char *symbol, enum name_style style)
{
	(void)symbol;
	(void)style;
	return NULL;
}

char *function_display_name(struct object *object, uint32_t function, enum name_style style)
{
	return object_demangle(object->functions[function].mangled, style);
}

enum function_kind function_name_parse(const char *symbol, char **parent)
{
	(void)symbol;
	*parent = NULL;
	return FUNCTION_PLAIN;
}

uint32_t function_parent(struct object *object, uint32_t function)
{
	(void)object, (void)function;
	return OBJECT_NO_FUNCTION;
}

uint16_t object_machine(const struct object *object)
{
	(void)object;
	return 0;
}

size_t object_code(struct object *object, uint64_t address, void *buffer, size_t size)
{
	(void)object, (void)address, (void)buffer, (void)size;
	return 0;
}

struct lines *object_lines(struct object *object)
{
	return (struct lines *)object;
}

void lines_find(struct lines *lines, const uint64_t *addresses, size_t count, struct line_row *out)
{
	(void)lines;
	for (size_t i = 0; i < count; i++)
		out[i] = (struct line_row){
			.start = addresses[i], .end = addresses[i], .file = LINES_NONE};
}

void lines_in_range(struct lines *lines, uint64_t start, uint64_t end, struct line_rows *out)
{
	(void)lines, (void)start, (void)end, (void)out;
}

struct line_row lines_first(struct lines *lines, uint64_t start, uint64_t end)
{
	(void)lines, (void)start, (void)end;
	return (struct line_row){.file = LINES_NONE};
}

void lines_find_inlined(struct lines *lines, const uint64_t *addresses, size_t count,
			uint32_t *nodes)
{
	(void)lines, (void)addresses;
	for (size_t i = 0; i < count; i++)
		nodes[i] = LINES_NONE;
}

struct inline_node lines_inline_node(const struct lines *lines, uint32_t node)
{
	(void)lines, (void)node;
	return (struct inline_node){.parent = LINES_NONE};
}

const struct line_function *lines_function(const struct lines *lines, uint32_t function)
{
	(void)lines, (void)function;
	return NULL;
}

const struct line_unit *lines_unit_at(struct lines *lines, uint64_t address)
{
	(void)lines, (void)address;
	return NULL;
}

uint32_t lines_file_count(struct lines *lines, bool all)
{
	(void)lines, (void)all;
	return 0;
}

const struct line_file *lines_file(struct lines *lines, uint32_t file)
{
	(void)lines, (void)file;
	return NULL;
}

bool object_data_at(struct object *object, uint64_t address, struct object_data *out)
{
	(void)object, (void)address;
	*out = (struct object_data){0};
	return false;
}

bool object_data_span(struct object *object, uint64_t *start, uint64_t *end)
{
	(void)object;
	*start = *end = 0;
	return false;
}

struct variables *object_variables(struct object *object)
{
	(void)object;
	return NULL;
}

bool variables_present(struct variables *variables)
{
	(void)variables;
	return false;
}

const struct variable *variables_at(struct variables *variables, uint64_t address)
{
	(void)variables, (void)address;
	return NULL;
}

const struct variable *variables_of_thread_at(struct variables *variables, int64_t displacement)
{
	(void)variables, (void)displacement;
	return NULL;
}

uint64_t variables_thread_block(const struct variables *variables)
{
	(void)variables;
	return 0;
}

const struct data_function *variables_function_at(struct variables *variables, uint64_t address)
{
	(void)variables, (void)address;
	return NULL;
}

enum thread_slot_kind variables_thread_slot(struct variables *variables, uint64_t address,
					    int64_t *displacement)
{
	(void)variables, (void)address, (void)displacement;
	return THREAD_SLOT_NONE;
}

bool variables_frame_at(struct variables *variables, uint64_t address, uint8_t *reg,
			int64_t *offset)
{
	(void)variables, (void)address, (void)reg, (void)offset;
	return false;
}

const struct data_type *variables_type(struct variables *variables, uint32_t type)
{
	(void)variables, (void)type;
	abort(); /* there are none */
}

size_t variables_members(struct variables *variables, uint32_t type,
			 const struct data_member **members)
{
	(void)variables, (void)type, (void)members;
	abort();
}
