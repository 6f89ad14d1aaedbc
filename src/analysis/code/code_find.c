/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the names of the commands on code mean: FUNCTION, FILE or FUNCTION'FILE'.  A file is
 * named by the end of its path, from a slash on.  And, the other way round, which files
 * functions are from.
 */
#include "analysis/code/code.h"

#include "analysis/code/code_find.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"

#include <stdlib.h>
#include <string.h>

struct search {
	struct session *session;
	const struct query *query;
	const char *path;
	VEC(struct function_match) matches;
};

static bool ends_with_path(const char *path, const char *wanted)
{
	size_t length = strlen(path), end = strlen(wanted);

	return length >= end && end && !strcmp(path + length - end, wanted) &&
	       (length == end || wanted[0] == '/' || path[length - end - 1] == '/');
}

static void push_file(struct search *search, uint32_t function, uint32_t object, uint32_t file)
{
	struct session *session = search->session;

	*vec_push(&search->matches) = (struct function_match){
		.function = function,
		.name = code_file(session, object, file),
		.object = session->objects.items[object].path,
		.address = function == CODE_NONE ? 0 : session->functions.items[function].address,
		.object_id = object,
		.file = file,
	};
}

static void add_file(struct search *search, uint32_t function, uint32_t object, uint32_t file)
{
	const char *path = code_file(search->session, object, file);

	if (path && ends_with_path(path, search->path))
		push_file(search, function, object, file);
}

static void search_object(struct search *search, uint32_t object)
{
	struct lines *lines = code_lines(search->session, object);
	uint32_t count = lines ? lines_file_count(lines, true) : 0;

	for (uint32_t i = 0; i < count; i++)
		add_file(search, CODE_NONE, object, i);
}

static void search_announced(struct search *search)
{
	struct session *session = search->session;

	for (uint32_t i = 0; i < session->functions.count; i++)
		if (session->functions.items[i].announced && code_source_of(session, i) == i)
			add_file(search, CODE_NONE, session->functions.items[i].object, i);
}

/* The files that a function's code comes from. */
static void search_function(struct search *search, uint32_t function)
{
	struct session *session = search->session;
	struct line_rows rows = {0};
	struct hash_map seen = {0};

	code_rows(session, function, &rows);
	for (uint32_t i = 0; i < rows.count; i++) {
		uint32_t file = rows.items[i].file;

		if (file != LINES_NONE && hash_map_put(&seen, file, i) == i)
			add_file(search, function, session->functions.items[function].object, file);
	}
	hash_map_fini(&seen);
	vec_fini(&rows);
}

static void search_functions(struct search *search, const char *name)
{
	struct function_match *functions;
	size_t count = view_find_functions(search->session, search->query, name, &functions);

	for (size_t i = 0; i < count; i++)
		search_function(search, functions[i].function);
	free(functions);
}

static void search_files(struct search *search)
{
	for (uint32_t i = 0; i < search->session->objects.count; i++)
		if (search->session->objects.items[i].used)
			search_object(search, i);
	search_announced(search);
}

/* member: in its namespace or class. */
static bool is_called(const struct object_function *function, const char *name, bool member)
{
	bool same = !member && !strcmp(function->mangled, name);

	for (int style = NAME_LONG; !same && function->mangled[0] == '_' && style <= NAME_SHORT;
	     style++) {
		char *text = object_demangle(function->mangled, (enum name_style)style);

		same = member ? symbols_is_member(text, name) : !strcmp(text, name);
		free(text);
	}
	return same;
}

/* Functions that no event touched have no number so far: gives them one. False: there are none. */
static bool add_untouched(struct session *session, const char *name, bool member)
{
	bool found = false;

	for (uint32_t i = 0; i < session->objects.count; i++) {
		struct object *object = session->objects.items[i].object;
		uint32_t count = object && session->objects.items[i].used
					 ? object_function_count(object)
					 : 0;

		for (uint32_t symbol = 0; symbol < count; symbol++)
			if (is_called(object_function(object, symbol), name, member)) {
				symbols_function(session, i, symbol);
				found = true;
			}
	}
	return found;
}

