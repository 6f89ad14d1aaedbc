/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: one screen that a newcomer can act on.  Its numbers are those of other commands, but
 * what of the waits are idle threads' (analysis/kinds/idle.h); the last part names those commands.
 *
 * The facts are collected as rows first, so that text and JSON say the same.
 */
#include "analysis/code/code_find.h"
#include "analysis/index/index.h"
#include "analysis/kinds/omp_regions.h"
#include "analysis/session/functions.h"
#include "analysis/session/session.h"
#include "analysis/views/choice.h"
#include "analysis/views/findings.h"
#include "analysis/views/locks.h"
#include "analysis/views/totals.h"
#include "analysis/views/view_call_tree.h"
#include "analysis/views/view_code.h"
#include "analysis/views/view_functions.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "present/number.h"
#include "print/commands/command.h"
#include "print/commands/command_compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS_SHOWN = 5, THREADS_SHOWN = 5, PATH_SHOWN = 12, LINE_SHOWN = 100 };

struct report {
	struct print *print;
	struct result result;
	const struct metric *metric; /* what "hot" goes by */
	double total;		     /* of it */
	struct idle_threads idle;
	char *hottest; /* the function of the first row, or NULL */
	uint32_t hottest_function;
};

static void add_section(struct report *report, const char *title)
{
	result_gap(&report->result);
	result_heading(&report->result, "%s", title)->heading.is_title = true;
}

/* A line of its own in the report; programs get the section that it is in. */
static struct part *add_line(struct report *report, const char *section, const char *before)
{
	struct part *line = result_line(&report->result, before, "");

	part_set(&report->result, line, "section", value_text(&report->result, section));
	return line;
}

/* What a metric's value is of, and the value, for programs. */
static void set_value(struct report *report, struct part *line, const char *name,
		      const struct metric *metric, double value, double whole)
{
	struct result *result = &report->result;

	part_set(result, line, "name", value_text(result, name));
	part_set(result, line, "metric", value_text(result, metric->command));
	part_set(result, line, "unit", value_text(result, number_unit_name(metric->unit)));
	part_set(result, line, "value", value_measure(metric->unit, value));
	part_set(result, line, "percent", value_real(number_share(value, whole), 2));
}

/* A value with its part of a whole and what it is of. */
static void add_value(struct report *report, const char *section, const char *indent,
		      const char *name, const struct metric *metric, double value, double whole)
{
	struct result *result = &report->result;
	struct part *line = add_line(report, section, "");
	struct fact *fact;

	set_value(report, line, name, metric, value, whole);
	part_add(result, line, NULL, NULL, value_measure(metric->unit, value))->width = 14;
	fact = part_add(result, line, NULL, NULL, value_share(value, whole));
	fact->width = 8;
	fact->suffix = " %  ";
	part_add(result, line, NULL, NULL, value_printf(result, "%s%s", indent, name));
}

static void add_text(struct report *report, const char *section, const char *text)
{
	part_add(&report->result, add_line(report, section, "  "), "name", NULL,
		 value_text(&report->result, text));
}

/* ---- what was run ---- */

/* A command may hold a whole script. */
static const char *one_line(struct strbuf *text)
{
	for (size_t i = 0; i < text->length; i++)
		if ((unsigned char)text->text[i] < ' ')
			text->text[i] = ' ';
	if (text->length > LINE_SHOWN) {
		text->length = LINE_SHOWN;
		while ((text->text[text->length] & 0xc0) == 0x80)
			text->length--;
		strbuf_puts(text, " ...");
	}
	return text->text;
}

