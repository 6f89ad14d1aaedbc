/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors, as the old tools write them: {TYPE NAME}, blanks in types as underscores, a dash for
 * what has no name.  A structure stands for all variables of its type, and its elements
 * follow it with dots; a variable that is one is a data object besides.  Types are one where
 * name, size and place of declaration agree, in all units and load objects.
 */
#include "analysis/data/data_map.h"

#include "analysis/data/data_address.h"
#include "analysis/session/symbols.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

enum { NEST_MAX = 64 };

#define NO_TYPE "-" /* as for names */

const char *data_object_kind_name(enum data_object_kind kind)
{
	static const char *const names[] = {
		[DATA_OBJECT_TOTAL] = "total",	   [DATA_OBJECT_SCALARS] = "scalars",
		[DATA_OBJECT_UNKNOWN] = "unknown", [DATA_OBJECT_REASON] = "reason",
		[DATA_OBJECT_SCALAR] = "scalar",   [DATA_OBJECT_AGGREGATE] = "aggregate",
		[DATA_OBJECT_ELEMENT] = "element", [DATA_OBJECT_VARIABLE] = "variable",
		[DATA_OBJECT_BLOCK] = "block",
	};

	return names[kind];
}

/* The object of a key; a new one is as `object` says. The key is freed. */
static uint32_t add_object(struct data_map *map, char *key, const struct data_object *object)
{
	uint32_t id = string_table_add(&map->keys, key);

	free(key);
	if (id == map->objects.count) {
		*vec_push(&map->objects) = *object;
		map->objects.items[id].name = object->plain;
	}
	return id;
}

static uint32_t find_object(const struct data_map *map, const char *key)
{
	uint32_t id = string_table_find(&map->keys, key);

	return id == HASH_NONE ? DATA_NONE : id;
}

void data_describe_first(struct data_map *map)
{
#define X(name, parent, text, description) {text, DATA_##parent},
	static const struct {
		const char *text;
		enum data_reason parent;
	} reasons[] = {DATA_REASONS_LIST(X)};
#undef X
	static const struct data_object first[] = {
		[DATA_TOTAL] = {.plain = "<Total>", .kind = DATA_OBJECT_TOTAL},
		[DATA_SCALARS] = {.plain = "<Scalars>", .kind = DATA_OBJECT_SCALARS},
		[DATA_UNKNOWN] = {.plain = "<Unknown>", .kind = DATA_OBJECT_UNKNOWN},
	};
	struct data_object object;

	for (size_t i = 0; i < DATA_FIRST_REASON; i++) {
		object = first[i];
		object.parent = DATA_NONE;
		object.scope = "";
		object.type = TYPE_NONE;
		add_object(map, xstrdup(object.plain), &object);
	}
	for (enum data_reason i = 0; i < DATA_REASONS; i++) {
		object = (struct data_object){.plain = reasons[i].text,
					      .kind = DATA_OBJECT_REASON,
					      .scope = "",
					      .type = TYPE_NONE};
		object.parent =
			reasons[i].parent == i ? DATA_UNKNOWN : data_of_reason(reasons[i].parent);
		add_object(map, xstrdup(object.plain), &object);
	}
}

uint32_t data_of_reason(enum data_reason reason)
{
	return DATA_FIRST_REASON + (uint32_t)reason;
}

/* ---- types and their elements ---- */

static const char *type_text(struct variables *variables, uint32_t type)
{
	return type == TYPE_NONE ? NO_TYPE : variables_type(variables, type)->text;
}

