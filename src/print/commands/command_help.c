/* SPDX-License-Identifier: Apache-2.0 */
/* help, version, quit: the commands about the program itself. */
#include "print/commands/command_help.h"

#include "analysis/metric/metric.h"
#include "analysis/views/result.h"
#include "analysis/views/timeline.h"
#include "base/array.h"
#include "base/memory.h"
#include "present/number.h"
#include "print/commands/command.h"

#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 34 };

static void add_command(struct result *result, struct part *facts, const struct command *command)
{
	char *usage =
		xasprintf("%s%s%s%s %s", command->name, command->aliases ? "[" : "",
			  command->aliases ? command->aliases : "", command->aliases ? "]" : "",
			  command->arguments ? command->arguments : "");

	part_add(result, facts, NULL, usage, value_text(result, command->help));
	free(usage);
}

static struct part *add_commands(struct result *result)
{
	struct part *facts = result_facts(result, -HELP_COLUMN);

	facts->facts.layout.before = "    ";
	facts->facts.layout.assign = "";
	facts->facts.layout.wraps = true;
	return facts;
}

static void add_groups(struct result *result)
{
	const struct command *command;

	result_note(result, "Other spellings of a command stand in []. Every command may be "
			    "shortened to a unique beginning.");
	for (int group = 0; group < GROUP_COUNT; group++) {
		result_gap(result);
		result_heading(result, "%s", command_group_title((enum command_group)group));
		struct part *facts = add_commands(result);

		for (size_t i = 0; (command = command_at(i)); i++)
			if (command->run && (int)command->group == group)
				add_command(result, facts, command);
	}
}

static struct value aliases_of(struct result *result, const struct command *command)
{
	struct value_list *aliases = result_values(result);

	for (const char *alias = command->aliases; alias && *alias;) {
		size_t length = strcspn(alias, " ");

		values_add(result, aliases, value_printf(result, "%.*s", (int)length, alias));
		alias += length + strspn(alias + length, " ");
	}
	return value_list(aliases);
}

/* What programs learn of one command, or, with NULL, of all. */
static void list_commands(struct result *result, const struct command *only)
{
	static const struct list_column columns[] = {{.key = "name"},
						     {.key = "aliases"},
						     {.key = "arguments"},
						     {.key = "help"},
						     {.key = "group"}};
	struct part *list = result_list(result, columns, COUNT(columns));
	const struct command *command;

	list->audience = FOR_PROGRAMS;
	for (size_t i = 0; (command = command_at(i)); i++) {
		if (!command->run || (only && only != command))
			continue;
		const char *usage = command->arguments ? command->arguments : "";

		part_cell(result, list, value_text(result, command->name));
		part_cell(result, list, aliases_of(result, command));
		part_cell(result, list, value_text(result, usage));
		part_cell(result, list, value_text(result, command->help));
		part_cell(result, list, value_text(result, command_group_title(command->group)));
	}
}

/* What programs learn of the metrics that there may be, but for counters, which experiments name.
 */
static void list_metrics(struct result *result)
{
	struct value_list *list = result_values(result);
	struct part *facts = result_facts(result, 0);
	const struct metric *metric;

	for (size_t i = 0; (metric = metric_catalogue(NULL, i)); i++) {
		struct record *record = result_record(result);
		enum trace_kind kind = metric_trace(metric);

		record_set(result, record, "name", value_text(result, metric->command));
		record_set(result, record, "title", value_text(result, metric->title));
		record_set(result, record, "unit",
			   value_text(result, number_unit_name(metric->unit)));
		record_set(result, record, "description", value_text(result, metric->description));
		record_set(result, record, "recorded_by",
			   value_text(result, metric->is_static	    ? NULL
					      : kind == TRACE_KINDS ? "-p"
								    : format_kinds[kind].option));
		values_add(result, list, value_record(record));
	}
	facts->audience = FOR_PROGRAMS;
	facts->facts.of_all = true;
	part_set(result, facts, "catalogue", value_list(list));
}

/* As timelines name them. */
static void list_kinds(struct result *result)
{
	struct part *facts = result_facts(result, 0);

	facts->audience = FOR_PROGRAMS;
	facts->facts.of_all = true;
	part_set(result, facts, "kinds", value_texts(result, timeline_kinds, TIMELINE_KINDS));
}

static bool command_help(struct print *print, char **arguments, size_t count)
{
	const struct command *command = NULL;
	struct result result;

	if (count) {
		struct diag_list diags = {0};
		enum status status = command_find(arguments[0], arguments[0], &command, &diags);

		say_diags(print, &diags);
		if (status != STATUS_OK)
			return false;
		if (!command->run)
			return command_run(print, command, NULL, 0);
	}
	result_init(&result, "help", print->session);
	list_commands(&result, command);
	if (!command)
		list_metrics(&result);
	list_kinds(&result);
	list_kinds(&result);
	if (command)
		add_command(&result, add_commands(&result), command);
	else
		add_groups(&result);
	return print_answer(print, &result);
}

bool command_version(struct print *print, char **arguments, size_t count)
{
	struct result result;
	struct part *line;

	result_init(&result, "version", print->session);
	line = result_line(&result, "", " ");
	part_add(&result, line, "name", NULL, value_text(&result, "heliometer"));
	part_add(&result, line, "version", NULL, value_text(&result, HELIO_VERSION));
	return print_answer(print, &result);
}

static bool command_quit(struct print *print, char **arguments, size_t count)
{
	print->quit = true;
	return true;
}

const struct command command_rows_help[] = {
	{.name = "version",
	 .group = GROUP_OTHER,
	 .help = "the version of this program",
	 .run = command_version,
	 .is_help = true,
	 .sums_only = true,
	 .no_session = true},
	{.name = "help",
	 .aliases = "xhelp",
	 .max_arguments = 1,
	 .group = GROUP_OTHER,
	 .arguments = "[COMMAND]",
	 .help = "this list, or one command",
	 .run = command_help,
	 .is_help = true,
	 .sums_only = true,
	 .no_session = true},
	{.name = "quit",
	 .aliases = "exit",
	 .group = GROUP_OTHER,
	 .help = "end the session",
	 .run = command_quit,
	 .sums_only = true,
	 .no_session = true,
	 .not_asked = true},
	{0},
};
