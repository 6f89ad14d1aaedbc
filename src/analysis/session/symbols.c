/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses to functions.  A function is (load object, symbol), a load object
 * is (path, build-id), so the same function in several processes is one.
 * Every distinct location of a process is looked up once.
 */
#include "analysis/session/symbols.h"

#include "analysis/session/functions.h"
#include "analysis/session/query.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "format/archive.h"
#include "object/names/java_name.h"
#include "object/names/name.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t add_function(struct session *session, uint32_t object, const char *mangled)
{
	struct function *function = vec_push(&session->functions);

	function->origin = session->is_settled ? ORIGIN_LISTED : ORIGIN_STACKS;
	function->object = object;
	function->symbol = OBJECT_NO_FUNCTION;
	function->inlined = LINES_NONE;
	function->mangled = mangled;
	return (uint32_t)session->functions.count - 1;
}

uint32_t symbols_add_made_up(struct session *session, uint32_t object, const char *name)
{
	uint32_t id = add_function(session, object, name);

	for (size_t style = 0; style < NAME_STYLES; style++)
		session->functions.items[id].names[style] = name;
	return id;
}

void symbols_init(struct session *session)
{
	static const char *const names[FUNCTION_FIRST_REAL] = {[FUNCTION_TOTAL] = "<Total>",
#define X(number, name, text) [FUNCTION_##name] = (text),
							       FORMAT_PSEUDO_PCS(X)
#undef X
	};
	struct load_object *unknown = vec_push(&session->objects);

	string_table_add(&session->object_keys, "");
	unknown->path = unknown->name = "<Unknown>";
	unknown->rest_function = FUNCTION_UNKNOWN;
	for (size_t i = 0; i < FUNCTION_FIRST_REAL; i++)
		symbols_add_made_up(session, OBJECT_UNKNOWN, names[i]);
}

static void close_object(struct session *session, struct load_object *object)
{
	if (object->object && object->object != session->missing)
		object_files_let_go(&session->files, object->object, object->file);
	object->object = NULL;
	diag_fini(&object->doubts);
}

void symbols_fini(struct session *session)
{
	vec_fini(&session->functions);
	hash_map_fini(&session->function_ids);
	hash_map_fini(&session->inlined_ids);
	for (size_t i = 0; i < session->objects.count; i++)
		close_object(session, &session->objects.items[i]);
	vec_fini(&session->objects);
	if (session->missing)
		object_free(session->missing);
	object_files_fini(&session->files);
	string_table_fini(&session->object_keys);
	string_table_fini(&session->dynamic_keys);
}

/* The copy of a load object that the experiment keeps, or NULL. */
static const char *find_archive(struct session *session, const struct experiment *experiment,
				const struct map_file *file)
{
	char name[NAME_MAX + 1];

	if (file->copy)
		return file->copy;
	return experiment_find_copy(experiment, file, name)
		       ? arena_printf(&session->arena, "%s/%s", experiment->archives, name)
		       : NULL;
}

static struct load_object *add_object(struct session *session, const struct object_request *request)
{
	struct load_object *object = vec_push(&session->objects);

	object->path = arena_strdup(&session->arena, request->path);
	object->name = path_name(object->path);
	object->archive = request->archive_path;
	object->build_id =
		request->build_id ? arena_strdup(&session->arena, request->build_id) : NULL;
	object->mtime = request->mtime;
	object->file_size = request->file_size;
	object->rest_function = NODE_NONE;
	object->is_file = true;
	return object;
}

/* All whose files are not there are one object: there may be as many as map.xml has lines. */
static void open_object(struct session *session, struct load_object *object)
{
	const struct object_request request = {
		.path = object->path,
		.archive_path = object->archive,
		.build_id = object->build_id,
		.mtime = object->mtime,
		.file_size = object->file_size,
	};
	struct object *opened;

	object_open(&request, &opened, &object->doubts);
	if (!object->archive && object_is_missing(opened)) {
		if (session->missing)
			object_free(opened);
		else
			session->missing = opened;
		opened = session->missing;
	} else {
		object->file = object_files_share(&session->files, &opened);
	}
	object->object = opened;
}

struct object *symbols_object(struct session *session, uint32_t object)
{
	struct load_object *entry = &session->objects.items[object];

	if (entry->is_file && !entry->object)
		open_object(session, entry);
	return entry->object;
}

void symbols_close_unused(struct session *session, uint32_t object)
{
	struct load_object *entry = &session->objects.items[object];

	if (!entry->used)
		close_object(session, entry);
}

