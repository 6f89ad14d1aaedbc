/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header: how an experiment came to be, in the shape that er_print gives it.
 * Only what is recorded is printed; a line without a source is left out.
 */
#include "base/array.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/terminal.h"
#include "present/json.h"
#include "print/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NS_PER_S = 1000000000, HEADER_RULE = 68 };

static const char *find_attribute(const struct attribute *attributes, size_t count,
				  const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(attributes[i].name, name))
			return attributes[i].value;
	return NULL;
}

/* "3.272886815" */
static char *seconds_text(uint64_t ns)
{
	return xasprintf("%" PRIu64 ".%09" PRIu64, ns / NS_PER_S, ns % NS_PER_S);
}

char *command_words(char *const *arguments)
{
	struct strbuf text = {0};

	for (; arguments && *arguments; arguments++) {
		const char *word = *arguments;
		bool plain = *word && !word[strcspn(word, " \t\n\"'\\$`*?[]{}();&|<>~#!")];

		if (text.length)
			strbuf_putc(&text, ' ');
		if (!plain)
			strbuf_putc(&text, '\'');
		for (; *word; word++) {
			if (*word == '\'')
				strbuf_puts(&text, "'\\''");
			else
				strbuf_putc(&text, *word);
		}
		if (!plain)
			strbuf_putc(&text, '\'');
	}
	return strbuf_steal(&text);
}

static void put_notes(FILE *file, const char *notes)
{
	if (!notes || !*notes)
		return;
	fprintf(file, "Notes:\n%s%s", notes, notes[strlen(notes) - 1] == '\n' ? "" : "\n");
	for (int i = 0; i < HEADER_RULE; i++)
		fputc('=', file);
	fputc('\n', file);
}

/* The collector's own messages; the count of them. */
static size_t put_messages(FILE *file, const struct process_info *process, const char *kind,
			   const char *prefix)
{
	size_t count = 0;

	for (size_t i = 0; i < process->event_count_log; i++) {
		const char *text = log_event_attribute(&process->events[i], "text");

		if (strcmp(process->events[i].kind, kind) != 0)
			continue;
		terminal_printf(file, "*** Collector %s: %s\n", prefix, text ? text : "");
		count++;
	}
	return count;
}

/* What reading the process has shown; the count of it. */
static size_t put_findings(struct print *print, const struct process_info *process)
{
	const struct diag_list *warnings = session_warnings(print->session);
	size_t count = 0, length = strlen(process->name);

	for (size_t i = 0; i < warnings->count; i++) {
		const char *text = warnings->items[i].text;
		bool named = !strncmp(text, process->name, length) &&
			     !strncmp(text + length, ": ", 2); /* which the header is */

		if (warnings->items[i].about != process->id)
			continue;
		terminal_printf(print->output.file, "*** Warning: %s\n",
				named ? text + length + 2 : text);
		count++;
	}
	return count;
}

static void put_attached(FILE *file, const struct process_info *process)
{
	const char *ms =
		find_attribute(process->settings, process->setting_count, "attached_after_ms");

	if (ms)
		terminal_printf(file, "Attached to a process that had run for %.3f secs.\n",
				strtod(ms, NULL) / 1e3);
}

static void put_target(FILE *file, const struct process_info *process)
{
	char *command = command_words(process->arguments);
	const char *arch = process->arch ? process->arch : "";
	bool wide = !strcmp(arch, "x86_64") || !strcmp(arch, "aarch64");

	fputc('\n', file);
	if (*command)
		terminal_printf(file, "Target command%s: '%s'\n", wide ? " (64-bit)" : "", command);
	else if (process->executable)
		terminal_printf(file, "Target%s: '%s'\n", wide ? " (64-bit)" : "",
				process->executable);
	put_attached(file, process);
	terminal_printf(file,
			"Process pid %" PRId64 ", ppid %" PRId64 ", pgrp %" PRId64 ", sid %" PRId64
			"\n",
			process->pid, process->ppid, process->pgrp, process->sid);
	if (process->cwd)
		terminal_printf(file, "Current working directory: %s\n", process->cwd);
	free(command);
}

