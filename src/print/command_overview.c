/* SPDX-License-Identifier: Apache-2.0 */
/* overview: the experiments, and the total of every metric with what is selected and what is hot.
 */
#include "base/array.h"
#include "base/terminal.h"
#include "present/json.h"
#include "present/number.h"
#include "print/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HOT_SHARE = 10 }; /* percent of all the threads' time that makes a metric hot */

static bool is_founder(const struct process_info *process)
{
	return process->founder == process->id;
}

static double between(uint64_t start_ns, uint64_t end_ns)
{
	return end_ns > start_ns ? (double)(end_ns - start_ns) / 1e9 : 0;
}

double command_family_duration(const struct process_info *founder)
{
	return between(founder->start_ns, founder->family_end_ns);
}

static size_t descendants(const struct session *session, const struct process_info *founder)
{
	size_t count = 0;

	for (size_t i = 0; i < session_process_count(session); i++)
		count += session_process(session, i)->founder == founder->id;
	return count - 1;
}

static bool is_selected(const struct query *query, const struct metric *metric)
{
	for (size_t i = 0; i < query->metrics.count; i++)
		if (query->metrics.items[i].metric == metric &&
		    !(query->metrics.items[i].visibility & VISIBLE_HIDDEN))
			return true;
	return false;
}

static double metric_total(const struct print *print, const struct metric *metric)
{
	double exclusive, inclusive, total;

	view_function_values(print->session, &print->query, FUNCTION_TOTAL, metric, &exclusive,
			     &inclusive, &total);
	return total;
}

static void put_experiment(struct print *print, const struct process_info *process)
{
	FILE *file = print->output.file;
	size_t more = descendants(print->session, process);
	time_t start = (time_t)((process->wall_start_ns + (int64_t)process->start_ns) / 1000000000);
	struct tm local;
	char text[64] = "";

	if (localtime_r(&start, &local))
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &local);
	terminal_printf(file, "Experiment      :%s", process->name);
	if (more)
		terminal_printf(file, " (plus %zu more)", more);
	fputc('\n', file);
	terminal_printf(file, "  Target        : '");
	if (!process->arguments || !process->arguments[0])
		terminal_printf(file, "%s", process->target ? process->target : "");
	for (char *const *word = process->arguments; word && *word; word++)
		terminal_printf(file, "%s%s", word == process->arguments ? "" : " ", *word);
	terminal_printf(file, "'\n");
	if (process->hostname)
		terminal_printf(file, "  Host          : %s (%s, %s)\n", process->hostname,
				process->arch ? process->arch : "", process->os ? process->os : "");
	terminal_printf(file, "  Start Time    : %s\n", text);
	terminal_printf(file, "  Duration      : %.3f Seconds\n", command_family_duration(process));
}

static double whole_duration(const struct session *session)
{
	double sum = 0;

	for (size_t i = 0; i < session_process_count(session); i++)
		if (is_founder(session_process(session, i)))
			sum += command_family_duration(session_process(session, i));
	return sum;
}

/* Every thread's every moment is in one state: their sum is the time of all threads. */
static double thread_seconds(const struct session *session)
{
	double sum = 0;

	for (size_t i = 0; i < session_process_count(session); i++)
		for (int state = 0; state < 10; state++)
			sum += session_process(session, i)->state_seconds[state];
	return sum;
}

/* The kinds of data, by how the names of their metrics begin. */
static const struct {
	const char *prefix, *title;
} kinds[] = {
	{"sync", "Synchronization Tracing"},
	{"heap", "Heap Tracing"},
	{"io", "I/O Tracing"},
};

/* "Clock Profiling"; what is neither that nor traced has been counted. */
static const char *kind_of(const struct metric *metric)
{
	if (metric->states || !metric->if_data)
		return "Clock Profiling";
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (!strncmp(metric->command, kinds[i].prefix, strlen(kinds[i].prefix)))
			return kinds[i].title;
	return "Counters";
}

static void put_metric(struct print *print, const struct metric *metric, double whole)
{
	static const char *const units[] = {
		[UNIT_SECONDS] = " (Seconds)", [UNIT_COUNT] = "",
		[UNIT_BYTES] = " (Bytes)",     [UNIT_RATIO] = "",
		[UNIT_ADDRESS] = "",	       [UNIT_TEXT] = "",
	};
	double total = metric_total(print, metric);
	bool hot = metric->unit == UNIT_SECONDS && number_share(total, whole) >= HOT_SHARE;
	char number[NUMBER_SIZE];

	number_value(number, metric->unit, total);
	number[strcspn(number, " ")] = '\0';
	terminal_printf(print->output.file, "    [%c]%s - %s%s: [%s%s]\n",
			is_selected(&print->query, metric) ? 'X' : ' ', metric->title,
			metric->command, units[metric->unit], hot ? "*" : "", number);
}

static void put_metrics(struct print *print)
{
	FILE *file = print->output.file;
	double whole = thread_seconds(print->session);
	const char *kind = "";
	const struct metric *metric;

	terminal_printf(file, "\nMetrics:\n\n  Experiment Duration (Seconds): [%.3f]\n",
			whole_duration(print->session));
	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		if (metric->is_static || !metric_available(print->session, metric))
			continue;
		if (strcmp(kind, kind_of(metric)) != 0) {
			kind = kind_of(metric);
			terminal_printf(file, "  %s\n", kind);
		}
		put_metric(print, metric, whole);
	}
	terminal_printf(
		file,
		"\nNotes: '*' indicates hot metrics, '[X]' indicates currently enabled metrics.\n"
		"       The metrics command can be used to change selections. The metric_list "
		"command lists all available metrics.\n");
}

static void json_overview(struct print *print)
{
	struct json_report report;
	json_t *processes = json_array();
	const struct metric *metric;

	for (size_t i = 0; i < session_process_count(print->session); i++) {
		const struct process_info *process = session_process(print->session, i);

		json_array_append_new(processes,
				      json_pack("{s:i, s:o, s:o, s:f}", "id", (int)process->id,
						"name", json_text(process->name), "target",
						json_text(process->target), "duration_s",
						between(process->start_ns, process->end_ns)));
	}
	json_report_begin(&report, &print->presenter, print->session, "overview", NULL,
			  json_pack("{s:o, s:f}", "processes", processes, "duration_s",
				    whole_duration(print->session)));
	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		if (metric->is_static || !metric_available(print->session, metric))
			continue;
		double total = metric_total(print, metric);

		json_report_row(&report, json_pack("{s:s, s:s, s:s, s:b, s:o}", "name",
						   metric->command, "title", metric->title, "unit",
						   number_unit_name(metric->unit), "current",
						   is_selected(&print->query, metric), "total",
						   json_number(metric->unit, total)));
	}
	json_report_end(&report);
}

bool command_overview(struct print *print, char **arguments, size_t count)
{
	if (print->presenter.format == PRESENT_JSON) {
		json_overview(print);
		return true;
	}
	terminal_printf(print->output.file, "Experiment(s):\n\n");
	for (size_t i = 0; i < session_process_count(print->session); i++)
		if (is_founder(session_process(print->session, i)))
			put_experiment(print, session_process(print->session, i));
	put_metrics(print);
	return true;
}