static void add_experiment(struct report *report, const struct process_info *process)
{
	struct strbuf text = {0};
	uint32_t threads = 0, processes = 0;
	uint64_t events = 0;

	for (size_t i = 0; i < session_process_count(report->print->session); i++) {
		const struct process_info *member = session_process(report->print->session, i);

		if (member->founder != process->id || member->is_unrecorded)
			continue;
		processes += !member->is_next_image;
		threads += member->thread_count;
		events += member->event_count;
	}
	strbuf_printf(&text, "%s:", process->name);
	for (char *const *word = process->arguments; word && *word; word++)
		strbuf_printf(&text, " %s", *word);
	add_text(report, "experiment", one_line(&text));
	strbuf_clear(&text);
	strbuf_printf(&text, "%.3f s, %" PRIu32 " process%s, %" PRIu32 " thread%s, ",
		      session_family_seconds(process), processes, processes == 1 ? "" : "es",
		      threads, threads == 1 ? "" : "s");
	if (process_has_no_clock(process))
		strbuf_puts(&text, "without a clock profile (-p off)");
	else
		strbuf_printf(&text, "%" PRIu64 " clock events", events);
	if (process->engine && !process_has_no_clock(process))
		strbuf_printf(&text, " by the %s engine", process->engine);
	add_text(report, "experiment", text.text);
	strbuf_fini(&text);
}

/* ---- where the time goes ---- */

static const struct {
	const char *metric, *text;
	bool detail;
} times[] = {
	{"totalcpu", "on a processor", false},
	{"user", "in the program's code", true},
	{"system", "in the kernel for it", true},
	{"wait", "ready, waiting for a processor", false},
	{"lock", "waiting for other threads: locks, conditions, semaphores", false},
	{"datapfault", "waiting for memory (page faults)", false},
	{"sleep", "waiting for anything else: input, output, timers, children", false},
	{"stop", "stopped", false},
};

/* What of a state's time is idle threads', said apart from what the others wait for. True: these
 * are waits of User Lock. */
static bool add_idle(struct report *report, const struct metric *metric, double value, double whole)
{
	const struct idle_threads *idle = &report->idle;
	struct idle_part part;
	char *text;

	if (!findings_idle_part(idle, metric, value, &part))
		return false;
	text = xasprintf("idle: waiting for work in %s%s, by %zu thread%s that did so most of %s "
			 "time",
			 part.is_lock ? "conditions and semaphores" : "epoll, poll and select",
			 idle->lock_threads && idle->sleep_threads ? " mainly" : "", part.threads,
			 part.threads == 1 ? "" : "s", part.threads == 1 ? "its" : "their");
	add_value(report, "time", "    ", text, metric, part.seconds, whole);
	free(text);
	if (part.is_lock)
		add_value(report, "time", "    ", "all other: locks, joins, barriers", metric,
			  part.others, whole);
	return part.is_lock;
}

static void add_times(struct report *report)
{
	struct session *session = report->print->session;
	const struct metric *total = metric_find(session, "total");
	double whole = view_total(report->print->session, &report->print->query, total);
	bool idle = false;

	if (!metric_available(session, total) || whole <= 0)
		return;
	add_section(report, "Where the time of all threads goes");
	add_value(report, "time", "", "all their time", total, whole, whole);
	for (size_t i = 0; i < COUNT(times); i++) {
		const struct metric *metric = metric_find(session, times[i].metric);
		double value = view_total(report->print->session, &report->print->query, metric);

		if (value > 0)
			add_value(report, "time", times[i].detail ? "    " : "  ", times[i].text,
				  metric, value, whole);
		idle |= add_idle(report, metric, value, whole);
	}
	if (idle)
		add_text(report, "time",
			 "Waiting for work is no contention; the metric e.lock and the list of "
			 "locks have it too.");
}

static bool is_traced(const struct session *session, const struct metric *metric)
{
	return !metric->is_static && !metric->states && metric->if_data &&
	       metric_available(session, metric);
}

/* All times, and what was traced and counted, of experiments beside each other. */
static void add_compared(struct report *report)
{
	const struct session *session = report->print->session;
	const struct metric *metric;
	struct compared compared;

	if (!compared_begin(&compared, report->print, &report->result))
		return;
	compared_add_metric(&compared, metric_find(session, "total"), "all the threads' time");
	for (size_t i = 0; i < COUNT(times); i++)
		compared_add_metric(&compared, metric_find(session, times[i].metric),
				    times[i].text);
	for (size_t i = 0; (metric = metric_catalogue(session, i)); i++)
		if (is_traced(session, metric))
			compared_add_metric(&compared, metric, metric->title);
	compared_end(&compared);
}

