/* SPDX-License-Identifier: Apache-2.0 */
/* Index and memory objects: the tables whose rows are values of an expression. */
#include "print/commands/command_index.h"

#include "analysis/data/memory_object.h"
#include "analysis/index/index.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "print/commands/command.h"
#include "print/commands/command_metrics.h"
#include "print/commands/command_views.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *command_of_object(const struct session *session, const char *name)
{
	if (index_find(session, INDEX_OBJECTS, name) != SIZE_MAX)
		return "indxobj";
	return index_find(session, MEMORY_OBJECTS, name) != SIZE_MAX ? "memobj" : NULL;
}

static bool complain_object(struct print *print, enum index_family family, const char *name)
{
	const char *what = family == INDEX_OBJECTS ? "index" : "memory";
	VEC(const char *) names = {0};
	struct index_info info;
	const char *closest;

	for (size_t i = 0; index_at(print->session, family, i, &info); i++)
		*vec_push(&names) = info.name;
	closest = suggest_closest(name, names.items, names.count);
	vec_fini(&names);
	if (closest)
		return say_error(print, "There is no %s object %s: did you mean %s?", what, name,
				 closest);
	return say_error(print, "There is no %s object %s: %s lists them", what, name,
			 family == INDEX_OBJECTS ? "indxobj_list" : "mobj_list");
}

/* The number of the object; as a command of its own the name may still have its dash. */
static bool find(struct print *print, enum index_family family, const char *name, size_t *index)
{
	name += strspn(name, "-");
	*index = index_find(print->session, family, name);
	return *index != SIZE_MAX || complain_object(print, family, name);
}

static bool put_table(struct print *print, const char *command, struct table *table, bool reverse)
{
	char *heading = command_table_heading(table->title, table, reverse);

	return command_show_table(print, command, SHAPE_LIST, table, heading);
}

static bool command_indxobj(struct print *print, char **arguments, size_t count)
{
	struct query query = command_index_query(print);
	struct diag_list diags = {0};
	struct table table;
	size_t index;

	if (!find(print, INDEX_OBJECTS, arguments[0], &index))
		return false;
	view_index(print->session, index, &query, &table, &diags);
	say_diags(print, &diags);
	return put_table(print, strcmp(table.index, "Threads") ? "indxobj" : "threads", &table,
			 query.sort_reverse);
}

static bool command_threads(struct print *print, char **arguments, size_t count)
{
	char *name = "threads";

	return command_indxobj(print, &name, 1);
}

static bool command_memobj(struct print *print, char **arguments, size_t count)
{
	struct query query = command_index_query(print);
	struct diag_list diags = {0};
	struct table table;
	size_t index;

	if (!find(print, MEMORY_OBJECTS, arguments[0], &index))
		return false;
	if (view_memory(print->session, index, &query, &table, &diags) != STATUS_OK)
		return say_diags(print, &diags);
	say_diags(print, &diags);
	return put_table(print, "memobj", &table, query.sort_reverse);
}

static bool list(struct print *print, const char *command, enum index_family family)
{
	static const struct list_column columns[] = {
		{.key = "name", .width = 20},
		{.key = "title", .audience = FOR_PROGRAMS},
		{.key = "expression"},
		{.key = "predefined", .audience = FOR_PROGRAMS},
	};
	struct index_info info;
	struct result result;
	struct part *list;

	result_init(&result, command, print->session);
	list = result_list(&result, columns, COUNT(columns));
	for (size_t i = 0; index_at(print->session, family, i, &info); i++) {
		part_cell(&result, list, value_text(&result, info.name));
		part_cell(&result, list, value_text(&result, info.title));
		part_cell(&result, list, value_text(&result, info.expression));
		part_cell(&result, list, value_flag(info.predefined));
	}
	return print_answer(print, &result);
}

static bool command_indxobj_list(struct print *print, char **arguments, size_t count)
{
	return list(print, "indxobj_list", INDEX_OBJECTS);
}

static bool command_mobj_list(struct print *print, char **arguments, size_t count)
{
	return list(print, "mobj_list", MEMORY_OBJECTS);
}

static bool define(struct print *print, enum index_family family, char **arguments, size_t count)
{
	const struct command *command;
	struct diag_list diags = {0};

	for (size_t i = 0; (command = command_at(i)); i++)
		if (!strcasecmp(command->name, arguments[0]))
			return say_error(print, "%s is a command: an object needs another name",
					 arguments[0]);
	index_define(print->session, family, arguments[0], arguments[1],
		     count > 2 ? arguments[2] : NULL, &diags);
	return say_diags(print, &diags);
}

static bool command_indxobj_define(struct print *print, char **arguments, size_t count)
{
	return define(print, INDEX_OBJECTS, arguments, count);
}

static bool command_mobj_define(struct print *print, char **arguments, size_t count)
{
	return define(print, MEMORY_OBJECTS, arguments, count);
}

const struct command command_rows_index[] = {
	{.name = "threads",
	 .group = GROUP_LISTS,
	 .help = "the threads with the current metrics",
	 .run = command_threads},
	{.name = "indxobj",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_INDEX,
	 .arguments = "NAME",
	 .help = "the events by thread, second, …: one row per value of an index object",
	 .run = command_indxobj,
	 .objects = OBJECTS_INDEX},
	{.name = "indxobj_list",
	 .group = GROUP_INDEX,
	 .help = "the index objects",
	 .run = command_indxobj_list},
	{.name = "indxobj_define",
	 .min_arguments = 2,
	 .max_arguments = 3,
	 .group = GROUP_INDEX,
	 .arguments = "NAME EXPRESSION [TITLE]",
	 .help = "define an index object",
	 .run = command_indxobj_define,
	 .objects = OBJECTS_INDEX,
	 .defines = true,
	 .alters = true},
	{.name = "memobj",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_INDEX,
	 .arguments = "NAME",
	 .help = "the counters' events by page, cache line, …: one row per piece of memory",
	 .run = command_memobj,
	 .objects = OBJECTS_MEMORY},
	{.name = "mobj_list",
	 .group = GROUP_INDEX,
	 .help = "the memory objects",
	 .run = command_mobj_list},
	{.name = "mobj_define",
	 .min_arguments = 2,
	 .max_arguments = 2,
	 .group = GROUP_INDEX,
	 .arguments = "NAME EXPRESSION",
	 .help = "define a memory object by an expression over VADDR",
	 .run = command_mobj_define,
	 .objects = OBJECTS_MEMORY,
	 .defines = true,
	 .alters = true},
	{0},
};
