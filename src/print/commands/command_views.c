/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that print one table of the engine each. */
#include "print/commands/command_views.h"

#include "analysis/views/view_callers.h"
#include "analysis/views/view_functions.h"
#include "base/terminal.h"
#include "print/commands/command.h"

#include <stdlib.h>

char *command_table_heading(const char *what, const struct table *table, bool reverse)
{
	char *title = metric_choice_title(&table->sort);
	char *heading = terminal_text("%s sorted by %smetric: %s%s", what,
				      table->by_change ? "change of " : "", title,
				      reverse ? " (reversed)" : "");

	free(title);
	return heading;
}

char *command_sort_heading(const struct print *print, const char *what)
{
	const struct table table = {.sort = print->query.sort};

	return command_table_heading(what, &table, print->query.sort_reverse);
}

char *command_attributed_title(const struct print *print)
{
	struct metric_choice choice = print->query.sort;

	if (choice.flavor != FLAVOR_STATIC)
		choice.flavor = FLAVOR_ATTRIBUTED;
	return metric_choice_title(&choice);
}

bool command_show_table(struct print *print, const char *command, enum table_shape shape,
			struct table *table, char *heading)
{
	struct result result;

	result_init(&result, command, print->session);
	result_table(&result, table, shape, heading);
	return print_answer(print, &result);
}

static bool command_functions(struct print *print, char **arguments, size_t count)
{
	struct table table;

	view_functions(print->session, &print->query, &table);
	char *heading = command_table_heading("Functions", &table, print->query.sort_reverse);

	return command_show_table(print, "functions", SHAPE_LIST, &table, heading);
}

static bool command_callers_callees(struct print *print, char **arguments, size_t count)
{
	struct table table;
	char *functions = command_sort_heading(print, "Functions");
	char *attributed = command_attributed_title(print);
	char *heading = terminal_text("%s\nCallers and callees sorted by metric: %s", functions,
				      attributed);

	view_callers_callees(print->session, &print->query, &table);
	free(attributed);
	free(functions);
	return command_show_table(print, "callers-callees", SHAPE_BLOCKS, &table, heading);
}

const struct command command_rows_views[] = {
	{.name = "functions",
	 .group = GROUP_FUNCTIONS,
	 .help = "the functions with the current metrics",
	 .run = command_functions,
	 .sums_only = true},
	{.name = "callers-callees",
	 .aliases = "gprof",
	 .group = GROUP_CALLS,
	 .help = "who calls whom, one block per function",
	 .run = command_callers_callees,
	 .sums_only = true},
	{0},
};
