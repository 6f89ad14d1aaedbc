/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that print one table of the engine each. */
#include "base/memory.h"
#include "print/command.h"
#include "print/table.h"

#include <stdlib.h>

/* "Functions sorted by metric: Exclusive Total CPU Time"; the caller's to free. */
static char *sort_heading(const struct print *print, const char *what)
{
	char *title = metric_choice_title(&print->query.sort);
	char *heading = xasprintf("%s sorted by metric: %s%s", what, title,
				  print->query.sort_reverse ? " (reversed)" : "");

	free(title);
	return heading;
}

/* Callers and callees are sorted by the attributed form of the sort metric. */
static char *attributed_title(const struct metric_choice *sort)
{
	struct metric_choice choice = *sort;

	if (choice.flavor != FLAVOR_STATIC)
		choice.flavor = FLAVOR_ATTRIBUTED;
	return metric_choice_title(&choice);
}

bool command_functions(struct print *print, char **arguments, size_t count)
{
	struct table table;
	char *heading = sort_heading(print, "Functions");

	view_functions(print->session, &print->query, &table);
	table_print(print, &table, SHAPE_LIST, "functions", heading);
	table_fini(&table);
	free(heading);
	return true;
}

bool command_threads(struct print *print, char **arguments, size_t count)
{
	struct table table;
	char *heading = sort_heading(print, "Threads");

	view_threads(print->session, &print->query, &table);
	table_print(print, &table, SHAPE_LIST, "threads", heading);
	table_fini(&table);
	free(heading);
	return true;
}

bool command_callers_callees(struct print *print, char **arguments, size_t count)
{
	struct table table;
	char *functions = sort_heading(print, "Functions");
	char *attributed = attributed_title(&print->query.sort);
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

bool command_csingle(struct print *print, char **arguments, size_t count)
{
	struct table table;
	uint32_t function = FUNCTION_TOTAL;

	if (!command_choose_function(print, "csingle", arguments, count, &function))
		return false;
	char *attributed = attributed_title(&print->query.sort);
	char *heading = xasprintf("Callers and callees sorted by metric: %s", attributed);

	view_callers_callees_of(print->session, &print->query, function, &table);
	table_print(print, &table, SHAPE_SINGLE, "csingle", heading);
	table_fini(&table);
	free(heading);
	free(attributed);
	return true;
}

bool command_calltree(struct print *print, char **arguments, size_t count)
{
	struct table table;
	char *attributed = attributed_title(&print->query.sort);
	char *heading = xasprintf("Functions Call Tree. Metric: %s", attributed);

	view_call_tree(print->session, &print->query, &table);
	table_print(print, &table, SHAPE_TREE, "calltree", heading);
	table_fini(&table);
	free(heading);
	free(attributed);
	return true;
}
