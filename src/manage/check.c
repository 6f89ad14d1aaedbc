/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `helio check`: reads all of an experiment and tells three things apart.
 * Damage: something that was recorded is gone or wrong.  Warnings: something
 * was never recorded, or cannot be had here.  Else it is in order.  The doubts
 * themselves are the reader's, the same that `helio print` shows; this adds
 * what no report needs, and the verdict.
 */
#include "manage/check.h"

#include "base/array.h"
#include "base/terminal.h"
#include "experiment/group.h"
#include "manage/manage.h"
#include "manage/report.h"
#include "manage/survey.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_IN_ORDER, CHECK_WARNINGS, CHECK_DAMAGED, CHECK_UNREADABLE };

/* It ended in order: then it had load objects, and has written at least two sample points. */
static bool has_closed(const struct experiment_log *log)
{
	return !log->is_gprofng && log->counters.present && log->ended && !log->exit_signal;
}

/* Which files of a process are not what was written. */
static void check_files(struct check *check, const struct process *process, bool has_clock)
{
	/*
	 * The log names the engine when all files but the call stacks are there.  The launcher
	 * closes it also where the process was killed before that: what then was there is told by
	 * the sums.
	 */
	bool begun = process->log.engine || process->log.is_gprofng || process->profile.event_count;
	bool emptied = has_closed(&process->log);
	const char *stacks = process->log.is_gprofng ? "data.frameinfo" : FORMAT_FILE_STACKS;
	const struct {
		const char *name;
		bool missing, damaged;
	} files[] = {
		{FORMAT_FILE_LOG, !process->log.present, process->log.damaged},
		{FORMAT_FILE_MAP, !process->map.present && begun,
		 process->map.damaged || (emptied && !process->map.segments.count)},
		{FORMAT_FILE_OVERVIEW, !process->overview.present && begun,
		 process->overview.damaged || (emptied && !process->overview.count)},
		{FORMAT_FILE_PROFILE, !process->profile.present && has_clock && begun,
		 process->profile.damaged},
		{stacks,
		 !process->stacks.present && (process->log.is_gprofng ? process->profile.event_count
								      : process->profile.stackless),
		 process->stacks.damaged},
	};

	for (size_t i = 0; i < COUNT(files); i++)
		if (files[i].missing || files[i].damaged)
			diag_add(&check->damage, DIAG_WARNING, "%s/%s is %s", process->name,
				 files[i].name, files[i].missing ? "missing" : "damaged");
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (process->traces[kind].damaged)
			diag_add(&check->damage, DIAG_WARNING, "%s/%s is damaged", process->name,
				 format_kinds[kind].file);
}

/* What is whole in itself but less than it was. */
static void check_counts(struct check *check, const struct process *process)
{
	const struct experiment_profile *profile = &process->profile;
	const struct log_counters *counters = &process->log.counters;

	if (counters->has_events && counters->events > profile->event_count)
		diag_add(&check->damage, DIAG_WARNING,
			 "%s/profile lacks %" PRIu64 " of the %" PRIu64
			 " events that were recorded",
			 process->name, counters->events - profile->event_count, counters->events);
	if (profile->stackless)
		diag_add(&check->damage, DIAG_WARNING,
			 "%s/stacks lacks the call stacks of %" PRIu64 " of %" PRIu64 " events",
			 process->name, profile->stackless, profile->event_count);
	/* the founder's log is closed before anything is packed */
	if (!process->lineage[0] && process->log.present && !process->log.closed &&
	    (profile->counts.checked || process->stacks.counts.checked))
		diag_add(&check->damage, DIAG_WARNING,
			 "%s/log.xml is cut off: the experiment was finished, but its log has no "
			 "end",
			 process->name);
}

static void check_recording(struct check *check)
{
	const struct experiment *experiment = check->experiment;

	for (size_t i = 0; i < experiment->processes.count; i++)
		if (survey_is_running(experiment, &experiment->processes.items[i])) {
			diag_add(&check->warnings, DIAG_WARNING,
				 "process %lld is still being recorded: what follows is a moment's "
				 "view",
				 (long long)experiment->processes.items[i].log.pid);
			return;
		}
}

static void run_check(struct check *check, const char *path)
{
	struct diag_list doubts = {0};

	if (experiment_open(path, &check->experiment, &check->damage, &doubts)) {
		diag_fini(&doubts);
		return;
	}
	const struct experiment *experiment = check->experiment;
	const char *clock = experiment_log_setting(&experiment->processes.items[0].log, "clock");

	check_recording(check);
	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct process *process = &experiment->processes.items[i];

		if (process->is_unrecorded)
			continue;
		check_files(check, process, !log_clock_is_off(clock));
		check_counts(check, process);
		experiment_check_traces(process, &check->damage);
		objects_add(&check->objects, process, false);
	}
	for (size_t i = 0; i < doubts.count; i++)
		diag_add_once(&check->warnings, DIAG_WARNING, "%s", doubts.items[i].text);
	check_sums(check);
	check_archives(check);
	check_objects(check);
	check_descendants(check);
	diag_fini(&doubts);
}

/* What can be read, all processes together. */
struct yield {
	uint64_t events, nodes, samples, threads, blocks, checked;
	double cpu_s;
};

static struct yield add_up(const struct experiment *experiment)
{
	struct yield yield = {0};

	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct process *process = &experiment->processes.items[i];
		const struct experiment_profile *profile = &process->profile;