/* What was traced and counted: all other metrics that have data. */
static void add_traces(struct report *report)
{
	struct session *session = report->print->session;
	const struct metric *metric;
	bool begun = false;

	for (size_t i = 0; (metric = metric_catalogue(session, i)); i++) {
		struct part *line;
		double value;

		if (!is_traced(session, metric))
			continue;
		value = view_total(report->print->session, &report->print->query, metric);
		if (value <= 0)
			continue;
		if (!begun)
			add_section(report, "What was traced and counted");
		begun = true;
		line = add_line(report, "traced", "");
		set_value(report, line, metric->title, metric, value, value);
		part_add(&report->result, line, NULL, NULL, value_measure(metric->unit, value))
			->width = 14;
		part_add(&report->result, line, NULL, NULL,
			 value_printf(&report->result, "  %s%s", metric->title,
				      metric->unit == UNIT_SECONDS ? " (s)" : ""));
	}
}

static const char *why_lost(const struct omp_finding *found)
{
	if (found->is_crowded)
		return ": more threads than processors";
	return found->unequal > found->lost / 2 ? " in the barrier: unequal work"
						: ": waits, or regions too short for their threads";
}

/* OpenMP's regions that lose much of their threads' time, and why. */
static void add_regions(struct report *report)
{
	enum { REGIONS_SHOWN = 3 };
	struct omp_finding found[REGIONS_SHOWN];
	struct result *result = &report->result;
	size_t count = session_has_trace(report->print->session, TRACE_OMP)
			       ? omp_find_lossy(report->print->session, &report->print->query,
						REGIONS_SHOWN, found)
			       : 0;

	if (count)
		add_section(report, "OpenMP regions that lose their threads' time");
	for (size_t i = 0; i < count; i++) {
		struct part *line = add_line(report, "regions", "  ");

		part_set(result, line, "name", value_text(result, found[i].name));
		part_set(result, line, "threads", value_count(found[i].threads));
		part_set(result, line, "calls", value_count(found[i].calls));
		part_set(result, line, "lost_percent", value_real(100 * found[i].lost, 2));
		part_set(result, line, "unequal_percent", value_real(100 * found[i].unequal, 2));
		part_add(result, line, NULL, NULL,
			 value_printf(result,
				      "%s: %" PRIu64 " threads, %.3f s in %" PRIu64
				      " call%s, %.0f %% of its time lost%s",
				      found[i].name, found[i].threads, found[i].seconds,
				      found[i].calls, found[i].calls == 1 ? "" : "s",
				      100 * found[i].lost, why_lost(&found[i])));
	}
}

/* OpenMP's critical sections, locks and so on that threads wait for, and who has them meanwhile. */
static void add_omp_locks(struct report *report)
{
	enum { LOCKS_SHOWN = 3 };
	static const double least_share = 0.01; /* of all threads' time */
	struct session *session = report->print->session;
	const struct query *query = &report->print->query;
	double whole = view_total(session, query, metric_find(session, "total"));
	struct lock_finding found[LOCKS_SHOWN];
	struct result *result = &report->result;
	size_t count =
		session_has_trace(session, TRACE_OMP) && whole > 0
			? locks_find_omp(session, query, least_share * whole, LOCKS_SHOWN, found)
			: 0;

	if (count)
		add_section(report, "OpenMP critical sections, locks and ordered sections that "
				    "threads wait for");
	for (size_t i = 0; i < count; i++) {
		struct part *line = add_line(report, "locks", "  ");
		double share = number_share(found[i].seconds, whole);

		part_set(result, line, "name", value_text(result, found[i].name));
		part_set(result, line, "sync", value_real(found[i].seconds, 3));
		part_set(result, line, "syncn", value_count(found[i].count));
		part_set(result, line, "waiters", value_count(found[i].waiters));
		part_set(result, line, "percent", value_real(share, 2));
		part_add(result, line, NULL, NULL,
			 value_printf(result,
				      "%s %s: %" PRIu64 " thread%s waited %" PRIu64
				      " time%s, %.3f s, %.0f %% of all threads' time; who had it: "
				      "-lock '%s'",
				      found[i].kind, found[i].name, found[i].waiters,
				      found[i].waiters == 1 ? "" : "s", found[i].count,
				      found[i].count == 1 ? "" : "s", found[i].seconds, share,
				      found[i].name));
	}
}

