/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process id in a log says little by itself: the machine may be another, or
 * the number somebody else's by now.  It is still recorded if its log has no
 * end, the log was written here, and the process with the number began before
 * the recording did.
 */
#include "manage/survey.h"

#include "base/folder.h"
#include "base/memory.h"
#include "base/path.h"
#include "format/control.h"
#include "manage/report.h"
#include "manage/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { CLOCK_SLACK_S = 2 }; /* clocks are set, ticks are rounded */

/* When a process began, s since 1970; 0: there is none, or it is only waited for. */
static uint64_t began_s(int64_t pid)
{
	char path[64], text[1024];
	struct timespec now, boot;
	unsigned long long ticks = 0;
	char state = 'X';

	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	FILE *file = fopen(path, "re");
	size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		fclose(file);
	text[size] = '\0';
	/* the name may hold blanks and parentheses; what follows the last one may not */
	const char *rest = strrchr(text, ')');

	if (!rest || sscanf(rest + 1,
			    " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			    "%*d %*d %llu",
			    &state, &ticks) != 2)
		return 0;
	if (state == 'Z' || state == 'X')
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (uint64_t)(now.tv_sec - boot.tv_sec) + ticks / (uint64_t)sysconf(_SC_CLK_TCK);
}

static bool is_here(const struct experiment *experiment)
{
	const char *hostname = experiment->processes.items[0].log.hostname;
	struct utsname name;

	return !hostname || uname(&name) || !strcmp(name.nodename, hostname);
}

/* The word by which a recording is paused and ended: see format/control.h. */
static uint64_t control_word(const struct process *process)
{
	struct read_context context = process_context(process, NULL);
	int fd = read_context_open(&context, FORMAT_FILE_PROFILE);
	uint64_t word = 0;

	if (fd >= 0 && pread(fd, &word, sizeof(word), CONTROL_OFFSET) != sizeof(word))
		word = 0;
	if (fd >= 0)
		close(fd);
	return word;
}

/* Whether `helio ctl stop` ended the recording while the program goes on. */
static bool is_stopped(const struct process *process)
{
	return control_word(process) & CONTROL_FINAL;
}

/* Whether the process is there that the log tells of, and has not ended. */
static bool lives(const struct experiment *experiment, const struct process *process)
{
	const struct experiment_log *log = &process->log;
	uint64_t wall_ns = experiment->processes.items[0].log.wall_ns;
	uint64_t began;

	if (log->ended || !log->has_process || !is_here(experiment))
		return false;
	began = began_s(log->pid);
	return began && began <= (wall_ns + log->start_ns) / 1000000000 + CLOCK_SLACK_S;
}

bool survey_is_running(const struct experiment *experiment, const struct process *process)
{
	return lives(experiment, process) && !is_stopped(process);
}

const char *survey_program(const struct process *process)
{
	const struct experiment_log *log = &process->log;
	const char *path = log->executable	  ? log->executable
			   : log->arguments.count ? log->arguments.items[0]
						  : "(unknown)";

	return path_name(path);
}

uint64_t survey_duration_ns(const struct process *process)
{
	uint64_t start = *process->lineage ? process->log.start_ns : 0;

	return process->log.last_ns > start ? process->log.last_ns - start : 0;
}

const char *survey_state_name(enum survey_state state)
{
	static const char *const names[] = {"complete", "recording",  "stopped",
					    "killed",	"unfinished", "paused"};

	return names[state];
}

/* A log without an end has no count: then the events themselves are counted. */
static void count_events(struct survey *survey, struct process *process)
{
	const struct log_counters *counters = &process->log.counters;
	struct diag_list unheard = {0};
	struct read_context context = process_context(process, &unheard);

	survey->dropped += counters->dropped;
	if (process->log.is_gprofng) {
		survey->events += process->profile.event_count;
		return;
	}
	if (counters->has_events) {
		survey->events += counters->events;
		return;
	}
	experiment_profile_read(&process->profile, &context);
	survey->events += process->profile.event_count;
	survey->dropped += process->profile.dropped;
	if (process->profile.last_us * 1000 > process->log.last_ns)
		process->log.last_ns = process->profile.last_us * 1000;
	experiment_profile_fini(&process->profile);
	diag_fini(&unheard);
}

