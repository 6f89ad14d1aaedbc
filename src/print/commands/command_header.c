/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header: how an experiment came to be, in the shape that er_print gives it.
 * Only what is recorded is printed; a line without a source is left out.
 */
#include "analysis/session/session.h"
#include "analysis/views/findings.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "print/commands/command.h"
#include "print/commands/command_recorded.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

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

static void add_notes(struct result *into, const char *notes)
{
	static const char rule[] =
		"====================================================================";

	if (!notes || !*notes)
		return;
	result_heading(into, "Notes:");
	while (*notes) {
		size_t length = strcspn(notes, "\n");

		result_note(into, "%.*s", (int)length, notes);
		notes += length + (notes[length] == '\n');
	}
	result_note(into, "%s", rule);
}

/* The collector's own messages; the count of them. */
static size_t add_messages(struct result *into, const struct process_info *process,
			   const char *kind, const char *prefix)
{
	size_t count = 0;

	for (size_t i = 0; i < process->event_count_log; i++) {
		const char *text = log_event_attribute(&process->events[i], "text");

		if (strcmp(process->events[i].kind, kind) != 0)
			continue;
		result_note(into, "*** Collector %s: %s", prefix, text ? text : "");
		count++;
	}
	return count;
}

/* What reading the process has shown; the count of it. */
static size_t add_findings(struct result *into, const struct process_info *process)
{
	const struct diag_list *warnings = session_warnings(into->session);
	size_t count = 0, length = strlen(process->name);

	for (size_t i = 0; i < warnings->count; i++) {
		const char *text = warnings->items[i].text;
		bool named = !strncmp(text, process->name, length) &&
			     !strncmp(text + length, ": ", 2); /* which the header is */

		if (warnings->items[i].about != process->id)
			continue;
		result_note(into, "*** Warning: %s", named ? text + length + 2 : text);
		count++;
	}
	return count;
}

static void add_attached(struct result *into, const struct process_info *process)
{
	const char *ms =
		find_attribute(process->settings, process->setting_count, "attached_after_ms");

	if (ms)
		result_note(into, "Attached to a process that had run for %.3f secs.",
			    strtod(ms, NULL) / 1e3);
}

static void add_target(struct result *into, const struct process_info *process)
{
	char *command = command_words(process->arguments);
	const char *arch = process->arch ? process->arch : "";
	bool wide = !strcmp(arch, "x86_64") || !strcmp(arch, "aarch64");

	result_gap(into);
	if (*command)
		result_note(into, "Target command%s: '%s'", wide ? " (64-bit)" : "", command);
	else if (process->executable)
		result_note(into, "Target%s: '%s'", wide ? " (64-bit)" : "", process->executable);
	add_attached(into, process);
	result_note(into,
		    "Process pid %" PRId64 ", ppid %" PRId64 ", pgrp %" PRId64 ", sid %" PRId64,
		    process->pid, process->ppid, process->pgrp, process->sid);
	if (process->cwd)
		result_note(into, "Current working directory: %s", process->cwd);
	free(command);
}

