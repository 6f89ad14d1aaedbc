/* SPDX-License-Identifier: Apache-2.0 */
/* Which events count: the filter, the selections, and the words of the filter's language. */
#include "analysis/filter.h"
#include "base/terminal.h"
#include "print/command.h"
#include "print/json.h"

#include <inttypes.h>
#include <string.h>

static void json_filter(struct print *print)
{
	const char *text = query_filter_text(&print->query);
	struct json_report report;

	json_report_begin(&report, print, "filters", NULL, NULL);
	json_report_row(&report,
			json_pack("{s:o}", "filter", text ? json_text(text) : json_null()));
	json_report_end(&report);
}

/* Once it is clear that the words are right. */
static void warn_of_nothing(struct print *print)
{
	if (!query_chooses_any(&print->query, print->session))
		say_warning(print, "no event is chosen: all values are 0");
}

bool command_filters(struct print *print, char **arguments, size_t count)
{
	struct diag_list diags = {0};

	if (count > 1)
		return say_error(print, "filters takes one expression: put it in quotes");
	if (count && query_filter(&print->query, print->session, arguments[0], &diags) != STATUS_OK)
		return say_diags(print, &diags);
	bool lacks_data = diags.count > 0;

	say_diags(print, &diags);
	if (count && !lacks_data)
		warn_of_nothing(print);
	if (print->mode == MODE_JSON) {
		json_filter(print);
		return true;
	}
	const char *text = query_filter_text(&print->query);

	terminal_printf(print->output.file, "current filter setting: \"%s\"\n",
			text ? text : "<none>");
	return true;
}

static void put_words(struct print *print, struct json_report *report,
		      bool (*word_at)(size_t, struct filter_property_info *))
{
	struct filter_property_info info;

	for (size_t i = 0; word_at(i, &info); i++) {
		if (print->mode == MODE_JSON)
			json_report_row(report,
					json_pack("{s:s, s:s, s:s}", "name", info.name, "data",
						  info.kinds, "description", info.description));
		else
			terminal_printf(print->output.file, "%-16s %-9s %s\n", info.name,
					*info.kinds ? info.kinds : "-", info.description);
	}
}

bool command_describe(struct print *print, char **arguments, size_t count)
{
	struct json_report report;

	if (print->mode == MODE_JSON)
		json_report_begin(&report, print, "describe", NULL, NULL);
	else
		fprintf(print->output.file, "%-16s %-9s %s\n", "Name", "Data", "Meaning");
	put_words(print, &report, filter_function_at);
	put_words(print, &report, filter_property_at);
	if (print->mode == MODE_JSON)
		json_report_end(&report);
	return true;
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
	const char *selected = query_selected(&print->query, selection);
	int width = (int)strlen(selected) > 3 ? (int)strlen(selected) : 3;
	struct json_report report;

	if (print->mode == MODE_JSON)
		json_report_begin(&report, print, command, NULL, NULL);
	else
		fprintf(print->output.file, "Exp %-*s Total\n=== %.*s =====\n", width, "Sel", width,
			"============================================================");
	for (size_t i = 0; i < session_process_count(print->session); i++) {
		const struct process_info *process = session_process(print->session, i);
		uint64_t total = selectable(print, selection, i);

		if (print->mode == MODE_JSON)
			json_report_row(&report,
					json_pack("{s:i, s:o, s:o, s:I}", "experiment",
						  (int)process->id, "name",
						  json_text(process->name), "selected",
						  json_text(selected), "total", (json_int_t)total));
		else
			terminal_printf(print->output.file, "%3" PRIu32 " %-*s %5" PRIu64 "\n",
					process->id, width, selected, total);
	}
	if (print->mode == MODE_JSON)
		json_report_end(&report);
	return true;
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

bool command_sample_list(struct print *print, char **arguments, size_t count)
{
	return list(print, SELECT_SAMPLES, "sample_list");
}

bool command_thread_list(struct print *print, char **arguments, size_t count)
{
	return list(print, SELECT_THREADS, "thread_list");
}

bool command_lwp_list(struct print *print, char **arguments, size_t count)
{
	return list(print, SELECT_LWPS, "lwp_list");
}

bool command_cpu_list(struct print *print, char **arguments, size_t count)
{
	return list(print, SELECT_CPUS, "cpu_list");
}

bool command_sample_select(struct print *print, char **arguments, size_t count)
{
	return select_by_list(print, SELECT_SAMPLES, "sample_list", arguments, count);
}

bool command_thread_select(struct print *print, char **arguments, size_t count)
{
	return select_by_list(print, SELECT_THREADS, "thread_list", arguments, count);
}

bool command_lwp_select(struct print *print, char **arguments, size_t count)
{
	return select_by_list(print, SELECT_LWPS, "lwp_list", arguments, count);
}

bool command_cpu_select(struct print *print, char **arguments, size_t count)
{
	return select_by_list(print, SELECT_CPUS, "cpu_list", arguments, count);
}
