/* SPDX-License-Identifier: Apache-2.0 */
/* Which events count: the filter, the selections, and the words of the filter's language. */
#include "analysis/filter/filter.h"
#include "analysis/session/session.h"
#include "base/array.h"
#include "print/commands/command.h"

#include <string.h>

/* Once it is clear that the words are right. */
static void warn_of_nothing(struct print *print)
{
	if (!query_chooses_any(&print->query, print->session))
		say_warning(print, "no event is chosen: all values are 0");
}

static bool command_filters(struct print *print, char **arguments, size_t count)
{
	struct diag_list diags = {0};
	struct result result;

	if (count > 1)
		return say_error(print, "filters takes one expression: put it in quotes");
	if (count && query_filter(&print->query, print->session, arguments[0], &diags) != STATUS_OK)
		return say_diags(print, &diags);
	bool lacks_data = diags.count > 0;

	say_diags(print, &diags);
	if (count && !lacks_data)
		warn_of_nothing(print);
	const char *text = query_filter_text(&print->query);

	result_init(&result, "filters", print->session);
	part_set(&result, result_line(&result, "", ""), "filter", value_text(&result, text));
	result_note(&result, "current filter setting: \"%s\"", text ? text : "<none>");
	return print_answer(print, &result);
}

static void add_words(struct result *result, struct part *list,
		      bool (*word_at)(size_t, struct filter_property_info *))
{
	struct filter_property_info info;

	for (size_t i = 0; word_at(i, &info); i++) {
		part_cell(result, list, value_text(result, info.name));
		part_cell(result, list, value_text(result, info.kinds));
		part_cell(result, list, value_text(result, *info.kinds ? info.kinds : "-"));
		part_cell(result, list, value_text(result, info.description));
	}
}

static bool command_describe(struct print *print, char **arguments, size_t count)
{
	static const struct list_column columns[] = {
		{.key = "name", .title = "Name", .width = 16},
		{.key = "data", .audience = FOR_PROGRAMS},
		{.title = "Data", .width = 9},
		{.key = "description", .title = "Meaning"},
	};
	struct result result;
	struct part *list;

	result_init(&result, "describe", print->session);
	list = result_list(&result, columns, COUNT(columns));
	add_words(&result, list, filter_function_at);
	add_words(&result, list, filter_property_at);
	return print_answer(print, &result);
}

static uint64_t selectable(const struct print *print, enum selection selection, size_t process)
{
	const struct process_info *info = session_process(print->session, process);

	switch (selection) {
	case SELECT_SAMPLES:
		return info->sample_count ? info->sample_count - 1 : 0;
	case SELECT_CPUS:
		return session_cpu_count(print->session, process);
	default:
		return info->thread_count;
	}
}

/* What there is to be selected, and what is. */
static bool list(struct print *print, enum selection selection, const char *command)
{
	static const struct list_column columns[] = {
		{.key = "experiment", .title = "Exp", .right = true},
		{.key = "name", .audience = FOR_PROGRAMS},
		{.key = "selected", .title = "Sel"},
		{.key = "total", .title = "Total", .right = true, .width = 5},
	};
	const char *selected = query_selected(&print->query, selection);
	struct result result;
	struct part *list;

	result_init(&result, command, print->session);
	list = result_list(&result, columns, COUNT(columns));
	list->list.rule = '=';
	for (size_t i = 0; i < session_process_count(print->session); i++) {
		const struct process_info *process = session_process(print->session, i);

		part_cell(&result, list, value_count(process->id));
		part_cell(&result, list, value_text(&result, process->name));
		part_cell(&result, list, value_text(&result, selected));
		part_cell(&result, list, value_count(selectable(print, selection, i)));
	}
	return print_answer(print, &result);
}

/* Without an argument the list is shown, as after a change. */
static bool select_by_list(struct print *print, enum selection selection, const char *list_command,
			   char **arguments, size_t count)
{
	struct diag_list diags = {0};

	if (count && query_select(&print->query, print->session, selection, arguments[0], &diags) !=
			     STATUS_OK)
		return say_diags(print, &diags);
	if (count)
		warn_of_nothing(print);
	return list(print, selection, list_command);
}

static bool command_sample_list(struct print *print, char **arguments, size_t count)
{
	return list(print, SELECT_SAMPLES, "sample_list");
}

static bool command_thread_list(struct print *print, char **arguments, size_t count)
{
	return list(print, SELECT_THREADS, "thread_list");
}

static bool command_lwp_list(struct print *print, char **arguments, size_t count)
{
	return list(print, SELECT_LWPS, "lwp_list");
}

static bool command_cpu_list(struct print *print, char **arguments, size_t count)
{
	return list(print, SELECT_CPUS, "cpu_list");
}

static bool command_sample_select(struct print *print, char **arguments, size_t count)
{
	return select_by_list(print, SELECT_SAMPLES, "sample_list", arguments, count);
}

static bool command_thread_select(struct print *print, char **arguments, size_t count)
{
	return select_by_list(print, SELECT_THREADS, "thread_list", arguments, count);
}

static bool command_lwp_select(struct print *print, char **arguments, size_t count)
{
	return select_by_list(print, SELECT_LWPS, "lwp_list", arguments, count);
}

static bool command_cpu_select(struct print *print, char **arguments, size_t count)
{
	return select_by_list(print, SELECT_CPUS, "cpu_list", arguments, count);
}

const struct command command_rows_filter[] = {
	{.name = "filters",
	 .max_arguments = 20,
	 .group = GROUP_FILTERS,
	 .arguments = "[EXPRESSION]",
	 .help = "the events that count, for all that is printed; TRUE for all",
	 .run = command_filters},
	{.name = "describe",
	 .group = GROUP_FILTERS,
	 .help = "the words that an expression is made of",
	 .run = command_describe},
	{.name = "sample_list",
	 .group = GROUP_FILTERS,
	 .help = "how many samples there were, and which are selected",
	 .run = command_sample_list},
	{.name = "thread_list",
	 .group = GROUP_FILTERS,
	 .help = "how many threads there were, and which are selected",
	 .run = command_thread_list},
	{.name = "lwp_list",
	 .group = GROUP_FILTERS,
	 .help = "how many threads there were, and which are selected by the kernel's ids",
	 .run = command_lwp_list},
	{.name = "cpu_list",
	 .group = GROUP_FILTERS,
	 .help = "how many processors there were, and which are selected",
	 .run = command_cpu_list},
	{.name = "sample_select",
	 .max_arguments = 1,
	 .group = GROUP_FILTERS,
	 .arguments = "[LIST|all]",
	 .help = "select samples: 1,3-5 or, of experiment 2, 2:1,3-5",
	 .run = command_sample_select},
	{.name = "thread_select",
	 .max_arguments = 1,
	 .group = GROUP_FILTERS,
	 .arguments = "[LIST|all]",
	 .help = "select threads: 1,3-5 or, of experiment 2, 2:1,3-5",
	 .run = command_thread_select},
	{.name = "lwp_select",
	 .max_arguments = 1,
	 .group = GROUP_FILTERS,
	 .arguments = "[LIST|all]",
	 .help = "select threads by the kernel's ids: 101,103-105 or, of experiment 2, 2:101",
	 .run = command_lwp_select},
	{.name = "cpu_select",
	 .max_arguments = 1,
	 .group = GROUP_FILTERS,
	 .arguments = "[LIST|all]",
	 .help = "select processors: 1,3-5 or, of experiment 2, 2:1,3-5",
	 .run = command_cpu_select},
	{0},
};
