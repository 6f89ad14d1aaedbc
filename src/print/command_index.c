/* SPDX-License-Identifier: Apache-2.0 */
/* Index objects: the tables whose rows are values of an expression. */
#include "analysis/index.h"
#include "print/command.h"
#include "print/json.h"
#include "print/table.h"

#include <stdlib.h>
#include <string.h>

/* As a command of its own the name may still have its dash. */
bool command_indxobj(struct print *print, char **arguments, size_t count)
{
	size_t index = index_find(print->session, arguments[0] + strspn(arguments[0], "-"));
	struct index_info info;
	struct table table;
	char *heading;

	if (index == SIZE_MAX)
		return say_error(print, "There is no index object %s: indxobj_list lists them",
				 arguments[0]);
	index_at(print->session, index, &info);
	heading = command_sort_heading(print, info.title);
	view_index(print->session, index, &print->query, &table);
	table_print(print, &table, SHAPE_LIST, strcmp(info.name, "Threads") ? "indxobj" : "threads",
		    heading);
	table_fini(&table);
	free(heading);
	return true;
}

bool command_threads(struct print *print, char **arguments, size_t count)
{
	char *name = "threads";

	return command_indxobj(print, &name, 1);
}

bool command_list_objects(struct print *print, const char *command,
			  bool (*object_at)(const struct session *, size_t, struct index_info *))
{
	struct json_report report;
	struct index_info info;

	if (print->mode == MODE_JSON)
		json_report_begin(&report, print, command, NULL, NULL);
	for (size_t i = 0; object_at(print->session, i, &info); i++) {
		if (print->mode == MODE_JSON)
			json_report_row(&report, json_pack("{s:s, s:s, s:s, s:b}", "name",
							   info.name, "title", info.title,
							   "expression", info.expression,
							   "predefined", (int)info.predefined));
		else
			fprintf(print->output.file, "%-20s %s\n", info.name, info.expression);
	}
	if (print->mode == MODE_JSON)
		json_report_end(&report);
	return true;
}

bool command_indxobj_list(struct print *print, char **arguments, size_t count)
{
	return command_list_objects(print, "indxobj_list", index_at);
}

bool command_indxobj_define(struct print *print, char **arguments, size_t count)
{
	const struct command *command;
	struct diag_list diags = {0};

	for (size_t i = 0; (command = command_at(i)); i++)
		if (!strcasecmp(command->name, arguments[0]))
			return say_error(print,
					 "%s is a command: an index object needs another name",
					 arguments[0]);
	index_define(print->session, arguments[0], arguments[1], count > 2 ? arguments[2] : NULL,
		     &diags);
	return say_diags(print, &diags);
}