static void put_machine(FILE *file, const struct process_info *process)
{
	if (process->producer)
		terminal_printf(file, "Collector version: `%s'; experiment version %s\n",
				process->producer,
				process->version ? process->version : "(unknown)");
	if (process->hostname)
		terminal_printf(file,
				"Host `%s', OS `%s', page size %" PRIu64 ", architecture `%s'\n",
				process->hostname, process->os ? process->os : "(unknown)",
				process->page_size, process->arch ? process->arch : "(unknown)");
	if (process->cpus && process->clock_mhz)
		terminal_printf(file, "  %" PRIu64 " CPUs, clock speed %" PRIu64 " MHz.\n",
				process->cpus, process->clock_mhz);
	else if (process->cpus)
		terminal_printf(file, "  %" PRIu64 " CPUs.\n", process->cpus);
	if (process->pages && process->page_size)
		terminal_printf(file,
				"  Memory: %" PRIu64 " pages @ %" PRIu64 " = %" PRIu64 " MB.\n",
				process->pages, process->page_size,
				process->pages * process->page_size / 1024 / 1024);
}

/* The numbers that the collector wrote at the end; 0: there is none of that name. */
static uint64_t told(const struct process_info *process, const char *kind, const char *name)
{
	uint64_t value = 0;

	for (size_t i = 0; i < process->event_count_log; i++) {
		const struct log_event *event = &process->events[i];
		const char *text =
			strcmp(event->kind, kind) ? NULL : log_event_attribute(event, name);

		value = text ? strtoull(text, NULL, 10) : value;
	}
	return value;
}

static uint64_t counted(const struct process_info *process, const char *name)
{
	return told(process, "counters", name);
}

/* The default interval grows: to which one, and when, the process itself has told. */
static void put_interval(FILE *file, const struct process_info *process, const char *clock)
{
	const char *first =
		find_attribute(process->settings, process->setting_count, "clock_first");
	uint64_t began_us = first ? counted(process, "first_interval_us") : 0;
	uint64_t widened_ns = counted(process, "widened_ns");

	if (!first)
		terminal_printf(file, "  Clock-profiling, interval = %s microsecs.\n", clock);
	else if (!began_us)
		terminal_printf(file,
				"  Clock-profiling, interval = %s microsecs. at first, then %s.\n",
				first, clock);
	else if (!widened_ns)
		terminal_printf(file, "  Clock-profiling, interval = %" PRIu64 " microsecs.\n",
				began_us);
	else
		terminal_printf(file,
				"  Clock-profiling, interval = %" PRIu64
				" microsecs., from %.3f secs. on %s.\n",
				began_us, (double)widened_ns / NS_PER_S, clock);
}

static void put_clock(FILE *file, const struct process_info *process, const char *clock)
{
	if (!clock || !strcmp(clock, "0")) {
		terminal_printf(file, "  Clock-profiling is off.\n");
		return;
	}
	put_interval(file, process, clock);
	if (process->engine && *process->engine)
		terminal_printf(file, "  Clock-profiling engine: %s%s%s%s\n", process->engine,
				process->engine_reason && *process->engine_reason ? " (" : "",
				process->engine_reason ? process->engine_reason : "",
				process->engine_reason && *process->engine_reason ? ")" : "");
}

static void put_threshold(FILE *file, double microseconds)
{
	static const char title[] = "Synchronization tracing threshold";

	if (microseconds < 1000)
		terminal_printf(file, "  %s: %.3f microsec.\n", title, microseconds);
	else
		terminal_printf(file, "  %s: %.3f millisec.\n", title, microseconds / 1000);
}

static void put_traces(FILE *file, const struct process_info *process)
{
	static const char *const traces[][2] = {{"heap", "Heap tracing"},
						{"sync", "Synchronization tracing"},
						{"io", "I/O tracing"}};

	for (size_t i = 0; i < COUNT(traces); i++) {
		const char *how =
			find_attribute(process->settings, process->setting_count, traces[i][0]);

		/* A threshold has a line of its own. */
		if (how && !strcmp(traces[i][0], "sync") && *how >= '0' && *how <= '9')
			how = "on";
		if (how && !i && *how >= '0' && *how <= '9')
			terminal_printf(
				file, "  Heap tracing: a sample, one in %s bytes allocated\n", how);
		else if (how)
			terminal_printf(file, "  %s: %s\n", traces[i][1], how);
	}
	if (process->heap_unseen)
		terminal_printf(
			file,
			"  No allocation was seen: there was none, or the allocator is linked "
			"statically into the program\n");

	const char *threshold =
		find_attribute(process->settings, process->setting_count, "sync_threshold_ns");

	if (threshold)
		put_threshold(file, strtod(threshold, NULL) / 1000);
}

