/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be known about the completeness of an experiment only from several
 * of its files: the collector's counts of itself, the sample points and the
 * events have to tell the same story.
 */
#include "base/folder.h"
#include "base/hash.h"
#include "base/memory.h"
#include "experiment/dyntext.h"
#include "experiment/experiment.h"
#include "experiment/kept.h"
#include "format/archive.h"
#include "format/sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
	/* below this a difference is the grain of the kernel's accounting, not a loss */
	CPU_GRAIN_NS = 10000000,
	LIFE_GRAIN_US = 5000,
	RECORDED_GRAIN_NS = 1000000,
	END_GRAIN_NS = 100000000, /* other threads may record on while the last one says exit */
};

static double recorded_cpu_ns(const struct process *process)
{
	const uint64_t *state_us = process->profile.state_us;

	return ((double)state_us[FORMAT_STATE_USER] + (double)state_us[FORMAT_STATE_SYSTEM] +
		(double)state_us[FORMAT_STATE_TRAP]) *
	       1000;
}

/* Whether the last word of the log on it is that the recording was paused. */
static bool is_paused(const struct experiment_log *log)
{
	bool paused = false;

	for (size_t i = 0; i < log->events.count; i++) {
		const char *kind = log->events.items[i].kind;

		if (!strcmp(kind, "pause") || !strcmp(kind, "resume"))
			paused = kind[0] == 'p';
	}
	return paused;
}

/*
 * The launcher saw it end by itself and finished the experiment; of the collector, which counts
 * at the end, there is no word.
 */
static bool lacks_counts(const struct process *process)
{
	const struct experiment_log *log = &process->log;
	size_t events = log->events.count;

	if (log->own_calls && log->left.present) /* what it could not say, others have */
		return false;
	if (!events || strcmp(log->events.items[events - 1].kind, FORMAT_EVENT_SUMS) != 0)
		return false;
	return log->has_status && !log->exit_signal && !log->counters.present &&
	       !process->is_unrecorded && process->profile.present && log->engine &&
	       strcmp(log->engine, "none") != 0;
}

/* The collector writes regions when they end, or when it ends itself. */
static void check_omp_end(const struct process *process, struct diag_list *warnings)
{
	const struct experiment_log *log = &process->log;

	if ((!log->ended || log->exit_signal) && !log->counters.present &&
	    process->traces[TRACE_OMP].present)
		diag_add(warnings, DIAG_WARNING,
			 "%s: OpenMP regions and tasks that had not ended then, or began in the "
			 "last "
			 "moments, are not among those that are counted",
			 process->name);
}

static void check_end(const struct process *process, struct diag_list *warnings)
{
	const struct experiment_log *log = &process->log;

	if (!log->present)
		return;
	if (!log->ended && is_paused(log))
		diag_add(warnings, DIAG_WARNING,
			 "%s: the recording was paused when this was read, or when the process was "
			 "killed; `helio ctl resume' goes on with it",
			 process->name);
	else if (!log->ended)
		diag_add(warnings, DIAG_WARNING,
			 "%s: the process still runs or was killed before it could close its "
			 "experiment; its last moments may be missing",
			 process->name);
	else if (log->exit_signal)
		diag_add(warnings, DIAG_WARNING,
			 "%s: the process was killed by signal %d; its last moments may be missing",
			 process->name, log->exit_signal);
	else if (lacks_counts(process))
		diag_add(warnings, DIAG_WARNING,
			 "%s: the log does not say what was recorded: it could not grow (see -d, "
			 "ulimit -f), or the process ended by a system call of its own; events may "
			 "be missing",
			 process->name);
	check_omp_end(process, warnings);
}

/* What the collector said itself, and in how many processes. */
struct said {
	const char *name; /* of the first one */
	const struct process *last;
	size_t processes;
};
struct said_list {
	VEC(struct said) items;
	struct string_table texts; /* of the same numbers */
};

/* What it could not do, and where it had to stop. */
static void read_said(const struct process *process, struct said_list *list)
{
	const struct experiment_log *log = &process->log;

	for (size_t i = 0; i < log->events.count; i++) {
		const struct log_event *event = &log->events.items[i];
		const char *text = log_event_attribute(event, "text");
		const char *error = log_event_attribute(event, "errno");

		if (!text || (strcmp(event->kind, "error") != 0 && strcmp(event->kind, "warning")))
			continue;
		char *whole = xasprintf("%s%s%s", text, error ? ": " : "",
					error ? strerror((int)strtol(error, NULL, 10)) : "");
		uint32_t number = string_table_add(&list->texts, whole);

		free(whole);
		if (number == list->items.count)
			*vec_push(&list->items) = (struct said){.name = process->name};
		list->items.items[number].processes += list->items.items[number].last != process;
		list->items.items[number].last = process;
	}
}