uint32_t data_of_type(struct data_map *map, struct variables *variables, uint32_t type)
{
	const struct data_type *aggregate;
	char *key;
	uint32_t known;

	if (type == TYPE_NONE || variables_type(variables, type)->kind != DATA_AGGREGATE)
		return DATA_NONE;
	type = variables_type(variables, type)->plain;
	aggregate = variables_type(variables, type);
	key = xasprintf("T%s|%llu|%s|%u", aggregate->text, (unsigned long long)aggregate->size,
			aggregate->file ? aggregate->file : "", aggregate->line);
	known = find_object(map, key);
	if (known != DATA_NONE) {
		free(key);
		return known;
	}

	struct arena *arena = &map->session->arena;
	const char *slash = aggregate->file ? strrchr(aggregate->file, '/') : NULL;
	const struct data_object object = {
		.plain = arena_printf(arena, "{%s}", aggregate->text),
		.kind = DATA_OBJECT_AGGREGATE,
		.parent = DATA_NONE,
		.scope = aggregate->file
				 ? arena_printf(arena, "%s:%u", slash ? slash + 1 : aggregate->file,
						aggregate->line)
				 : "",
		.variables = variables,
		.type = type,
		.size = aggregate->size,
	};

	return add_object(map, key, &object);
}

uint32_t data_of_member(struct data_map *map, uint32_t parent, const struct data_member *member)
{
	struct data_object of = map->objects.items[parent];
	const char *text = type_text(of.variables, member->type);
	const char *name = *member->name ? member->name : "-";
	char *key =
		xasprintf("M%u|%s|%s|%llu", parent, text, name, (unsigned long long)member->offset);
	uint32_t known = find_object(map, key);

	if (known != DATA_NONE) {
		free(key);
		return known;
	}
	const struct data_object object = {
		.plain = arena_printf(&map->session->arena, "%s.{%s %s}", of.plain, text, name),
		.kind = DATA_OBJECT_ELEMENT,
		.parent = parent,
		.scope = of.scope,
		.variables = of.variables,
		.type = member->type,
		.offset = of.offset + member->offset,
		.size = member->size,
	};

	return add_object(map, key, &object);
}

static bool covers(const struct data_member *member, int64_t offset)
{
	return offset >= 0 && (uint64_t)offset >= member->offset &&
	       (uint64_t)offset - member->offset < member->size;
}

/*
 * The member at an offset.  Of several, as unions and bit fields have them, the only one that is
 * just as large as the access; *several tells that there is none of these.
 */
static const struct data_member *choose_member(struct variables *variables, uint32_t type,
					       int64_t offset, uint32_t size, bool *several)
{
	const struct data_member *members, *found = NULL, *fits = NULL;
	size_t count = variables_members(variables, type, &members);
	unsigned found_count = 0, fit_count = 0;

	for (size_t i = 0; i < count; i++) {
		if (!covers(&members[i], offset))
			continue;
		found = &members[i];
		found_count++;
		if (size && members[i].size == size && (uint64_t)offset == members[i].offset) {
			fits = &members[i];
			fit_count++;
		}
	}
	*several = found_count > 1 && fit_count != 1;
	return *several ? NULL : found_count > 1 ? fits : found;
}

/* The type of the elements of an array, however many dimensions it has, or the type itself; the
 * offset becomes the one in an element. */
static uint32_t element_type(struct variables *variables, uint32_t type, int64_t *offset)
{
	for (unsigned i = 0; i < NEST_MAX && type != TYPE_NONE; i++) {
		const struct data_type *array = variables_type(variables, type);

		if (array->kind != DATA_ARRAY)
			break;
		type = array->target;
	}
	if (type != TYPE_NONE) {
		uint64_t size = variables_type(variables, type)->size;

		if (size && size < INT64_MAX && *offset >= 0)
			*offset %= (int64_t)size;
	}
	return type;
}

static uint32_t element_at(struct data_map *map, uint32_t object, int64_t offset, uint32_t size)
{
	struct variables *variables = map->objects.items[object].variables;
	uint32_t type = map->objects.items[object].type;
	bool several;

	for (unsigned i = 0; i < NEST_MAX; i++) {
		const struct data_member *member =
			choose_member(variables, type, offset, size, &several);

		if (!member)
			return several || variables_type(variables, type)->is_open
				       ? object
				       : data_of_reason(DATA_PADDING);
		object = data_of_member(map, object, member);
		offset -= (int64_t)member->offset;
		type = element_type(variables, member->type, &offset);
		if (type == TYPE_NONE || variables_type(variables, type)->kind != DATA_AGGREGATE)
			break;
	}
	return object;
}