/* In the words of helio collect's closing line. */
static void put_counts(FILE *file, const struct process_info *process)
{
	terminal_printf(file, "  Recorded: %" PRIu64 " profile events, ", process->event_count);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (process->has_trace[kind])
			terminal_printf(file, "%" PRIu64 " of %s, ", process->trace_count[kind],
					format_traces[kind].setting);
	terminal_printf(file, "%" PRIu64 " dropped\n", process->dropped);
}

static json_t *json_counts(const struct process_info *process)
{
	json_t *counts = json_object();

	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (process->has_trace[kind])
			json_object_set_new(counts, format_traces[kind].setting,
					    json_integer((json_int_t)process->trace_count[kind]));
	return counts;
}

static void put_overhead(FILE *file, const struct process_info *process)
{
	uint64_t ticks = counted(process, "ticks");
	double cpu_ns = (double)counted(process, "cpu_recorded_ns");
	uint64_t own_ns = counted(process, "monitor_cpu_ns");

	if (!own_ns)
		own_ns = told(process, "left", "collector_us") * 1000;
	if (own_ns)
		terminal_printf(file,
				"  The collector's own thread used %.3f secs. of CPU time, "
				"which are in no total.\n",
				(double)own_ns / NS_PER_S);
	if (counted(process, "traced_ns"))
		terminal_printf(file, "  Recording of traced calls took some %.3f secs.\n",
				(double)counted(process, "traced_ns") / NS_PER_S);
	if (counted(process, "leak_search_ns"))
		terminal_printf(file, "  The search for lost memory took %.3f secs.\n",
				(double)counted(process, "leak_search_ns") / NS_PER_S);
	if (!counted(process, "limited"))
		return;
	terminal_printf(
		file, "  Overhead limit of %" PRIu64 " %% was in force: measuring took %.3f secs.",
		counted(process, "max_overhead"),
		(double)(counted(process, "overhead_ns") + counted(process, "monitor_cpu_ns")) /
			NS_PER_S);
	if (ticks && cpu_ns > 0)
		terminal_printf(file, " of %.3f, mean interval %.0f microsecs.", cpu_ns / NS_PER_S,
				cpu_ns / 1e3 / (double)ticks);
	fputc('\n', file);
}

static void put_parameters(FILE *file, const struct process_info *process)
{
	size_t count = process->setting_count;
	const char *sample = find_attribute(process->settings, count, "sample");
	const char *follow = find_attribute(process->settings, count, "follow");
	const char *window = find_attribute(process->settings, count, "window");

	terminal_printf(file, "Data collection parameters:\n");
	put_clock(file, process, find_attribute(process->settings, count, "clock"));
	for (size_t i = 0; i < process->counter_count; i++)
		terminal_printf(file, "  Counter profiling: %s, interval = %" PRIu64 "%s\n",
				process->counters[i].name, process->counters[i].interval,
				process->counters[i].has_address ? ", with data addresses" : "");
	put_overhead(file, process);
	put_traces(file, process);
	if (sample && strcmp(sample, "0") != 0 && strcmp(sample, "off") != 0)
		terminal_printf(file, "  Periodic sampling, %s secs.\n", sample);
	if (follow && !strcmp(follow, "on"))
		terminal_printf(file, "  Follow descendant processes from: fork|exec|combo\n");
	else if (follow && *follow == '=')
		terminal_printf(file, "  Follow descendant processes that match: %s\n", follow + 1);
	else if (follow)
		terminal_printf(file, "  Descendant processes are not followed.\n");
	if (window && *window)
		terminal_printf(file, "  Recording window: %s millisecs.\n", window);
	put_counts(file, process);
}