/* One line for all processes that say the same. */
static void check_said(const struct experiment *experiment, struct diag_list *warnings)
{
	struct said_list list = {0};

	for (size_t i = 0; i < experiment->processes.count; i++)
		if (!experiment->processes.items[i].is_unrecorded &&
		    !experiment->processes.items[i].log.is_gprofng &&
		    !experiment_is_guest(experiment, &experiment->processes.items[i]))
			read_said(&experiment->processes.items[i], &list);
	for (size_t i = 0; i < list.items.count; i++) {
		const struct said *said = &list.items.items[i];
		const char *text = string_table_text(&list.texts, (uint32_t)i);

		if (said->processes == 1)
			diag_add_once(warnings, DIAG_WARNING, "%s: %s", said->name, text);
		else
			diag_add_once(warnings, DIAG_WARNING, "%s and %zu other process%s: %s",
				      said->name, said->processes - 1,
				      said->processes == 2 ? "" : "es", text);
	}
	string_table_fini(&list.texts);
	vec_fini(&list.items);
}

/* Events after the process ended cannot be. */
static void check_times(const struct process *process, struct diag_list *warnings)
{
	uint64_t last_ns = process->profile.last_us * 1000;

	if (process->log.ended && last_ns > process->log.last_ns + END_GRAIN_NS)
		diag_add(warnings, DIAG_WARNING,
			 "%s: there are events up to %.3f s, but the process ended at %.3f s; "
			 "times are doubtful",
			 process->name, (double)last_ns / 1e9, (double)process->log.last_ns / 1e9);
}

uint64_t process_dropped(const struct process *process)
{
	uint64_t dropped = process->profile.dropped;

	for (int kind = 0; kind < TRACE_KINDS; kind++)
		dropped += process->traces[kind].dropped;
	return process->log.counters.dropped > dropped ? process->log.counters.dropped : dropped;
}

static void check_dropped(const struct process *process, struct diag_list *warnings)
{
	uint64_t kept = process->profile.event_count, dropped = process_dropped(process);
	bool traces = false;

	for (int kind = 0; kind < TRACE_KINDS; kind++) {
		traces |= process->traces[kind].present;
		kept += process->traces[kind].rows.count;
	}
	if (dropped)
		diag_add(warnings, DIAG_WARNING,
			 "%s: %" PRIu64 " events were dropped while recording, beside the %" PRIu64
			 " that were kept; %s",
			 process->name, dropped, kept,
			 traces ? "what helps is room for the experiment on its disk (see -d, "
				  "ulimit -f), or to trace less: -H sample=512k, -s with a "
				  "threshold"
				: "a longer interval (-p) makes this less likely");
}

/* Java tells of its threads' stacks itself. */
static bool needs_stacks(const struct process *process)
{
	return !process->contexts.said[RUNTIME_JAVA];
}

static void check_counts(const struct process *process, struct diag_list *warnings)
{
	const struct log_counters *counters = &process->log.counters;
	uint64_t events = process->profile.event_count;

	check_dropped(process, warnings);
	if (counters->has_events && counters->events > events)
		diag_add(warnings, DIAG_WARNING,
			 "%s: %" PRIu64 " of the %" PRIu64
			 " recorded events are missing from the experiment",
			 process->name, counters->events - events, counters->events);
	if (counters->unwind_failed * 100 > events && needs_stacks(process))
		diag_add(warnings, DIAG_WARNING,
			 "%s: %" PRIu64 " call stacks could not be followed to their beginning; "
			 "inclusive times of outer functions are too small",
			 process->name, counters->unwind_failed);
	if (counters->truncated * 100 > events)
		diag_add(warnings, DIAG_WARNING,
			 "%s: %" PRIu64 " call stacks were deeper than the limit; inclusive times "
			 "of outer functions are too small",
			 process->name, counters->truncated);
}

/* Whether some CPU time is left out on purpose. */
static bool has_pauses(const struct process *process)
{
	for (size_t i = 0; i < process->profile.threads.count; i++)
		if (process->profile.threads.items[i].paused ||
		    profile_more(&process->profile, &process->profile.threads.items[i])->paused_us)
			return true;
	return false;
}

static void check_cpu(const struct process *process, struct diag_list *warnings)
{
	const struct log_counters *counters = &process->log.counters;
	double recorded = recorded_cpu_ns(process);
	double used = (double)counters->cpu_ns;
	double counted =
		(double)counters->cpu_recorded_ns + (double)process->profile.ends_us * 1000;

	if (counters->has_cpu && process->profile.present && !has_pauses(process) &&
	    recorded < used * 0.99 && used - recorded > CPU_GRAIN_NS)
		diag_add(warnings, DIAG_WARNING,
			 "%s: the events hold %.3f s of CPU time, the process used %.3f s: %.1f %% "
			 "are not accounted for",
			 process->name, recorded / 1e9, used / 1e9, 100 * (used - recorded) / used);
	if (!log_counters_agree(counters))
		diag_add(warnings, DIAG_WARNING,
			 "%s: log.xml is damaged: the CPU times of its counters do not add up",
			 process->name);
	if (counters->has_recorded && fabs(recorded - counted) > counted * 0.005 &&
	    fabs(recorded - counted) > RECORDED_GRAIN_NS)
		diag_add(warnings, DIAG_WARNING,
			 "%s: the events hold %.3f s of CPU time, but %.3f s were recorded: the "
			 "profile is not what was written",
			 process->name, recorded / 1e9, counted / 1e9);
}