/* Something that has no name: what a pointer points to. */
static uint32_t data_of_unnamed(struct data_map *map, const char *text, uint64_t size,
				enum data_object_kind kind)
{
	const struct data_object object = {
		.plain = arena_printf(&map->session->arena, "{%s -}", text),
		.kind = kind,
		.parent = DATA_NONE,
		.scope = "",
		.type = TYPE_NONE,
		.size = size,
	};

	return add_object(map, xasprintf("U%s", text), &object);
}

uint32_t data_at(struct data_map *map, struct variables *variables, uint32_t type, int64_t offset,
		 uint32_t size)
{
	uint32_t element = element_type(variables, type, &offset);
	const struct data_type *what;
	uint32_t object;

	if (element == TYPE_NONE)
		return data_of_reason(DATA_UNIDENTIFIED);
	what = variables_type(variables, type);
	object = data_of_type(map, variables, element);
	if (object != DATA_NONE)
		return element_at(map, object, offset, size);
	return data_of_unnamed(map, what->text, what->size,
			       what->kind == DATA_ARRAY ? DATA_OBJECT_VARIABLE
							: DATA_OBJECT_SCALAR);
}

/* ---- variables, symbols, blocks ---- */

static const char *scope_of(const struct data_map *map, uint32_t object,
			    const struct variable *variable)
{
	const char *slash = strrchr(variable->where, '/');

	if (variable->scope == SCOPE_OBJECT || !*variable->where)
		return map->session->objects.items[object].name;
	return slash ? slash + 1 : variable->where;
}

uint32_t data_of_variable(struct data_map *map, uint32_t object, struct variables *variables,
			  const struct variable *variable, int64_t offset, uint32_t size,
			  uint32_t *leaf)
{
	const char *text = type_text(variables, variable->type);
	const struct data_type *type =
		variable->type == TYPE_NONE ? NULL : variables_type(variables, variable->type);
	bool is_whole = type && (type->kind == DATA_AGGREGATE || type->kind == DATA_ARRAY);
	bool is_scalar = type && !is_whole && !type->is_descriptor;
	char *key = xasprintf("V%u|%u|%s|%s|%s|%llx", object, variable->scope, variable->where,
			      text, variable->name, (unsigned long long)variable->address);
	const struct data_object described = {
		.plain = arena_printf(&map->session->arena, "{%s %s}", text,
				      *variable->name ? variable->name : "-"),
		.kind = is_scalar ? DATA_OBJECT_SCALAR : DATA_OBJECT_VARIABLE,
		.parent = DATA_NONE,
		.scope = scope_of(map, object, variable),
		.object = object,
		.address = variable->address,
		.type = TYPE_NONE,
		.size = type ? type->size : 0,
	};
	uint32_t id = add_object(map, key, &described);
	uint32_t element = is_whole ? element_type(variables, variable->type, &offset) : TYPE_NONE;
	uint32_t aggregate = data_of_type(map, variables, element);

	*leaf = aggregate == DATA_NONE ? id : element_at(map, aggregate, offset, size);
	return id;
}

uint32_t data_of_symbol(struct data_map *map, uint32_t object, const struct object_data *data)
{
	char *name = object_demangle(data->mangled, NAME_LONG);
	const struct data_object described = {
		.plain = arena_printf(&map->session->arena, "{" NO_TYPE " %s}", name),
		.kind = DATA_OBJECT_VARIABLE,
		.parent = DATA_NONE,
		.scope = map->session->objects.items[object].name,
		.object = object,
		.address = data->address,
		.type = TYPE_NONE,
		.size = data->size,
	};

	free(name);
	return add_object(map, xasprintf("S%u|%llx", object, (unsigned long long)data->address),
			  &described);
}