/* How long Java's collections of garbage held up the processes that had some. */
static void add_collections(struct report *report)
{
	static const double least_percent = 1;
	struct result *result = &report->result;
	double seconds = 0, lives = 0;
	uint64_t count = 0;

	for (size_t i = 0; i < session_process_count(report->print->session); i++) {
		const struct process_info *process = session_process(report->print->session, i);

		if (!process->collection_count)
			continue;
		count += process->collection_count;
		seconds += process->collection_seconds;
		lives += (double)process->recorded_ns / 1e9;
	}
	double share = number_share(seconds, lives);

	if (share < least_percent)
		return;
	add_section(report, "Java's garbage collections");

	struct part *line = add_line(report, "collections", "  ");

	part_set(result, line, "name", value_text(result, "garbage collections"));
	part_set(result, line, "calls", value_count(count));
	part_set(result, line, "value", value_real(seconds, 3));
	part_set(result, line, "percent", value_real(share, 2));
	part_add(result, line, NULL, NULL,
		 value_printf(result,
			      "%" PRIu64 " collection%s: for %.3f s, %.0f %% of the time, they "
			      "stopped all threads that run Java; each of them: -gcevents",
			      count, count == 1 ? "" : "s", seconds, share));
}

/* ---- the hot places ---- */

/* The metric, exclusive and inclusive, as all there is to show, most exclusive first. */
static struct query hot_query(const struct report *report, struct metric_choice choices[2])
{
	choices[0] = (struct metric_choice){report->metric, FLAVOR_EXCLUSIVE, VISIBLE_VALUE};
	choices[1] = (struct metric_choice){report->metric, FLAVOR_INCLUSIVE, VISIBLE_VALUE};
	return query_of_choices(&report->print->query, choices, 2, 0);
}

static void add_hot_section(struct report *report, const char *what)
{
	char *title = xasprintf("%s, by %s", what, report->metric->title);

	add_section(report, title);
	free(title);
}

static void add_threads(struct report *report)
{
	struct metric_choice choices[2];
	struct query query = hot_query(report, choices);
	struct table table;

	query.limit = 1 + THREADS_SHOWN;
	view_threads(report->print->session, &query, &table);
	if (table.row_count > 2) {
		add_hot_section(report, "The busiest threads");
		for (size_t i = 1; i < table.row_count; i++)
			add_value(report, "threads", "", table.rows[i].name, report->metric,
				  table.values[i * table.column_count], report->total);
		if (table.more)
			result_note(&report->result, "%25s  and %zu more", "", table.more);
	}
	table_fini(&table);
}

static void add_row(struct report *report, const char *section, const struct row *row, double value)
{
	char *name = row_qualifier(row) ? xasprintf("%s [%s]", row->name, row_qualifier(row))
					: xstrdup(row->name);

	add_value(report, section, "", name, report->metric, value, report->total);
	free(name);
}

static void add_functions(struct report *report)
{
	struct metric_choice choices[2];
	struct query query = hot_query(report, choices);
	struct table table;
	size_t hottest;

	query.limit = 1 + FUNCTIONS_SHOWN;
	query.name_soname = true;
	view_functions(report->print->session, &query, &table);
	add_hot_section(report, "The hottest functions themselves");
	for (size_t i = 1; i < table.row_count; i++) {
		if (table.values[i * table.column_count] <= 0)
			break;
		add_row(report, "functions", &table.rows[i], table.values[i * table.column_count]);
	}
	hottest = findings_hottest(&table);
	if (hottest) {
		report->hottest = xstrdup(table.rows[hottest].name);
		report->hottest_function = table.rows[hottest].id;
	}
	table_fini(&table);
}