/* The weights of a thread add up to its life, where the clock was profiled. */
static void check_lives(const struct process *process, struct diag_list *warnings)
{
	double life = 0, recorded = 0, difference = 0;
	size_t wrong = 0;

	if (process->log.engine && !strcmp(process->log.engine, "none"))
		return;
	for (size_t i = 0; i < process->profile.threads.count; i++) {
		const struct profile_thread *thread = &process->profile.threads.items[i];
		const struct profile_more *more = profile_more(&process->profile, thread);
		double own = (double)thread->recorded_us;
		double span =
			(double)thread->end_us - (double)thread->begin_us - (double)more->paused_us;

		if (!thread->began)
			continue;
		if (thread->paused)
			span -= (double)thread->end_us - (double)more->pause_begin_us;
		life += span;
		recorded += own;
		difference += fabs(span - own);
		wrong += fabs(span - own) > span * 0.01 && fabs(span - own) > LIFE_GRAIN_US;
	}
	if (wrong && difference > life * 0.01)
		diag_add(warnings, DIAG_WARNING,
			 "%s: %zu threads lived for %.3f s but their events hold %.3f s (%.1f %% "
			 "off, %zu threads wrong)",
			 process->name, process->profile.threads.count, life / 1e6, recorded / 1e6,
			 100 * difference / life, wrong);
}

static void check_dyntext(const struct process *process, struct diag_list *warnings)
{
	struct read_context context = process_context(process, warnings);
	size_t missing = 0;

	if (!process->log.is_gprofng)
		missing = experiment_dyntext_missing(&process->map, &context);
	if (missing)
		diag_add(warnings, DIAG_WARNING,
			 "%s: dyntext is damaged: it lacks the code of %zu functions made at run "
			 "time; they have names and times all the same",
			 process->name, missing);
}

/*
 * Who collects keeps copies of load objects at the end; one that was killed did not come to it.
 * Reading an experiment changes nothing in it, so this is offered only.
 */
static void check_kept(const struct experiment *experiment, struct diag_list *warnings)
{
	const struct process *founder = &experiment->processes.items[0];
	const char *archive = experiment_log_setting(&founder->log, "archive");

	if (!archive || !strcasecmp(archive, "off") || founder->log.closed || founder->lineage[0] ||
	    founder->log.is_gprofng)
		return;
	struct stat info;

	if (!folder_stat(experiment->folder, FORMAT_FILE_ARCHIVE_LOG, &info))
		diag_add(warnings, DIAG_WARNING,
			 "%s: helio collect has not ended it, so no copies of load objects were "
			 "kept: unless it still runs, `helio archive %s' makes them",
			 founder->name, experiment->path);
}

/*
 * The process counted what it traced, at its end and before each exec; what it traced later only
 * adds to that.  Without sums that alone tells of a file that is gone, emptied or cut.
 */
void experiment_check_traces(const struct process *process, struct diag_list *diags)
{
	diags->about = process->number;
	for (int kind = 0; kind < TRACE_KINDS; kind++) {
		uint64_t counted = process->log.counters.traced[kind];
		uint64_t found = process->traces[kind].rows.count;

		if (counted && !process->traces[kind].present)
			diag_add_once(diags, DIAG_WARNING,
				      "%s/%s is missing, with %" PRIu64 " events", process->name,
				      format_kinds[kind].file, counted);
		else if (counted > found)
			diag_add_once(diags, DIAG_WARNING,
				      "%s/%s lacks %" PRIu64 " of the %" PRIu64
				      " events that the process counted when it ended",
				      process->name, format_kinds[kind].file, counted - found,
				      counted);
	}
	diags->about = 0;
}

void experiment_check(const struct experiment *experiment, struct diag_list *warnings)
{
	warnings->about = experiment->processes.items[0].number;
	check_kept(experiment, warnings);
	experiment_check_kept(experiment, warnings);
	warnings->about = 0; /* what it said itself stands in its log, for all to see */
	check_said(experiment, warnings);
	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct process *process = &experiment->processes.items[i];

		warnings->about = process->number;
		check_end(process, warnings);
		check_times(process, warnings);
		check_counts(process, warnings);
		check_cpu(process, warnings);
		check_lives(process, warnings);
		check_dyntext(process, warnings);
	}
	warnings->about = 0;
}