uint32_t symbols_place_object(struct session *session, const struct experiment *experiment,
			      const struct map_file *file)
{
	char *key = file->build_id[0] ? xasprintf("%s\n%s", file->path, file->build_id)
				      : xasprintf("%s\n\n%llu\n%llu", file->path,
						  (unsigned long long)file->mtime,
						  (unsigned long long)file->file_size);
	uint32_t id = string_table_add(&session->object_keys, key);

	free(key);
	if (id < session->objects.count)
		return id;

	const char *program = experiment->processes.items[0].log.executable;
	const struct object_request request = {
		.path = file->path,
		.archive_path = find_archive(session, experiment, file),
		.build_id = file->build_id[0] ? file->build_id : NULL,
		.mtime = file->mtime,
		.file_size = file->file_size,
	};

	add_object(session, &request)->is_program = program && !strcmp(program, file->path);
	return id;
}

void symbols_add_file(struct session *session, const struct object_request *request)
{
	uint32_t id = string_table_add(&session->object_keys, request->path);
	struct load_object *object = add_object(session, request);

	object->used = true;
	symbols_object(session, id);
	object_make_up_functions(object->object);
	for (uint32_t i = 0; i < object_function_count(object->object); i++)
		symbols_function(session, id, i);
}

/* The load object of a function that a program made at run time; it has no file. */
static uint32_t dynamic_object(struct session *session, const struct map_function *function)
{
	bool is_java = function->address & FORMAT_PC_JAVA;
	const char *name = function->object ? function->object
			   : is_java	    ? MAP_JAVA_CLASSES
					    : MAP_DYNAMIC_FUNCTIONS;
	uint32_t id = string_table_add(&session->object_keys, name);

	if (id == session->objects.count) {
		struct load_object *object = vec_push(&session->objects);

		object->path = object->name = arena_strdup(&session->arena, name);
		object->rest_function = NODE_NONE;
	}
	return id;
}

/* The pseudo-function for addresses of an object that are in none of its functions. */
static uint32_t rest_function(struct session *session, uint32_t object_id)
{
	struct load_object *object = &session->objects.items[object_id];

	if (object->rest_function == NODE_NONE) {
		const char *what = object_function_count(object->object) ? "outside all functions"
									 : "no functions found";
		char *name = arena_printf(&session->arena, "<%s> -- %s", object->name, what);

		object->rest_function = symbols_add_made_up(session, object_id, name);
	}
	return object->rest_function;
}

/* Functions that come from the cache: of all in the load object. */
static void seek_symbols(struct session *session, uint32_t object_id)
{
	struct load_object *object = &session->objects.items[object_id];

	object->is_unsought = false;
	for (uint32_t i = 0; i < session->functions.count; i++) {
		struct function *function = &session->functions.items[i];

		if (function->object != object_id || function->symbol != SYMBOL_UNSOUGHT)
			continue;
		function->symbol = object->object
					   ? object_function_at(object->object, function->address)
					   : OBJECT_NO_FUNCTION;
		if (function->symbol != OBJECT_NO_FUNCTION)
			hash_map_put(&session->function_ids,
				     (uint64_t)object_id << 32 | function->symbol, i);
	}
}

uint32_t symbols_symbol(struct session *session, uint32_t function)
{
	uint32_t object = session->functions.items[function].object;

	if (session->objects.items[object].is_unsought)
		seek_symbols(session, object);
	return session->functions.items[function].symbol;
}

void symbols_open_objects(struct session *session)
{
	for (uint32_t i = 0; i < session->objects.count; i++)
		if (session->objects.items[i].used)
			symbols_object(session, i);
}

uint32_t symbols_function(struct session *session, uint32_t object_id, uint32_t symbol)
{
	if (session->objects.items[object_id].is_unsought)
		seek_symbols(session, object_id);
	struct object *object = session->objects.items[object_id].object;
	uint32_t fresh = (uint32_t)session->functions.count;
	uint32_t id =
		hash_map_put(&session->function_ids, (uint64_t)object_id << 32 | symbol, fresh);

	if (id == fresh) {
		const struct object_function *known = object_function(object, symbol);

		add_function(session, object_id, known->mangled);
		session->functions.items[id].symbol = symbol;
		session->functions.items[id].address = known->address;
		session->functions.items[id].size = known->size;
		session->functions.items[id].aliases = known->alias_list;
	}
	return id;
}

uint32_t symbols_inlined(struct session *session, uint32_t object, uint32_t function)
{
	uint32_t fresh = (uint32_t)session->functions.count;
	uint32_t id = hash_map_put(&session->inlined_ids, (uint64_t)object << 32 | function, fresh);

	if (id == fresh) {
		struct lines *lines = object_lines(session->objects.items[object].object);
		const char *name = lines_function(lines, function)->mangled;

		add_function(session, object, *name ? name : "<Unknown>");
		session->functions.items[id].inlined = function;
		session->functions.items[id].origin = ORIGIN_INLINED;
	}
	return id;
}