/* The first children only: those that most of the cost goes through. */
static void add_path(struct report *report)
{
	struct main_path path;

	view_main_path(report->print->session, &report->print->query, report->metric, &path);
	add_hot_section(report, "The hottest path");
	for (size_t i = 0; i < path.count && i < PATH_SHOWN; i++)
		add_row(report, "path", &path.table.rows[path.rows[i]], main_path_value(&path, i));
	if (path.skipped)
		result_note(&report->result,
			    "%25s  (%zu more that only pass it on; `calltree -hottest' has all)",
			    "", path.skipped);
	main_path_fini(&path);
}

/* ---- what is missing ---- */

static bool add_share(struct report *report, double value, const char *what, const char *remedy)
{
	double share = number_share(value, report->total);
	char *text;

	if (share < FINDINGS_LEAST_PERCENT)
		return false;
	text = xasprintf("%.1f %% %s: %s", share, what, remedy);
	add_text(report, "missing", text);
	free(text);
	return true;
}

/* What descendants used of which only that is known, and who they were. */
static bool add_unrecorded(struct report *report)
{
	enum { NAMED = 3 };
	struct unrecorded_use use;
	struct strbuf names = {0};
	bool any;

	view_unrecorded(report->print->session, &report->print->query, report->metric, &use);
	for (size_t i = 0; i < use.count && i < NAMED; i++)
		strbuf_printf(&names, "%s%s", i ? " " : "", use.table.rows[use.rows[i]].name);
	if (use.count > NAMED)
		strbuf_puts(&names, " ...");
	any = use.count &&
	      add_share(report, use.value, "was used by processes that could not be recorded",
			names.text);
	if (any)
		add_text(report, "missing",
			 "(static, Go and setuid programs do not load the collector: perf record "
			 "shows what they do)");
	strbuf_fini(&names);
	unrecorded_use_fini(&use);
	return any;
}

/* Descendants of which not even the CPU time is known. */
static bool add_untold(struct report *report)
{
	struct session *session = report->print->session;
	const char *name = NULL;
	size_t count = 0;

	for (size_t i = 0; i < session_process_count(session); i++) {
		const struct process_info *process = session_process(session, i);

		count += process->is_untold;
		if (process->is_untold && !name)
			name = process->target;
	}
	if (!count)
		return false;
	char *text = count > 1 ? xasprintf("%s and %zu more", name, count - 1) : xstrdup(name);
	char *line = xasprintf("%s could not be recorded, nor is the CPU time known: no recorded "
			       "process awaited %s",
			       text, count > 1 ? "them" : "it");

	add_text(report, "missing", line);
	free(line);
	free(text);
	return true;
}

/* What was paused of it, the caller's to free; or NULL: less than is worth a word. */
static char *paused_text(const struct session *session, const struct process_info *founder)
{
	double lives, paused = findings_paused_seconds(session, founder, &lives);
	double share = number_share(paused, lives);

	if (share < FINDINGS_LEAST_PERCENT)
		return NULL;
	return xasprintf("%.1f %% of the time of %s, %.3f of %.3f s: the recording was paused, or "
			 "it was outside the window of -t",
			 share, founder->name, paused, lives);
}

/* What was not asked for of an experiment, the caller's to free; or NULL. */
static char *unasked_text(const struct session *session, const struct process_info *founder)
{
	const char *name = process_setting(founder, "pause_signal");

	switch (findings_unasked(session, founder)) {
	case UNASKED_PAUSED:
		return xasprintf("everything of %s: the recording began paused and was never "
				 "resumed (%s%s does, and `helio ctl resume')",
				 founder->name, name ? "the signal " : "",
				 name ? name : "collector_resume()");
	case UNASKED_OUTSIDE:
		return xasprintf("everything of %s: all its time was paused, or outside the "
				 "window of -t",
				 founder->name);
	case UNASKED_CLOCK:
		return xasprintf("where the time of %s went: the clock was not asked for (-p off)",
				 founder->name);
	case ASKED:
		return paused_text(session, founder);
	}
	return NULL;
}

