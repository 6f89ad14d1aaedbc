/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that print one table of the engine each. */
#include "base/memory.h"
#include "print/command.h"
#include "print/table.h"

#include <stdlib.h>

char *command_heading(const char *what, const struct metric_choice *sort, bool reverse)
{
	char *title = metric_choice_title(sort);
	char *heading =
		xasprintf("%s sorted by metric: %s%s", what, title, reverse ? " (reversed)" : "");

	free(title);
	return heading;
}

char *command_sort_heading(const struct print *print, const char *what)
{
	return command_heading(what, &print->query.sort, print->query.sort_reverse);
}

char *command_attributed_title(const struct print *print)
{
	struct metric_choice choice = print->query.sort;

	if (choice.flavor != FLAVOR_STATIC)
		choice.flavor = FLAVOR_ATTRIBUTED;
	return metric_choice_title(&choice);
}

bool command_functions(struct print *print, char **arguments, size_t count)
{
	struct table table;
	char *heading = command_sort_heading(print, "Functions");

	view_functions(print->session, &print->query, &table);
	table_print(print, &table, SHAPE_LIST, "functions", heading);
	table_fini(&table);
	free(heading);
	return true;
}

bool command_callers_callees(struct print *print, char **arguments, size_t count)
{
	struct table table;
	char *functions = command_sort_heading(print, "Functions");
	char *attributed = command_attributed_title(print);
	char *heading =
		xasprintf("%s\nCallers and callees sorted by metric: %s", functions, attributed);

	view_callers_callees(print->session, &print->query, &table);
	table_print(print, &table, SHAPE_BLOCKS, "callers-callees", heading);
	table_fini(&table);
	free(heading);
	free(attributed);
	free(functions);
	return true;
}