static void add_machine(struct result *into, const struct process_info *process)
{
	if (process->producer)
		result_note(into, "Collector version: `%s'; experiment version %s",
			    process->producer, process->version ? process->version : "(unknown)");
	if (process->hostname)
		result_note(into, "Host `%s', OS `%s', page size %" PRIu64 ", architecture `%s'",
			    process->hostname, process->os ? process->os : "(unknown)",
			    process->page_size, process->arch ? process->arch : "(unknown)");
	if (process->cpus && process->clock_mhz)
		result_note(into, "  %" PRIu64 " CPUs, clock speed %" PRIu64 " MHz.", process->cpus,
			    process->clock_mhz);
	else if (process->cpus)
		result_note(into, "  %" PRIu64 " CPUs.", process->cpus);
	if (process->pages && process->page_size)
		result_note(into, "  Memory: %" PRIu64 " pages @ %" PRIu64 " = %" PRIu64 " MB.",
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
static void add_interval(struct result *into, const struct process_info *process, const char *clock)
{
	const char *first =
		find_attribute(process->settings, process->setting_count, "clock_first");
	uint64_t began_us = first ? counted(process, "first_interval_us") : 0;
	uint64_t widened_ns = counted(process, "widened_ns");

	if (!first)
		result_note(into, "  Clock-profiling, interval = %s microsecs.", clock);
	else if (!began_us)
		result_note(into, "  Clock-profiling, interval = %s microsecs. at first, then %s.",
			    first, clock);
	else if (!widened_ns)
		result_note(into, "  Clock-profiling, interval = %" PRIu64 " microsecs.", began_us);
	else
		result_note(into,
			    "  Clock-profiling, interval = %" PRIu64
			    " microsecs., from %.3f secs. on %s.",
			    began_us, (double)widened_ns / NS_PER_S, clock);
}

static void add_clock(struct result *into, const struct process_info *process, const char *clock)
{
	if (!clock || process_has_no_clock(process)) {
		result_note(into, "  Clock-profiling is off.");
		return;
	}
	add_interval(into, process, clock);
	if (process->engine && *process->engine)
		result_note(into, "  Clock-profiling engine: %s%s%s%s", process->engine,
			    process->engine_reason && *process->engine_reason ? " (" : "",
			    process->engine_reason ? process->engine_reason : "",
			    process->engine_reason && *process->engine_reason ? ")" : "");
}

static void add_threshold(struct result *into, double microseconds)
{
	static const char title[] = "Synchronization tracing threshold";

	if (microseconds < 1000)
		result_note(into, "  %s: %.3f microsec.", title, microseconds);
	else
		result_note(into, "  %s: %.3f millisec.", title, microseconds / 1000);
}

static void add_traces(struct result *into, const struct process_info *process)
{
	for (int i = 0; i < TRACE_KINDS; i++) {
		const struct format_kind *kind = &format_kinds[i];
		const char *how = kind->is_wrapped
					  ? find_attribute(process->settings,
							   process->setting_count, kind->name)
					  : NULL;

		/* A threshold has a line of its own. */
		if (how && i == TRACE_SYNC && *how >= '0' && *how <= '9')
			how = "on";
		if (how && i == TRACE_HEAP && *how >= '0' && *how <= '9')
			result_note(into, "  Heap tracing: a sample, one in %s bytes allocated",
				    how);
		else if (how)
			result_note(into, "  %c%s tracing: %s", toupper(*kind->subject),
				    kind->subject + 1, how);
	}
	if (process->has_trace[TRACE_JHEAP])
		result_note(into, "  Java heap: a sample, one in %s bytes allocated",
			    find_attribute(process->settings, process->setting_count,
					   format_kinds[TRACE_JHEAP].name));
	if (process->heap_unseen)
		result_note(into,
			    "  No allocation was seen: there was none, or the allocator is linked "
			    "statically into the program");

	const char *threshold =
		find_attribute(process->settings, process->setting_count, "sync_threshold_ns");

	if (threshold)
		add_threshold(into, strtod(threshold, NULL) / 1000);
}

/* In the words of helio collect's closing line. */
static void add_counts(struct result *into, const struct process_info *process)
{
	struct strbuf text = {0};

	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (process->has_trace[kind])
			strbuf_printf(&text, "%" PRIu64 " of %s, ", process->trace_count[kind],
				      format_kinds[kind].name);
	result_note(into, "  Recorded: %" PRIu64 " profile events, %s%" PRIu64 " dropped",
		    process->event_count, text.text ? text.text : "", process->dropped);
	strbuf_fini(&text);
}

static struct value counts_of(struct result *into, const struct process_info *process)
{
	struct record *counts = result_record(into);

	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (process->has_trace[kind])
			record_set(into, counts, format_kinds[kind].name,
				   value_count(process->trace_count[kind]));
	return value_record(counts);
}

static void add_overhead(struct result *into, const struct process_info *process)
{
	uint64_t ticks = counted(process, "ticks");
	double cpu_ns = (double)counted(process, "cpu_recorded_ns");
	uint64_t own_ns = counted(process, "monitor_cpu_ns");

	if (!own_ns)
		own_ns = told(process, "left", "collector_us") * 1000;
	if (own_ns)
		result_note(into,
			    "  The collector's own thread used %.3f secs. of CPU time, "
			    "which are in no total.",
			    (double)own_ns / NS_PER_S);
	if (counted(process, "traced_ns"))
		result_note(into, "  Recording of traced calls took some %.3f secs.",
			    (double)counted(process, "traced_ns") / NS_PER_S);
	if (counted(process, "leak_search_ns"))
		result_note(into, "  The search for lost memory took %.3f secs.",
			    (double)counted(process, "leak_search_ns") / NS_PER_S);
	if (!counted(process, "limited"))
		return;
	const char *of = "";

	if (ticks && cpu_ns > 0)
		of = value_printf(into, " of %.3f, mean interval %.0f microsecs.",
				  cpu_ns / NS_PER_S, cpu_ns / 1e3 / (double)ticks)
			     .text;
	result_note(into,
		    "  Overhead limit of %" PRIu64 " %% was in force: measuring took %.3f secs.%s",
		    counted(process, "max_overhead"),
		    (double)(counted(process, "overhead_ns") + counted(process, "monitor_cpu_ns")) /
			    NS_PER_S,
		    of);
}

static void add_parameters(struct result *into, const struct process_info *process)
{
	size_t count = process->setting_count;
	const char *sample = find_attribute(process->settings, count, "sample");
	const char *follow = find_attribute(process->settings, count, "follow");
	const char *window = find_attribute(process->settings, count, "window");

	result_note(into, "Data collection parameters:");
	add_clock(into, process, find_attribute(process->settings, count, "clock"));
	for (size_t i = 0; i < process->counter_count; i++)
		result_note(into, "  Counter profiling: %s, interval = %" PRIu64 "%s",
			    process->counters[i].name, process->counters[i].interval,
			    process->counters[i].has_address ? ", with data addresses" : "");
	add_overhead(into, process);
	add_traces(into, process);
	if (sample && strcmp(sample, "0") != 0 && strcmp(sample, "off") != 0)
		result_note(into, "  Periodic sampling, %s secs.", sample);
	if (follow && !strcmp(follow, "on"))
		result_note(into, "  Follow descendant processes from: fork|exec|combo");
	else if (follow && *follow == '=')
		result_note(into, "  Follow descendant processes that match: %s", follow + 1);
	else if (follow)
		result_note(into, "  Descendant processes are not followed.");
	if (window && *window)
		result_note(into, "  Recording window: %s millisecs.", window);
	add_counts(into, process);
}

/* Who paused, resumed or ended the recording, and for which thread if not for all. */
static void add_control_event(struct result *into, const struct log_event *event, const char *time)
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
			result_note(into, "  %s%s%s%s%s%s: %s", names[i].text, who ? " (" : "",
				    who ? who : "", who ? ")" : "", thread ? ", thread " : "",
				    thread ? thread : "", time);
}

static void add_life_event(struct result *into, const struct log_event *event)
{
	const char *lineage = log_event_attribute(event, "lineage");
	const char *name = log_event_attribute(event, "name");
	const char *pid = log_event_attribute(event, "pid");
	const char *number = log_event_attribute(event, "errno");
	char *time = seconds_text(event->time_ns);

	if (!strcmp(event->kind, "fork") || !strcmp(event->kind, "spawn") ||
	    !strcmp(event->kind, "exec"))
		result_note(into, "  Starting %s %s, exp %s.er%s%s%s%s", event->kind, time,
			    lineage ? lineage : "?", pid ? ", pid " : "", pid ? pid : "",
			    name ? ", program " : "", name ? name : "");
	else if (!strcmp(event->kind, "exec_failed"))
		result_note(into, "  Failed exec %s: %s", time,
			    number ? strerror((int)strtol(number, NULL, 10)) : "reason unknown");
	else
		add_control_event(into, event, time);
	free(time);
}

static void add_life(struct result *into, const struct process_info *process)
{
	time_t start = (time_t)((process->wall_start_ns + (int64_t)process->start_ns) / NS_PER_S);
	struct tm local;
	char text[64] = "";
	char *end = seconds_text(process->end_ns);
	char *duration = seconds_text(process->recorded_ns);

	if (localtime_r(&start, &local))
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &local);
	result_gap(into);
	result_note(into, "Experiment started %s", text);
	result_gap(into);
	for (size_t i = 0; i < process->event_count_log; i++)
		add_life_event(into, &process->events[i]);
	if (process->ended)
		result_note(into, "Experiment Ended: %s", end);
	else
		result_note(into, "Experiment has no orderly end; last known moment: %s", end);
	result_note(into, "Data Collection Duration: %s", duration);
	if (process->has_status && process->exit_signal)
		result_note(into, "Target was killed by signal %d (%s)", process->exit_signal,
			    strsignal(process->exit_signal));
	else if (process->has_status)
		result_note(into, "Target exit status: %d", process->exit_status);
	free(duration);
	free(end);
}

