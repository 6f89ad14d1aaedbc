/* SPDX-License-Identifier: Apache-2.0 */
/* Load objects: what there is, and how their functions are shown. */
#include "analysis/session/session.h"
#include "base/array.h"
#include "print/commands/command.h"

#include <string.h>

/* " <app> (/usr/bin/app) (not found)"; pseudo objects carry their brackets in their names. */
static struct value object_line(struct result *result, const struct load_object_info *info,
				const char *provenance)
{
	bool bracketed = info->name[0] == '<', is_doubtful = strcmp(provenance, "found") != 0;

	return value_printf(result, " %s%s%s (%s)%s%s%s", bracketed ? "" : "<", info->name,
			    bracketed ? "" : ">", info->path ? info->path : info->name,
			    is_doubtful ? " (" : "", is_doubtful ? provenance : "",
			    is_doubtful ? ")" : "");
}

static bool command_objects(struct print *print, char **arguments, size_t count)
{
	static const struct list_column columns[] = {
		{.key = "number", .audience = FOR_PROGRAMS},
		{.key = "name", .audience = FOR_PROGRAMS},
		{.key = "path", .audience = FOR_PROGRAMS},
		{.key = "provenance", .audience = FOR_PROGRAMS},
		{.audience = FOR_PEOPLE},
	};
	size_t total = session_load_object_count(print->session);
	struct result result;
	struct part *list;

	result_init(&result, "objects", print->session);
	list = result_list(&result, columns, COUNT(columns));
	for (size_t i = 0; i < total; i++) {
		const char *provenance = session_provenance(print->session, i);
		struct load_object_info info;

		session_load_object(print->session, i, &info);
		part_cell(&result, list, value_count(info.number));
		part_cell(&result, list, value_text(&result, info.name));
		part_cell(&result, list, value_text(&result, info.path));
		part_cell(&result, list, value_text(&result, provenance));
		part_cell(&result, list, object_line(&result, &info, provenance));
	}
	return print_answer(print, &result);
}

static const char *const showings[] = {
	[OBJECT_SHOWN] = "show", [OBJECT_HIDDEN] = "hide", [OBJECT_ENTRY] = "api"};

static bool command_object_list(struct print *print, char **arguments, size_t count)
{
	static const struct list_column columns[] = {
		{.key = "name", .audience = FOR_PROGRAMS},
		{.key = "path", .audience = FOR_PROGRAMS},
		{.key = "shown", .title = "Sel", .width = 4},
		{.title = "Load Object", .width = 11},
	};
	struct result result;
	struct part *list;

	result_init(&result, "object_list", print->session);
	list = result_list(&result, columns, COUNT(columns));
	list->list.rule = '=';
	for (size_t i = 0; i < session_load_object_count(print->session); i++) {
		enum object_showing showing = query_object_showing(&print->query, (uint32_t)i + 1);
		struct load_object_info info;

		session_load_object(print->session, i, &info);
		part_cell(&result, list, value_text(&result, info.name));
		part_cell(&result, list, value_text(&result, info.path));
		part_cell(&result, list, value_text(&result, showings[showing]));
		part_cell(&result, list, value_printf(&result, "%s (%s)", info.name, info.path));
	}
	return print_answer(print, &result);
}

static bool show(struct print *print, const char *list, enum object_showing showing)
{
	struct diag_list diags = {0};

	query_show_objects(&print->query, print->session, list, showing, &diags);
	return say_diags(print, &diags);
}

static bool command_object_show(struct print *print, char **arguments, size_t count)
{
	return show(print, arguments[0], OBJECT_SHOWN);
}

static bool command_object_hide(struct print *print, char **arguments, size_t count)
{
	return show(print, arguments[0], OBJECT_HIDDEN);
}

static bool command_object_api(struct print *print, char **arguments, size_t count)
{
	return show(print, arguments[0], OBJECT_ENTRY);
}

static bool command_objects_default(struct print *print, char **arguments, size_t count)
{
	return show(print, "all", OBJECT_SHOWN);
}

/* These and no others. */
static bool command_object_select(struct print *print, char **arguments, size_t count)
{
	return show(print, "all", OBJECT_HIDDEN) && show(print, arguments[0], OBJECT_SHOWN);
}

const struct command command_rows_objects[] = {
	{.name = "objects",
	 .group = GROUP_LISTS,
	 .help = "the load objects, and where their names come from",
	 .run = command_objects},
	{.name = "object_list",
	 .group = GROUP_LISTS,
	 .help = "the load objects, and how their functions are shown",
	 .run = command_object_list},
	{.name = "object_show",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_LISTS,
	 .arguments = "NAME,...|all",
	 .help = "show the functions of load objects",
	 .run = command_object_show},
	{.name = "object_hide",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_LISTS,
	 .arguments = "NAME,...|all",
	 .help = "show load objects as one function each",
	 .run = command_object_hide},
	{.name = "object_api",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_LISTS,
	 .arguments = "NAME,...|all",
	 .help = "show those functions of load objects that others call",
	 .run = command_object_api},
	{.name = "object_select",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_LISTS,
	 .arguments = "NAME,...|all",
	 .help = "show the functions of these load objects only",
	 .run = command_object_select},
	{.name = "objects_default",
	 .group = GROUP_LISTS,
	 .help = "show the functions of all load objects",
	 .run = command_objects_default},
	{0},
};