/* "operator new" is no answer to who allocated something. */
static bool is_allocator(struct data_map *map, const struct session_process *process,
			 uint32_t location)
{
	struct session *session = map->session;
	uint64_t address;
	uint32_t object;
	uint32_t function = symbols_place(session, session->experiments.items[process->experiment],
					  process->process, location, &object, &address);

	return !strncmp(session->functions.items[function].mangled, "_Zn", 3);
}

/* What called the function of a node, as a scope: tells blocks from one place apart. */
static const char *caller_of(struct data_map *map, const struct session_process *process,
			     uint32_t node)
{
	struct session *session = map->session;
	const struct stack_node *nodes = process->process->stacks.nodes.items;
	uint32_t caller = nodes[node].parent;

	return caller == STACK_ROOT
		       ? ""
		       : place_of_code(session, session->experiments.items[process->group - 1],
				       process->process, nodes[caller].location, NAME_SHORT);
}

uint32_t data_of_block(struct data_map *map, const struct session_process *process, uint32_t node,
		       bool is_mapping)
{
	struct session *session = map->session;
	const struct stack_node *nodes = process->process->stacks.nodes.items;
	char *key = xasprintf("B%u|%u|%d", process->id, node, is_mapping);
	uint32_t known = find_object(map, key), maker = node;
	const char *place = "<no call stack recorded>";

	if (known != DATA_NONE) {
		free(key);
		return known;
	}
	while (maker != STACK_ROOT && is_allocator(map, process, nodes[maker].location))
		maker = nodes[maker].parent;
	if (maker != STACK_ROOT)
		place = place_of_code(session, session->experiments.items[process->experiment],
				      process->process, nodes[maker].location, NAME_SHORT);

	const struct data_object object = {
		.plain = arena_printf(&session->arena, "%s from %s",
				      is_mapping ? "mapping" : "block", place),
		.kind = DATA_OBJECT_BLOCK,
		.parent = DATA_NONE,
		.scope = maker == STACK_ROOT ? "" : caller_of(map, process, maker),
		.type = TYPE_NONE,
		.maker = process,
		.node = node,
	};

	return add_object(map, key, &object);
}

/* ---- names ---- */

static const char *scoped(struct data_map *map, const struct data_object *object)
{
	return *object->scope
		       ? arena_printf(&map->session->arena, "%s [%s]", object->plain, object->scope)
		       : object->plain;
}

/* A structure that has neither a name nor a typedef. */
static bool is_anonymous(const struct data_object *object)
{
	size_t length = strlen(object->plain);

	return object->kind == DATA_OBJECT_AGGREGATE && length > 3 &&
	       !strcmp(object->plain + length - 3, ":-}");
}

/* Counts how often each name is there, by the name's number. */
static uint32_t *count_names(struct string_table *names, const struct data_map *map)
{
	uint32_t *counts = xcalloc(map->objects.count + 1, sizeof(*counts));

	for (size_t i = 0; i < map->objects.count; i++)
		counts[string_table_add(names, map->objects.items[i].plain)]++;
	return counts;
}

void data_describe_last(struct data_map *map)
{
	struct string_table names = {0}, taken = {0};
	uint32_t *counts = count_names(&names, map);
	VEC(uint32_t) uses = {0}; /* of each name in `taken` */

	for (size_t i = 0; i < map->objects.count; i++) {
		struct data_object *object = &map->objects.items[i];

		if (counts[string_table_find(&names, object->plain)] > 1 || is_anonymous(object))
			object->name = scoped(map, object);
		uint32_t name = string_table_add(&taken, object->name);

		if (name == uses.count)
			*vec_push(&uses) = 0;
		if (++uses.items[name] > 1)
			object->name = arena_printf(&map->session->arena, "%s #%u", object->name,
						    uses.items[name]);
	}
	free(counts);
	vec_fini(&uses);
	string_table_fini(&names);
	string_table_fini(&taken);
}