/* A number that is not recorded is 0 in the engine's struct. */
static struct value known(uint64_t number)
{
	return number ? value_count(number) : (struct value){.kind = VALUE_NONE};
}

static struct value attributes_of(struct result *into, const struct attribute *attributes,
				  size_t count)
{
	struct record *record = result_record_of(into, count);

	for (size_t i = 0; i < count; i++)
		record_set(into, record, attributes[i].name, value_text(into, attributes[i].value));
	return value_record(record);
}

static struct value event_of(struct result *into, size_t index, const void *data)
{
	const struct process_info *process = data;
	const struct log_event *event = &process->events[index];
	struct record *record = result_record_of(into, 3);

	record_set(into, record, "kind", value_text(into, event->kind));
	record_set(into, record, "time_s", value_real((double)event->time_ns / NS_PER_S, 9));
	record_set(into, record, "attributes",
		   attributes_of(into, event->attributes, event->attribute_count));
	return value_record(record);
}

static struct value words_of(struct result *into, char *const *words)
{
	struct value_list *list = result_values(into);

	for (; words && *words; words++)
		values_add(into, list, value_text(into, *words));
	return value_list(list);
}

static void set_text(struct result *into, struct part *row, const char *key, const char *text)
{
	part_set(into, row, key, value_text(into, text));
}

