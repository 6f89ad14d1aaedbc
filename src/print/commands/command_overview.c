/* SPDX-License-Identifier: Apache-2.0 */
/* overview: the experiments, and the total of every metric with what is selected and what is hot.
 */
#include "analysis/session/session.h"
#include "analysis/views/totals.h"
#include "base/strbuf.h"
#include "present/number.h"
#include "print/commands/command.h"
#include "print/commands/command_compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_founder(const struct process_info *process)
{
	return process->founder == process->id;
}

static double between(uint64_t start_ns, uint64_t end_ns)
{
	return end_ns > start_ns ? (double)(end_ns - start_ns) / 1e9 : 0;
}

static void add_experiment(struct print *print, struct result *result,
			   const struct process_info *process)
{
	size_t more = session_descendants(print->session, process);
	time_t start = (time_t)((process->wall_start_ns + (int64_t)process->start_ns) / 1000000000);
	struct strbuf target = {0};
	struct tm local;
	char text[64] = "";

	if (localtime_r(&start, &local))
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &local);
	if (!process->arguments || !process->arguments[0])
		strbuf_puts(&target, process->target ? process->target : "");
	for (char *const *word = process->arguments; word && *word; word++)
		strbuf_printf(&target, "%s%s", word == process->arguments ? "" : " ", *word);
	result_note(result, "Experiment      :%s%s", process->name,
		    more ? value_printf(result, " (plus %zu more)", more).text : "");

	struct part *facts = result_facts(result, -14);

	facts->facts.layout.before = "  ";
	part_add(result, facts, NULL, "Target",
		 value_printf(result, "'%s'", target.text ? target.text : ""));
	if (process->hostname)
		part_add(result, facts, NULL, "Host",
			 value_printf(result, "%s (%s, %s)", process->hostname,
				      process->arch ? process->arch : "",
				      process->os ? process->os : ""));
	part_add(result, facts, NULL, "Start Time", value_text(result, text));
	part_add(result, facts, NULL, "Duration", value_real(session_family_seconds(process), 3))
		->suffix = " Seconds";
	strbuf_fini(&target);
}

static void add_metric(struct print *print, struct result *result, const struct metric *metric,
		       double whole)
{
	static const char *const units[] = {
		[UNIT_SECONDS] = " (Seconds)", [UNIT_COUNT] = "",
		[UNIT_BYTES] = " (Bytes)",     [UNIT_RATIO] = "",
		[UNIT_ADDRESS] = "",	       [UNIT_TEXT] = "",
	};
	bool selected = metric_list_shows(&print->query.metrics, metric, FLAVOR_ANY);
	double total = view_total(print->session, &print->query, metric);
	bool hot = totals_is_hot(metric, total, whole);
	struct part *line = result_line(result, selected ? "    [X]" : "    [ ]", "");

	line->facts.layout.assign = hot ? ": [*" : ": [";
	part_set(result, line, "name", value_text(result, metric->command));
	part_set(result, line, "title", value_text(result, metric->title));
	part_set(result, line, "unit", value_text(result, number_unit_name(metric->unit)));
	part_set(result, line, "current", value_flag(selected));

	const char *label = value_printf(result, "%s - %s%s", metric->title, metric->command,
					 units[metric->unit])
				    .text;

	part_add(result, line, "total", label, value_measure(metric->unit, total))->suffix = "]";
}

static void add_metrics(struct print *print, struct result *result)
{
	double whole = session_thread_seconds(print->session);
	const char *kind = "";
	const struct metric *metric;

	result_gap(result);
	result_heading(result, "Metrics:");
	result_gap(result);
	result_note(result, "  Experiment Duration (Seconds): [%.3f]",
		    session_seconds(print->session));
	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		if (metric->is_static || !metric_available(print->session, metric))
			continue;
		if (strcmp(kind, totals_kind(metric)) != 0) {
			kind = totals_kind(metric);
			result_heading(result, "  %s", kind);
		}
		add_metric(print, result, metric, whole);
	}
	result_gap(result);
	result_note(result, "Notes: '*' indicates hot metrics, '[X]' indicates currently enabled "
			    "metrics.");
	result_note(result, "       The metrics command can be used to change selections. The "
			    "metric_list command lists all available metrics.");
}

static void add_compared(struct print *print, struct result *result)
{
	const struct metric *metric;
	struct compared compared;

	if (!compared_begin(&compared, print, result))
		return;
	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++)
		if (!metric->is_static && metric_available(print->session, metric))
			compared_add_metric(&compared, metric, metric->title);
	compared_end(&compared);
}

/* What programs learn of the experiments. */
static void set_processes(const struct print *print, struct result *result)
{
	struct value_list *processes = result_values(result);
	struct part *members = result_line(result, "", "");

	members->facts.of_all = true;
	for (size_t i = 0; i < session_process_count(print->session); i++) {
		const struct process_info *process = session_process(print->session, i);
		struct record *record = result_record(result);

		record_set(result, record, "id", value_count(process->id));
		record_set(result, record, "name", value_text(result, process->name));
		record_set(result, record, "target", value_text(result, process->target));
		record_set(result, record, "duration_s",
			   value_real(between(process->start_ns, process->end_ns), 3));
		values_add(result, processes, value_record(record));
	}
	part_set(result, members, "processes", value_list(processes));
	part_set(result, members, "duration_s", value_real(session_seconds(print->session), 3));
}

static bool command_overview(struct print *print, char **arguments, size_t count)
{
	struct result result;

	result_init(&result, "overview", print->session);
	set_processes(print, &result);
	result_heading(&result, "Experiment(s):");
	result_gap(&result);
	for (size_t i = 0; i < session_process_count(print->session); i++)
		if (is_founder(session_process(print->session, i)))
			add_experiment(print, &result, session_process(print->session, i));
	add_compared(print, &result);
	add_metrics(print, &result);
	return print_answer(print, &result);
}

const struct command command_rows_overview[] = {
	{.name = "overview",
	 .group = GROUP_LISTS,
	 .help = "the experiments and the total of every metric",
	 .run = command_overview},
	{0},
};