const char *symbols_source(struct session *session, uint32_t number)
{
	const struct function *function = &session->functions.items[number];

	if (function->source || function->inlined == LINES_NONE)
		return function->source;

	struct object *object = symbols_object(session, function->object);

	if (!object)
		return NULL;

	struct lines *lines = object_lines(object);
	uint32_t file = lines_function(lines, function->inlined)->file;

	return file == LINES_NONE ? NULL : lines_file(lines, file)->path;
}

/* The table's first slot, which all others go through, where it has a name; else it is made up. */
static uint32_t add_linkage(struct session *session, uint32_t object_id)
{
	static const char name[] = "@plt";
	struct object *object = session->objects.items[object_id].object;
	uint32_t count = object ? object_function_count(object) : 0;

	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(object_function(object, i)->mangled, name))
			return symbols_function(session, object_id, i);
	return symbols_add_made_up(session, object_id, name);
}

uint32_t symbols_linkage(struct session *session, uint32_t object)
{
	struct load_object *entry = &session->objects.items[object];

	if (entry->linkage == FUNCTION_TOTAL)
		entry->linkage = add_linkage(session, object);
	return session->objects.items[object].linkage;
}

static uint32_t function_at(struct session *session, uint32_t object_id, uint64_t address)
{
	uint32_t symbol = object_function_at(symbols_object(session, object_id), address);

	session->objects.items[object_id].used = true;
	return symbol == OBJECT_NO_FUNCTION ? rest_function(session, object_id)
					    : symbols_function(session, object_id, symbol);
}

static uint32_t pseudo_function(uint64_t pc)
{
	switch (pc) {
#define X(number, name, text)                                                                      \
	case FORMAT_PC_##name:                                                                     \
		return FUNCTION_##name;
		FORMAT_PSEUDO_PCS(X)
#undef X
	default:
		return FUNCTION_UNKNOWN;
	}
}

/*
 * What tells a function that the program announced from others; the caller frees it.  What has
 * one name and comes from one source is one function, wherever and however often it was loaded.
 * But a method that a Java machine has compiled is one for each compilation, by where its code is
 * kept: each has other code and other lines.
 */
static char *dynamic_key(const struct map_function *known)
{
	if (known->address & FORMAT_PC_JAVA || !java_is_method(known->name))
		return xasprintf("%s\n%s", known->name, known->source);
	return xasprintf("%s\n%s\n%d/%s\n%llx %llx", known->name, known->source, known->folder,
			 known->directory, (unsigned long long)known->address,
			 (unsigned long long)known->text);
}

static uint32_t dynamic_function(struct session *session, const struct map_function *known)
{
	uint32_t fresh = (uint32_t)session->functions.count;
	char *key = dynamic_key(known);
	uint32_t object = dynamic_object(session, known);
	uint32_t number = string_table_add(&session->dynamic_keys, key);
	uint32_t id = hash_map_put(&session->function_ids, (uint64_t)object << 32 | number, fresh);

	free(key);
	if (id == fresh) {
		if (known->object)
			return symbols_add_made_up(session, object,
						   arena_strdup(&session->arena, known->name));
		add_function(session, object, known->name[0] ? known->name : "<Unknown>");

		struct function *function = &session->functions.items[id];

		function->announced = known;
		function->address = known->address;
		function->size = known->size;
		function->aliases = known->alias[0] ? known->alias : NULL;
		function->source = known->source[0] ? known->source : NULL;
	}
	return id;
}

static uint32_t resolve(struct session *session, const struct experiment_map *map,
			const uint32_t *objects, const struct stack_location *location)
{
	uint32_t found = experiment_map_find(map, location->pc, location->epoch);

	if (found == MAP_NONE)
		return FUNCTION_UNKNOWN;

	const struct map_segment *segment = &map->segments.items[found];

	if (segment->function != MAP_NONE)
		return dynamic_function(session, &map->functions.items[segment->function]);
	return function_at(session, objects[segment->file], location->pc - segment->bias);
}

uint32_t symbols_place(struct session *session, const struct experiment *experiment,
		       const struct process *process, uint32_t location, uint32_t *object,
		       uint64_t *address)
{
	const struct stack_location *at = &process->stacks.locations.items[location];
	uint32_t found = experiment_map_find(&process->map, at->pc, at->epoch);
	const struct map_segment *segment;

	*object = OBJECT_UNKNOWN;
	*address = at->pc;
	if (at->pc < FORMAT_PC_LIMIT)
		return pseudo_function(at->pc);
	if (found == MAP_NONE)
		return FUNCTION_UNKNOWN;
	segment = &process->map.segments.items[found];
	if (segment->function != MAP_NONE) {
		const struct map_function *known = &process->map.functions.items[segment->function];
		uint32_t function = dynamic_function(session, known);

		*object = dynamic_object(session, known);
		*address = session->functions.items[function].address + (at->pc - known->address);
		return function;
	}
	*object =
		symbols_place_object(session, experiment, &process->map.files.items[segment->file]);
	*address = at->pc - segment->bias;

	uint32_t function = function_at(session, *object, *address);

	/* What a signal handler returns to: nothing calls it. */
	if (session->functions.items[function].address == *address + 1)
		++*address;
	return function;
}