static void set_identity(struct result *into, struct part *row, const struct process_info *process)
{
	part_set(into, row, "id", value_count(process->id));
	part_set(into, row, "founder", value_count(process->founder));
	set_text(into, row, "name", process->name);
	set_text(into, row, "path", process->path);
	set_text(into, row, "notes", process->notes);
	set_text(into, row, "target", process->target);
	part_set(into, row, "arguments", words_of(into, process->arguments));
	set_text(into, row, "executable", process->executable);
	set_text(into, row, "cwd", process->cwd);
	part_set(into, row, "pid", value_integer(process->pid));
	part_set(into, row, "ppid", value_integer(process->ppid));
	part_set(into, row, "pgrp", value_integer(process->pgrp));
	part_set(into, row, "sid", value_integer(process->sid));
}

static void set_machine(struct result *into, struct part *row, const struct process_info *process)
{
	set_text(into, row, "producer", process->producer);
	set_text(into, row, "version", process->version);
	set_text(into, row, "hostname", process->hostname);
	set_text(into, row, "os", process->os);
	set_text(into, row, "arch", process->arch);
	part_set(into, row, "cpus", known(process->cpus));
	part_set(into, row, "clock_mhz", known(process->clock_mhz));
	part_set(into, row, "page_size", known(process->page_size));
	part_set(into, row, "pages", known(process->pages));
	set_text(into, row, "engine", process->engine);
	set_text(into, row, "engine_reason", process->engine_reason);
	part_set(into, row, "settings",
		 attributes_of(into, process->settings, process->setting_count));
}

static void set_life(struct result *into, struct part *row, const struct process_info *process)
{
	const struct value none = {.kind = VALUE_NONE};
	bool exited = process->has_status && !process->exit_signal;
	bool killed = process->has_status && process->exit_signal;

	part_set(into, row, "wall_start_ns", value_integer(process->wall_start_ns));
	part_set(into, row, "start_s", value_real((double)process->start_ns / NS_PER_S, 9));
	part_set(into, row, "end_s", value_real((double)process->end_ns / NS_PER_S, 9));
	part_set(into, row, "recorded_s", value_real((double)process->recorded_ns / NS_PER_S, 9));
	part_set(into, row, "ended", value_flag(process->ended));
	part_set(into, row, "exit_status", exited ? value_integer(process->exit_status) : none);
	part_set(into, row, "exit_signal", killed ? value_integer(process->exit_signal) : none);
	part_set(into, row, "threads", value_count(process->thread_count));
	part_set(into, row, "profile_events", value_count(process->event_count));
	part_set(into, row, "trace_events", counts_of(into, process));
	part_set(into, row, "dropped", value_count(process->dropped));
	part_set(into, row, "events",
		 value_made(into, process->event_count_log, event_of, process));
}

/* What the processes' parts are made of. */
struct headers {
	const struct session *session;
	size_t first;
};

static void make_header(struct result *into, size_t index, const void *data)
{
	const struct headers *of = data;
	const struct process_info *process = session_process(of->session, of->first + index);
	struct part *row;

	result_heading(into, "Experiment: %s", process->name)->heading.is_title = true;
	add_notes(into, process->notes);
	if (!add_messages(into, process, "error", "Error"))
		result_note(into, "No errors");
	if (!(add_messages(into, process, "warning", "Warning") + add_findings(into, process)))
		result_note(into, "No warnings");
	add_target(into, process);
	add_machine(into, process);
	add_parameters(into, process);
	add_life(into, process);
	result_gap(into);
	row = result_line(into, "", "");
	set_identity(into, row, process);
	set_machine(into, row, process);
	set_life(into, row, process);
}

static bool command_header(struct print *print, char **arguments, size_t count)
{
	struct headers of = {.session = print->session};
	struct result result;
	size_t end;

	if (!command_select_processes(print, arguments, count, &of.first, &end))
		return false;
	result_init(&result, "header", print->session);
	recorded_compare(print, &result);
	result_series(&result, end - of.first, make_header, &of);
	return print_answer(print, &result);
}

const struct command command_rows_header[] = {
	{.name = "header",
	 .max_arguments = 1,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_LISTS,
	 .arguments = "[ID|all]",
	 .help = "what was recorded, where and how",
	 .run = command_header},
	{0},
};