/* Who paused, resumed or ended the recording, and for which thread if not for all. */
static void put_control_event(FILE *file, const struct log_event *event, const char *time)
{
	static const struct {
		const char *kind, *text;
	} names[] = {{"pause", "Pause"},
		     {"resume", "Resume"},
		     {"thread_pause", "Pause"},
		     {"thread_resume", "Resume"},
		     {"close", "Experiment closed"}};
	const char *who = log_event_attribute(event, "text");
	const char *thread = log_event_attribute(event, "thread");

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(event->kind, names[i].kind))
			terminal_printf(file, "  %s%s%s%s%s%s: %s\n", names[i].text,
					who ? " (" : "", who ? who : "", who ? ")" : "",
					thread ? ", thread " : "", thread ? thread : "", time);
}

static void put_life_event(FILE *file, const struct log_event *event)
{
	const char *lineage = log_event_attribute(event, "lineage");
	const char *name = log_event_attribute(event, "name");
	const char *pid = log_event_attribute(event, "pid");
	const char *number = log_event_attribute(event, "errno");
	char *time = seconds_text(event->time_ns);

	if (!strcmp(event->kind, "fork") || !strcmp(event->kind, "spawn") ||
	    !strcmp(event->kind, "exec"))
		terminal_printf(file, "  Starting %s %s, exp %s.er%s%s%s%s\n", event->kind, time,
				lineage ? lineage : "?", pid ? ", pid " : "", pid ? pid : "",
				name ? ", program " : "", name ? name : "");
	else if (!strcmp(event->kind, "exec_failed"))
		terminal_printf(file, "  Failed exec %s: %s\n", time,
				number ? strerror((int)strtol(number, NULL, 10))
				       : "reason unknown");
	else
		put_control_event(file, event, time);
	free(time);
}

static void put_life(FILE *file, const struct process_info *process)
{
	time_t start = (time_t)((process->wall_start_ns + (int64_t)process->start_ns) / NS_PER_S);
	struct tm local;
	char text[64] = "";
	char *end = seconds_text(process->end_ns);
	char *duration = seconds_text(process->recorded_ns);

	if (localtime_r(&start, &local))
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &local);
	terminal_printf(file, "\nExperiment started %s\n\n", text);
	for (size_t i = 0; i < process->event_count_log; i++)
		put_life_event(file, &process->events[i]);
	if (process->ended)
		terminal_printf(file, "Experiment Ended: %s\n", end);
	else
		terminal_printf(file, "Experiment has no orderly end; last known moment: %s\n",
				end);
	terminal_printf(file, "Data Collection Duration: %s\n", duration);
	if (process->has_status && process->exit_signal)
		terminal_printf(file, "Target was killed by signal %d (%s)\n", process->exit_signal,
				strsignal(process->exit_signal));
	else if (process->has_status)
		terminal_printf(file, "Target exit status: %d\n", process->exit_status);
	free(duration);
	free(end);
}

static void print_header(struct print *print, const struct process_info *process)
{
	FILE *file = print->output.file;

	output_style(&print->output, STYLE_TITLE);
	terminal_printf(file, "Experiment: %s\n", process->name);
	output_style(&print->output, STYLE_PLAIN);
	put_notes(file, process->notes);
	if (!put_messages(file, process, "error", "Error"))
		terminal_printf(file, "No errors\n");
	if (!(put_messages(file, process, "warning", "Warning") + put_findings(print, process)))
		terminal_printf(file, "No warnings\n");
	put_target(file, process);
	put_machine(file, process);
	put_parameters(file, process);
	put_life(file, process);
	fputc('\n', file);
}

static json_t *json_attributes(const struct attribute *attributes, size_t count)
{
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++)
		json_object_set_new(object, attributes[i].name, json_text(attributes[i].value));
	return object;
}

static json_t *json_events(const struct process_info *process)
{
	json_t *list = json_array();

	for (size_t i = 0; i < process->event_count_log; i++) {
		const struct log_event *event = &process->events[i];

		json_array_append_new(
			list,
			json_pack("{s:o, s:f, s:o}", "kind", json_text(event->kind), "time_s",
				  (double)event->time_ns / NS_PER_S, "attributes",
				  json_attributes(event->attributes, event->attribute_count)));
	}
	return list;
}