uint32_t *symbols_resolve(struct session *session, const struct experiment *experiment,
			  const struct process *process)
{
	const struct experiment_map *map = &process->map;
	size_t count = process->stacks.locations.count;
	uint32_t *functions = xmalloc(count * sizeof(*functions));
	uint32_t *objects = xmalloc(map->files.count * sizeof(*objects));

	for (size_t i = 0; i < map->files.count; i++)
		objects[i] = symbols_place_object(session, experiment, &map->files.items[i]);
	for (size_t i = 0; i < count; i++) {
		const struct stack_location *location = &process->stacks.locations.items[i];

		functions[i] = location->pc < FORMAT_PC_LIMIT
				       ? pseudo_function(location->pc)
				       : resolve(session, map, objects, location);
	}
	free(objects);
	return functions;
}

const char *place_of_code(struct session *session, const struct experiment *experiment,
			  const struct process *process, uint32_t location, enum name_style style)
{
	uint64_t pc = process->stacks.locations.items[location].pc, address;
	uint32_t object;
	uint32_t function =
		symbols_place(session, experiment, process, location, &object, &address);

	if (pc < FORMAT_PC_LIMIT)
		return symbols_name(session, function, style);
	if (function == FUNCTION_UNKNOWN)
		return arena_printf(&session->arena, "<Unknown> @ 0x%08llx",
				    (unsigned long long)pc);
	return arena_printf(
		&session->arena, "%s + 0x%08llx", symbols_name(session, function, style),
		(unsigned long long)(address - session->functions.items[function].address));
}

void session_note_doubts(struct session *session)
{
	for (size_t i = 0; i < session->objects.count; i++) {
		struct load_object *object = &session->objects.items[i];

		if (!object->used || !object->object)
			continue;
		object_take_diags(object->object, &object->doubts);
		for (size_t doubt = 0; doubt < object->doubts.count; doubt++)
			diag_add_once(&session->warnings, object->doubts.items[doubt].level, "%s",
				      object->doubts.items[doubt].text);
		diag_fini(&object->doubts);
	}
}

static char *make_name(struct session *session, const struct function *entry, enum name_style style)
{
	if (entry->symbol != OBJECT_NO_FUNCTION)
		return function_display_name(session->objects.items[entry->object].object,
					     entry->symbol, style);
	if (entry->inlined == LINES_NONE)
		return object_demangle(entry->mangled, style);

	char *plain = object_demangle(entry->mangled, style);
	char *name = xasprintf("%s (inlined)", plain);

	free(plain);
	return name;
}

const char *symbols_name(struct session *session, uint32_t function, enum name_style style)
{
	struct function *entry = &session->functions.items[function];

	if (!entry->names[style]) {
		char *name = make_name(session, entry, style);

		entry->names[style] = arena_strdup(&session->arena, name);
		free(name);
	}
	return entry->names[style];
}

char *symbols_part_name(struct session *session, uint32_t function, enum name_style style)
{
	const char *symbol = session->functions.items[function].mangled;

	return symbol ? function_part_name(symbol, style) : NULL;
}

bool symbols_is_seen(const struct session *session, uint32_t function, const struct query *query)
{
	const struct function *entry = &session->functions.items[function];

	switch (entry->origin) {
	case ORIGIN_STACKS:
		return true;
	case ORIGIN_INLINED:
		return query->inlines;
	case ORIGIN_STAND_IN:
		return query_object_showing(query, entry->object) == OBJECT_HIDDEN;
	case ORIGIN_LISTED:
		break;
	}
	return false;
}

size_t session_load_object_count(const struct session *session)
{
	return session->objects.count - 1;
}

void session_load_object(const struct session *session, size_t index, struct load_object_info *info)
{
	const struct load_object *object = &session->objects.items[index + 1];

	*info = (struct load_object_info){
		.number = (uint32_t)index + 1,
		.name = object->name,
		.path = object->path,
	};
}

const char *session_provenance(struct session *session, size_t index)
{
	session_enter(session);

	struct object *object = symbols_object(session, (uint32_t)index + 1);
	const char *provenance = "made at run time";

	if (object)
		provenance = arena_strdup(&session->arena, object_provenance(object));
	symbols_close_unused(session, (uint32_t)index + 1);
	session_leave(session);
	return provenance;
}