/* Experiments that were paused, or not in their window, for a time; and those without a clock. */
static bool add_unasked(struct report *report)
{
	const struct session *session = report->print->session;
	bool any = false;

	for (size_t i = 0; i < session_process_count(session); i++) {
		const struct process_info *process = session_process(session, i);
		char *text =
			process->founder == process->id ? unasked_text(session, process) : NULL;

		if (text)
			add_text(report, "missing", text);
		any |= text != NULL;
		free(text);
	}
	return any;
}

/* Why time has no call stack: what helps against that. */
static const char *without_stack(const struct session *session)
{
	if (findings_has_messages(session))
		return "see the collector's messages in `header'";
	if (process_setting(session_process(session, 0), "attached_after_ms"))
		return "threads' time without a tick, as of one that began while it was recorded "
		       "and blocks signals: helio collect sees them";
	return "threads' time without a tick: helio collect -p with a shorter interval gives more "
	       "of them";
}

/* Nobody reads more of them here. */
static void add_warnings(struct report *report, const struct diag_list *warnings)
{
	enum { MOST = 100 };
	size_t shown = warnings->count > MOST ? MOST - 1 : warnings->count;

	for (size_t i = 0; i < shown; i++)
		add_text(report, "missing", warnings->items[i].text);
	if (shown == warnings->count)
		return;
	char *text = xasprintf("%zu more warnings: see `header'", warnings->count - shown);

	add_text(report, "missing", text);
	free(text);
}

static void add_missing(struct report *report)
{
	struct session *session = report->print->session;
	const struct diag_list *warnings = session_warnings(session);
	const struct query *query = &report->print->query;
	const struct metric *metric = report->metric;
	bool any = warnings->count > 0;

	add_section(report, "What is missing");
	add_warnings(report, warnings);
	any |= add_unasked(report);
	any |= add_unrecorded(report);
	any |= add_untold(report);
	any |= add_share(report, findings_unnamed(session, query, metric),
			 "is in code without names",
			 "install the debug packages of their programs and libraries");
	any |= add_share(report, findings_inclusive(session, query, FUNCTION_TRUNCATED, metric),
			 "has a call stack that was cut off",
			 "record with a greater depth, helio collect --depth N");
	any |= add_share(report, findings_inclusive(session, query, FUNCTION_UNWIND_FAILED, metric),
			 "has a call stack that is not known to its end",
			 "code without unwind information; -fasynchronous-unwind-tables adds it");
	any |= add_share(report, findings_inclusive(session, query, FUNCTION_NO_STACK, metric),
			 "has no call stack", without_stack(session));
	if (!any)
		add_text(report, "missing", "nothing that matters");
}

/* ---- what next ---- */

static void add_command(struct report *report, const char *words, const char *argument)
{
	char *const path[] = {(char *)session_process(report->print->session, 0)->path, NULL};
	char *experiment = command_words(path);
	char *text = xasprintf("%s %s%s%s %s", report->print->program, words, argument ? " " : "",
			       argument ? argument : "", experiment);

	add_text(report, "next", text);
	free(text);
	free(experiment);
}

/* The hottest function as a command takes it: its name, and its number where several have it. */
static char *hottest_argument(const struct report *report, const struct function_match *matches,
			      size_t count)
{
	char *const words[] = {report->hottest, NULL};
	size_t number = choice_number(matches, count, report->hottest_function);
	char *name = command_words(words), *argument = NULL;

	if (number)
		argument = count == 1 ? xstrdup(name) : xasprintf("%s %zu", name, number);
	free(name);
	return argument;
}