static json_t *json_arguments(char *const *arguments)
{
	json_t *list = json_array();

	for (; arguments && *arguments; arguments++)
		json_array_append_new(list, json_text(*arguments));
	return list;
}

/* A number that is not recorded is 0 in the engine's struct and null here. */
static json_t *known(uint64_t number)
{
	return number ? json_integer((json_int_t)number) : json_null();
}

static json_t *json_header(const struct process_info *process)
{
	json_t *row = json_object();

	json_object_set_new(row, "id", json_integer(process->id));
	json_object_set_new(row, "founder", json_integer(process->founder));
	json_object_set_new(row, "name", json_text(process->name));
	json_object_set_new(row, "path", json_text(process->path));
	json_object_set_new(row, "notes", json_text(process->notes));
	json_object_set_new(row, "target", json_text(process->target));
	json_object_set_new(row, "arguments", json_arguments(process->arguments));
	json_object_set_new(row, "executable", json_text(process->executable));
	json_object_set_new(row, "cwd", json_text(process->cwd));
	json_object_set_new(row, "pid", json_integer(process->pid));
	json_object_set_new(row, "ppid", json_integer(process->ppid));
	json_object_set_new(row, "pgrp", json_integer(process->pgrp));
	json_object_set_new(row, "sid", json_integer(process->sid));
	json_object_set_new(row, "producer", json_text(process->producer));
	json_object_set_new(row, "version", json_text(process->version));
	json_object_set_new(row, "hostname", json_text(process->hostname));
	json_object_set_new(row, "os", json_text(process->os));
	json_object_set_new(row, "arch", json_text(process->arch));
	json_object_set_new(row, "cpus", known(process->cpus));
	json_object_set_new(row, "clock_mhz", known(process->clock_mhz));
	json_object_set_new(row, "page_size", known(process->page_size));
	json_object_set_new(row, "pages", known(process->pages));
	json_object_set_new(row, "engine", json_text(process->engine));
	json_object_set_new(row, "engine_reason", json_text(process->engine_reason));
	json_object_set_new(row, "settings",
			    json_attributes(process->settings, process->setting_count));
	json_object_set_new(row, "wall_start_ns", json_integer(process->wall_start_ns));
	json_object_set_new(row, "start_s", json_real((double)process->start_ns / NS_PER_S));
	json_object_set_new(row, "end_s", json_real((double)process->end_ns / NS_PER_S));
	json_object_set_new(row, "recorded_s", json_real((double)process->recorded_ns / NS_PER_S));
	json_object_set_new(row, "ended", json_boolean(process->ended));
	json_object_set_new(row, "exit_status",
			    process->has_status && !process->exit_signal
				    ? json_integer(process->exit_status)
				    : json_null());
	json_object_set_new(row, "exit_signal",
			    process->has_status && process->exit_signal
				    ? json_integer(process->exit_signal)
				    : json_null());
	json_object_set_new(row, "threads", json_integer(process->thread_count));
	json_object_set_new(row, "profile_events", json_integer((json_int_t)process->event_count));
	json_object_set_new(row, "trace_events", json_counts(process));
	json_object_set_new(row, "dropped", json_integer((json_int_t)process->dropped));
	json_object_set_new(row, "events", json_events(process));
	return row;
}

bool command_header(struct print *print, char **arguments, size_t count)
{
	struct json_report report;
	size_t first, end;

	if (!command_select_processes(print, arguments, count, &first, &end))
		return false;
	if (print->presenter.format == PRESENT_JSON)
		json_report_begin(&report, &print->presenter, print->session, "header", NULL, NULL);
	for (size_t i = first; i < end; i++) {
		const struct process_info *process = session_process(print->session, i);

		if (print->presenter.format == PRESENT_JSON)
			json_report_row(&report, json_header(process));
		else
			print_header(print, process);
	}
	if (print->presenter.format == PRESENT_JSON)
		json_report_end(&report);
	return true;
}
