/* SPDX-License-Identifier: Apache-2.0 */
/* demo: the functions with the demo kind's metrics. */
#include "print/commands/command.h"

#include "analysis/views/view_functions.h"
#include "print/commands/command_views.h"

static bool command_demo(struct print *print, char **arguments, size_t count)
{
	struct query query = print->query;
	struct diag_list diags = {0};
	struct table table;

	query.metrics = (struct metric_list){0};
	metric_list_parse(print->session, NULL, "i.democalls:i.demoamount:name", &query.metrics,
			  &diags);
	if (!say_diags(print, &diags))
		return false;
	query.sort = query.metrics.items[0];
	view_functions(print->session, &query, &table);

	char *heading = command_table_heading("Calls of demo_call", &table, false);

	return command_show_table(print, "demo", SHAPE_LIST, &table, heading);
}

const struct command command_rows_demo[] = {
	{.name = "demo",
	 .group = GROUP_TRACES,
	 .help = "the calls of demo_call, by function",
	 .run = command_demo,
	 .data = DATA_DEMO,
	 .comes_next = true},
	{0},
};