/* Whether there is a listing of the hottest function. */
static bool has_listing(const struct report *report,
			bool (*view)(struct session *, const struct query *,
				     const struct listing_request *, struct listing_header *,
				     struct table *, struct diag_list *))
{
	const struct source_search search = {0};
	const struct listing_request request = {
		.function = report->hottest_function, .file = CODE_NONE, .search = &search};
	struct listing_header header = {0};
	struct diag_list diags = {0};
	struct table table;
	bool shown = view(report->print->session, &report->print->query, &request, &header, &table,
			  &diags);

	if (shown)
		table_fini(&table);
	diag_fini(&diags);
	return shown && (view != view_source || !header.source_missing);
}

/* What tells more of the hottest function; only what there is. */
static void add_hottest_next(struct report *report)
{
	const struct query *query = &report->print->query;
	struct session *session = report->print->session;
	struct function_match *matches;
	size_t count = view_find_functions(session, query, report->hottest, &matches);
	char *argument = hottest_argument(report, matches, count);

	if (argument)
		add_command(report, "-csingle", argument);
	free(argument);
	free(matches);
	count = view_find_code(session, query, report->hottest, &matches);
	argument = hottest_argument(report, matches, count);
	if (argument && has_listing(report, view_source))
		add_command(report, "-source", argument);
	else if (argument && has_listing(report, view_disassembly))
		add_command(report, "-disasm", argument);
	free(argument);
	free(matches);
}

static bool add_traces_next(struct report *report)
{
	const struct command *command;
	bool any = false;

	for (size_t i = 0; (command = command_at(i)); i++) {
		char words[64];

		if (!command->comes_next ||
		    !session_has_trace(report->print->session, command_data_kind(command->data)))
			continue;
		snprintf(words, sizeof(words), "-%s", command->name);
		add_command(report, words, NULL);
		any = true;
	}
	return any;
}

static void add_next(struct report *report)
{
	const struct metric *wait =
		findings_main_wait(report->print->session, &report->print->query, &report->idle);
	bool any = report->hottest || wait;

	add_section(report, "What to type next");
	if (report->hottest)
		add_hottest_next(report);
	/* They show what lists are sorted by. */
	if (view_total(report->print->session, &report->print->query,
		       tree_part_metric(&report->print->query)) > 0) {
		any = true;
		add_command(report, "-calltree -percent 5", NULL);
		add_command(report, "-flamegraph graph.html", NULL);
	}
	if (wait) {
		char *words = xasprintf("-metrics e.%%%s:i.%%%s:name -sort e.%s -functions",
					wait->command, wait->command, wait->command);

		add_command(report, words, NULL);
		free(words);
	}
	any = add_traces_next(report) || any;
	/* What there is of any recording: when it was paused, and what the program used. */
	if (!any) {
		add_command(report, "-header", NULL);
		add_command(report, "-statistics", NULL);
	}
}

static bool command_report(struct print *print, char **arguments, size_t count)
{
	struct report report = {.print = print,
				.metric = findings_metric(print->session, &print->query)};

	report.total = view_total(print->session, &print->query, report.metric);
	view_idle_threads(print->session, &print->query, &report.idle);
	result_init(&report.result, "report", print->session);
	for (size_t i = 0; i < session_process_count(print->session); i++) {
		const struct process_info *process = session_process(print->session, i);

		if (process->founder == process->id)
			add_experiment(&report, process);
	}
	add_compared(&report);
	add_times(&report);
	add_traces(&report);
	add_regions(&report);
	add_omp_locks(&report);
	add_collections(&report);
	if (report.total > 0) {
		add_threads(&report);
		add_functions(&report);
		add_path(&report);
	}
	add_missing(&report);
	add_next(&report);
	free(report.hottest);
	return print_answer(print, &report.result);
}

const struct command command_rows_report[] = {
	{.name = "report",
	 .group = GROUP_LISTS,
	 .help = "one screen: where the time goes, what is missing, what to type next",
	 .run = command_report},
	{0},
};