void survey_count_traced(struct survey *survey)
{
	const struct experiment *experiment = survey->experiment;

	for (size_t i = 0; i < experiment->processes.count; i++)
		for (int kind = 0; kind < TRACE_KINDS; kind++)
			survey->traced[kind] += process_traced(&experiment->processes.items[i],
							       (enum trace_kind)kind);
}

static enum survey_state find_state(struct survey *survey)
{
	const struct experiment *experiment = survey->experiment;
	const struct experiment_log *founder = &experiment->processes.items[0].log;

	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct process *process = &experiment->processes.items[i];

		if (!survey_is_running(experiment, process))
			continue;
		survey->running_pid = process->log.pid;
		if (!(control_word(process) & CONTROL_PAUSED))
			return SURVEY_RECORDING;
	}
	if (survey->running_pid)
		return SURVEY_PAUSED;
	if (lives(experiment, &experiment->processes.items[0]))
		return SURVEY_STOPPED;
	if (founder->exit_signal)
		return SURVEY_KILLED;
	return founder->ended ? SURVEY_COMPLETE : SURVEY_UNFINISHED;
}

enum status survey_open(const char *path, struct survey *survey, struct diag_list *errors)
{
	struct diag_list unheard = {0};
	struct experiment *experiment;
	enum status status = experiment_open_logs(path, &experiment, errors, &unheard);

	*survey = (struct survey){0};
	diag_fini(&unheard);
	if (status)
		return status;
	survey->experiment = experiment;
	for (size_t i = 0; i < experiment->processes.count; i++)
		count_events(survey, &experiment->processes.items[i]);
	survey->state = find_state(survey);
	survey->program = survey_program(&experiment->processes.items[0]);
	survey->duration_ns = survey_duration_ns(&experiment->processes.items[0]);
	survey->wall_ns = experiment->processes.items[0].log.wall_ns;
	survey->bytes = tree_bytes(experiment->path);
	return STATUS_OK;
}

void survey_close(struct survey *survey)
{
	experiment_free(survey->experiment);
	*survey = (struct survey){0};
}

/* By the option that asks for them; kinds without events are left out. */
static json_t *json_traced(const struct survey *survey)
{
	json_t *counts = json_object();

	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (survey->traced[kind])
			json_object_set_new(counts, format_kinds[kind].name,
					    json_integer((json_int_t)survey->traced[kind]));
	return counts;
}

json_t *survey_json(const struct survey *survey)
{
	const struct experiment *experiment = survey->experiment;
	const struct experiment_log *log = &experiment->processes.items[0].log;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:I, s:o, s:I, s:I, s:I, s:o, s:s}",
			 "name", json_text(experiment->name), "path", json_text(experiment->path),
			 "began", report_json_date(survey->wall_ns), "program",
			 json_text(survey->program), "command",
			 json_text(experiment_log_setting(log, "command")), "duration",
			 (double)survey->duration_ns / 1e9, "events", (json_int_t)survey->events,
			 "trace_events", json_traced(survey), "dropped",
			 (json_int_t)survey->dropped, "bytes", (json_int_t)survey->bytes,
			 "processes", (json_int_t)experiment_process_count(experiment), "engine",
			 json_text(log->engine), "state", survey_state_name(survey->state));
}

bool survey_is_named_by(const struct experiment *experiment, const char *path,
			struct diag_list *errors)
{
	if (folder_is_named_by(experiment->folder, experiment->path))
		return true;
	if (errno == EPERM)
		diag_add(errors, DIAG_ERROR,
			 "%s leads through a link of another user's, by which nothing is changed: "
			 "name the experiment itself",
			 path);
	else
		diag_add(errors, DIAG_ERROR, "Cannot change %s: %s", path,
			 errno == ESTALE ? "something else has its name now" : strerror(errno));
	return false;
}

bool survey_may_change(const struct survey *survey, struct diag_list *errors)
{
	const char *path = survey->experiment->path;

	if (survey->state != SURVEY_RECORDING && survey->state != SURVEY_PAUSED)
		return true;
	diag_add(errors, DIAG_ERROR,
		 "%s is still being recorded (process %lld): end it, or its recording with `helio "
		 "ctl stop %s', and try again",
		 path, (long long)survey->running_pid, path);
	return false;
}
