/* SPDX-License-Identifier: Apache-2.0 */
/* The list of experiments. */
#include "analysis/filter/filter.h"
#include "analysis/session/session.h"
#include "base/array.h"
#include "print/commands/command.h"

#include <stdlib.h>
#include <string.h>

/* Whether the commands of several processes are recorded. */
static bool knows_commands(const struct print *print)
{
	size_t known = 0;

	for (size_t i = 0; i < session_process_count(print->session); i++)
		known += session_process(print->session, i)->arguments != NULL;
	return known > 1;
}

/* The beginning of the command. */
static struct value first_words(struct result *result, const char *command)
{
	enum { MOST = 100 };

	return value_printf(result, "%.*s%s", MOST, command, strlen(command) > MOST ? "..." : "");
}

static void add_process(struct result *result, struct part *list, const struct query *query,
			const struct process_info *process)
{
	char *command = command_words(process->arguments);

	part_cell(result, list, value_count(process->id));
	part_cell(result, list, value_flag(query_process_selected(query, process->id)));
	part_cell(result, list, value_integer(process->pid));
	part_cell(result, list, value_text(result, process->name));
	part_cell(result, list, value_text(result, process->path));
	part_cell(result, list, value_text(result, process->lineage ? process->lineage : ""));
	part_cell(result, list, value_count(process->founder));
	part_cell(result, list, value_text(result, process->target));
	part_cell(result, list, value_text(result, process->arguments ? command : NULL));
	part_cell(result, list, first_words(result, command));
	free(command);
}

static bool command_experiment_list(struct print *print, char **arguments, size_t count)
{
	const struct list_column columns[] = {
		{.key = "id", .title = "ID", .right = true},
		{.key = "selected", .title = "Sel"},
		{.key = "pid", .title = "PID", .right = true},
		{.key = "name", .title = "Experiment"},
		{.key = "path", .audience = FOR_PROGRAMS},
		{.key = "lineage", .audience = FOR_PROGRAMS},
		{.key = "founder", .audience = FOR_PROGRAMS},
		{.key = "target", .audience = FOR_PROGRAMS},
		{.key = "command", .audience = FOR_PROGRAMS},
		{.title = "Command",
		 .width = strlen("Command"),
		 .audience = knows_commands(print) ? FOR_PEOPLE : FOR_PROGRAMS},
	};
	struct result result;
	struct part *list;

	result_init(&result, "experiment_list", print->session);
	list = result_list(&result, columns, COUNT(columns));
	list->list.rule = '=';
	for (size_t i = 0; i < session_process_count(print->session); i++)
		add_process(&result, list, &print->query, session_process(print->session, i));
	return print_answer(print, &result);
}

const struct command command_rows_lists[] = {
	{.name = "experiment_list",
	 .aliases = "exp_list",
	 .group = GROUP_LISTS,
	 .help = "the experiments, with the ids that other commands take",
	 .run = command_experiment_list},
	{0},
};
