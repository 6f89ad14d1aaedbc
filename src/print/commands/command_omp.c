/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of OpenMP, beside the index objects OMP_preg and OMP_task. */
#include "analysis/kinds/omp_regions.h"
#include "print/commands/command.h"
#include "print/commands/command_views.h"

static bool command_regions(struct print *print, char **arguments, size_t count)
{
	struct table table;

	view_omp_regions(print->session, &print->query, &table);
	char *heading = command_table_heading("OpenMP Regions", &table, false);

	return command_show_table(print, "regions", SHAPE_LIST, &table, heading);
}

static bool command_tasks(struct print *print, char **arguments, size_t count)
{
	struct table table;

	view_omp_tasks(print->session, &print->query, &table);
	char *heading = command_table_heading("OpenMP Tasks", &table, false);

	return command_show_table(print, "tasks", SHAPE_LIST, &table, heading);
}

const struct command command_rows_omp[] = {
	{.name = "regions",
	 .group = GROUP_TRACES,
	 .help = "OpenMP's parallel regions: executions, threads, work, and what was lost, by "
		 "unequal work or otherwise",
	 .run = command_regions,
	 .data = DATA_OMP,
	 .comes_next = true},
	{.name = "tasks",
	 .group = GROUP_TRACES,
	 .help = "OpenMP's explicit tasks: how many, their time, and how long from creation to "
		 "begin",
	 .run = command_tasks,
	 .data = DATA_OMP},
	{0},
};