/* Those that events touched go before. */
static size_t find_functions(struct session *session, const struct query *query, const char *name,
			     struct function_match **out)
{
	size_t count = symbols_search(session, query, name, 0, out);

	if (!count && add_untouched(session, name, false))
		count = symbols_search(session, query, name, FIND_UNTOUCHED, out);
	if (!count)
		count = symbols_search(session, query, name, FIND_MEMBERS, out);
	if (!count && add_untouched(session, name, true))
		count = symbols_search(session, query, name, FIND_MEMBERS | FIND_UNTOUCHED, out);
	return count;
}

size_t view_find_code(struct session *session, const struct query *query, const char *name,
		      struct function_match **out)
{
	struct search search = {.session = session, .query = query};
	size_t length = strlen(name), count;

	session_enter(session);
	count = find_functions(session, query, name, out);
	if (count) {
		session_leave(session);
		return count;
	}
	free(*out);
	code_of(session);

	char *copy = xstrdup(name);
	char *quote = length > 1 && copy[length - 1] == '\'' ? strchr(copy, '\'') : NULL;

	if (quote && quote < copy + length - 1) {
		*quote = copy[length - 1] = '\0';
		search.path = quote + 1;
	} else {
		quote = NULL;
		search.path = copy;
	}
	if (quote && quote != copy)
		search_functions(&search, copy);
	else
		search_files(&search);
	free(copy);
	*out = search.matches.items;
	session_leave(session);
	return search.matches.count;
}

void session_function_summary(struct session *session, uint32_t function,
			      struct function_summary *summary)
{
	uint32_t file;

	session_enter(session);
	code_of(session);
	file = code_source_of(session, function);

	const struct function *entry = &session->functions.items[function];

	*summary = (struct function_summary){
		.name = symbols_name(session, function, NAME_LONG),
		.mangled = entry->mangled,
		.aliases = entry->aliases,
		.load_object = session->objects.items[entry->object].path,
		.source_file = file == LINES_NONE ? entry->source
						  : code_file(session, entry->object, file),
		.object_file = code_unit(session, function),
		.size = entry->size,
		.address = entry->address,
		.segment = entry->object,
	};
	session_leave(session);
}

size_t session_files(struct session *session, struct function_match **out)
{
	struct search search = {.session = session, .path = ""};
	struct hash_map seen = {0};

	session_enter(session);
	code_of(session);
	for (uint32_t i = FUNCTION_FIRST_REAL; i < session->functions.count; i++) {
		uint32_t object = session->functions.items[i].object;
		uint32_t file = code_source_of(session, i);

		if (file != LINES_NONE &&
		    hash_map_put(&seen, (uint64_t)object << 32 | file, i) == i)
			push_file(&search, CODE_NONE, object, file);
	}
	hash_map_fini(&seen);
	*out = search.matches.items;
	session_leave(session);
	return search.matches.count;
}

size_t session_functions(struct session *session, struct function_match **out)
{
	VEC(struct function_match) found = {0};

	session_enter(session);
	for (uint32_t i = FUNCTION_FIRST_REAL; i < session->functions.count; i++)
		*vec_push(&found) = symbols_match(session, i);
	*out = found.items;
	session_leave(session);
	return found.count;
}

size_t session_functions_of_file(struct session *session, uint32_t object, uint32_t file,
				 uint32_t **out)
{
	VEC(uint32_t) found = {0};

	session_enter(session);
	code_of(session);
	for (uint32_t i = FUNCTION_FIRST_REAL; i < session->functions.count; i++)
		if (session->functions.items[i].object == object &&
		    code_source_of(session, i) == file)
			*vec_push(&found) = i;
	*out = found.items;
	session_leave(session);
	return found.count;
}