		yield.events += profile->event_count;
		yield.nodes += process->stacks.nodes.count;
		yield.samples += process->overview.count;
		yield.threads += profile->threads.count;
		yield.blocks += profile->counts.blocks + process->stacks.counts.blocks;
		yield.checked += profile->counts.checked + process->stacks.counts.checked;
		yield.cpu_s += (double)(profile->state_us[FORMAT_STATE_USER] +
					profile->state_us[FORMAT_STATE_SYSTEM] +
					profile->state_us[FORMAT_STATE_TRAP] +
					profile->state_us[PROFILE_STATE_CPU]) /
			       1e6;
	}
	return yield;
}

static int verdict(const struct check *check)
{
	return !check->experiment      ? CHECK_UNREADABLE
	       : check->damage.count   ? CHECK_DAMAGED
	       : check->warnings.count ? CHECK_WARNINGS
				       : CHECK_IN_ORDER;
}

static const char *const verdict_names[] = {"in order", "readable, with warnings", "damaged",
					    "not readable"};

static void print_list(const char *label, const struct diag_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		terminal_printf(stdout, "  %s%s\n", label, list->items[i].text);
}

static void print_check(const struct check *check, const char *path)
{
	print_list(check->experiment ? "damage: " : "", &check->damage);
	print_list("warning: ", &check->warnings);
	print_list("", &check->notes);
	terminal_printf(stdout, "%s: %s", path, verdict_names[verdict(check)]);
	if (check->experiment) {
		struct yield yield = add_up(check->experiment);

		terminal_printf(
			stdout,
			"; %s %" PRIu64 " events with %.3f s of CPU time, %" PRIu64
			" call stack nodes, %" PRIu64 " sample points of %zu process%s; %" PRIu64
			" of %" PRIu64 " blocks have checksums",
			check->damage.count ? "it still yields" : "it holds", yield.events,
			yield.cpu_s, yield.nodes, yield.samples, check->experiment->processes.count,
			check->experiment->processes.count == 1 ? "" : "es", yield.checked,
			yield.blocks);
	}
	putchar('\n');
}

static json_t *json_list(const struct diag_list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(array, json_text(list->items[i].text));
	return array;
}

static json_t *json_check(const struct check *check, const char *path)
{
	static const char *const words[] = {"in order", "warnings", "damaged", "not readable"};
	json_t *yields = json_null();

	if (check->experiment) {
		struct yield yield = add_up(check->experiment);

		yields = json_pack("{s:I, s:f, s:I, s:I, s:I, s:I, s:I}", "events",
				   (json_int_t)yield.events, "cpu", yield.cpu_s, "stack_nodes",
				   (json_int_t)yield.nodes, "samples", (json_int_t)yield.samples,
				   "threads", (json_int_t)yield.threads, "blocks",
				   (json_int_t)yield.blocks, "checked", (json_int_t)yield.checked);
	}
	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "path", json_text(path), "verdict",
			 words[verdict(check)], "damage", json_list(&check->damage), "warnings",
			 json_list(&check->warnings), "notes", json_list(&check->notes), "yields",
			 yields);
}

static void check_fini(struct check *check)
{
	objects_fini(&check->objects);
	experiment_free(check->experiment);
	diag_fini(&check->damage);
	diag_fini(&check->warnings);
	diag_fini(&check->notes);
}

struct arguments {
	const char *program;
	bool json, quiet;
};

static int run(const struct arguments *arguments, const struct experiment_paths *paths)
{
	json_t *results = json_array();
	int worst = CHECK_IN_ORDER;

	for (size_t i = 0; i < paths->count; i++) {
		struct check check = {0};

		run_check(&check, paths->items[i]);
		worst = verdict(&check) > worst ? verdict(&check) : worst;
		if (arguments->json)
			json_array_append_new(results, json_check(&check, paths->items[i]));
		else if (!arguments->quiet)
			print_check(&check, paths->items[i]);
		check_fini(&check);
	}
	if (arguments->json)
		report_json(json_pack("{s:o}", "experiments", json_incref(results)));
	json_decref(results);
	return worst < CHECK_DAMAGED ? worst : CHECK_DAMAGED;
}

static const struct option options[] = {
	{'j', "json", NULL, 0, option_set_flag, offsetof(struct arguments, json), "print JSON"},
	{'q', "quiet", NULL, 0, option_set_flag, offsetof(struct arguments, quiet),
	 "only the exit status"},
};
static const struct option_table tables[] = {OPTION_TABLE(options), OPTION_COMMON};
static const struct option_syntax syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.usage = "Usage: %s [--json] EXPERIMENT...\n"
		 "Read all of an experiment and say whether it is whole, and what it yields.\n"
		 "\n",
	.notes = "\n"
		 "Exit status: 0 in order; 1 warnings: something was not recorded or cannot be had "
		 "here;\n"
		 "2 damaged, or no experiment, or a wrong command line.\n",
};

int manage_check_main(int argc, char **argv)
{
	struct arguments arguments = {.program = report_program(argv)};
	struct experiment_paths paths = {0};
	char **operands;
	int status;

	if (!report_may_run(&syntax, arguments.program, &arguments, argv, &operands, &status))
		return status;
	if (!*operands)
		return report_usage_error(arguments.program, "name an experiment to check");
	for (char **path = operands; *path; path++)
		experiment_paths_add(&paths, *path);
	status = run(&arguments, &paths);
	experiment_paths_fini(&paths);
	return status;
}
