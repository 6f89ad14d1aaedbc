/* SPDX-License-Identifier: Apache-2.0 */
/* `helio info`: one experiment in detail, as facts; what they mean is for `helio print`. */
#include "base/array.h"
#include "base/terminal.h"
#include "experiment/group.h"
#include "format/archive.h"
#include "manage/manage.h"
#include "manage/objects.h"
#include "manage/report.h"
#include "manage/survey.h"
#include "manage/tree.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

struct info {
	struct survey survey;
	struct object_list objects;
	uint64_t archive_bytes;
};

/* Reads the maps and stacks behind the logs, for the load objects. */
static bool info_open(struct info *info, const char *path, struct diag_list *errors)
{
	struct diag_list unheard = {0};

	*info = (struct info){0};
	if (survey_open(path, &info->survey, errors))
		return false;
	struct experiment *experiment = info->survey.experiment;

	survey_count_traced(&info->survey);
	for (size_t i = 0; i < experiment->processes.count; i++) {
		struct process *process = &experiment->processes.items[i];
		struct read_context context = process_context(process, &unheard);

		if (!process->log.is_gprofng) {
			experiment_map_read(&process->map, &experiment->arena, &context);
			experiment_stacks_read(&process->stacks, &context);
		}
		objects_add(&info->objects, process, false);
		experiment_stacks_fini(&process->stacks);
	}
	diag_fini(&unheard);
	info->archive_bytes = tree_bytes(experiment->archives);
	return true;
}

static void info_close(struct info *info)
{
	objects_fini(&info->objects);
	survey_close(&info->survey);
}

static bool is_archived(const struct info *info, const struct map_file *map)
{
	char name[NAME_MAX + 1];

	return map->copy || experiment_find_copy(info->survey.experiment, map, name);
}

/* "exit 0", "signal 9", "became another program", "running", "?" */
static void describe_end(char text[REPORT_TEXT_SIZE], const struct info *info,
			 const struct process *process)
{
	const struct experiment_log *log = &process->log;

	if (survey_is_running(info->survey.experiment, process))
		snprintf(text, REPORT_TEXT_SIZE, "running");
	else if (log->exit_signal)
		snprintf(text, REPORT_TEXT_SIZE, "signal %d", log->exit_signal);
	else if (log->has_status)
		snprintf(text, REPORT_TEXT_SIZE, "exit %d", log->exit_status);
	else
		snprintf(text, REPORT_TEXT_SIZE, "%s", log->ended ? "ended" : "no end recorded");
}

static void line(const char *label, const char *text)
{
	if (text && *text)
		terminal_printf(stdout, "%-14s%s\n", label, text);
}

/* They may have several lines, which stay apart from what else is told. */
static void print_notes(const char *notes)
{
	const char *label = "Notes";

	for (size_t length; notes && *notes; notes += length + (notes[length] == '\n')) {
		length = strcspn(notes, "\n");
		terminal_printf(stdout, "%-14s%.*s\n", label, (int)length, notes);
		label = "";
	}
}

/* As the last message of the recording has them. */
static void print_events(const struct survey *survey)
{
	terminal_printf(stdout, "%-14s%" PRIu64 " of the clock", "Events", survey->events);
	for (int kind = 0; kind < TRACE_KINDS; kind++)
		if (survey->traced[kind])
			terminal_printf(stdout, ", %" PRIu64 " of %s", survey->traced[kind],
					format_kinds[kind].name);
	terminal_printf(stdout, ", %" PRIu64 " dropped\n", survey->dropped);
}

static void print_head(const struct info *info)
{
	const struct survey *survey = &info->survey;
	const struct experiment_log *log = &survey->experiment->processes.items[0].log;
	char date[REPORT_TEXT_SIZE], size[REPORT_TEXT_SIZE];

	report_date(date, survey->wall_ns);
	report_bytes(size, survey->bytes);
	line("Experiment", survey->experiment->path);
	line("State", survey_state_name(survey->state));
	line("Command", experiment_log_setting(log, "command"));
	line("Program", log->executable);
	line("Directory", log->cwd);
	terminal_printf(stdout, "%-14s%s, %.3f s\n", "Began", date,
			(double)survey->duration_ns / 1e9);
	terminal_printf(stdout, "%-14s%s, %s, %s, %" PRIu64 " CPUs, %" PRIu64 " MHz\n", "Machine",
			log->hostname ? log->hostname : "?", log->os ? log->os : "?",
			log->arch ? log->arch : "?", log->cpus, log->clock_mhz);
	terminal_printf(stdout, "%-14s%s%s%s%s\n", "Engine", log->engine ? log->engine : "none",
			log->engine_reason && *log->engine_reason ? " (" : "",
			log->engine_reason ? log->engine_reason : "",
			log->engine_reason && *log->engine_reason ? ")" : "");
	line("Recorded by", log->producer);
	print_events(survey);
	terminal_printf(stdout, "%-14s%s\n", "Size", size);
	print_notes(survey->experiment->notes);
}

static void print_processes(const struct info *info)
{
	const struct experiment *experiment = info->survey.experiment;

	size_t images = experiment->processes.count, count = experiment_process_count(experiment);

	terminal_printf(stdout, "\nProcesses (%zu", count);
	if (images > count)
		terminal_printf(stdout, ", %zu images", images);
	terminal_printf(stdout, ")\n");
	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct process *process = &experiment->processes.items[i];
		char end[REPORT_TEXT_SIZE];

		describe_end(end, info, process);
		terminal_printf(stdout, "  %-16s %8lld  %10.3f s  %-16s %s\n",
				process->lineage[0] ? process->lineage : "founder",
				(long long)process->log.pid,
				(double)survey_duration_ns(process) / 1e9, end,
				survey_program(process));
	}
}

static void print_objects(const struct info *info)
{
	char size[REPORT_TEXT_SIZE];

	report_bytes(size, info->archive_bytes);
	terminal_printf(stdout, "\nLoad objects (%zu; copies in archives: %s)\n",
			info->objects.files.count, size);
	for (size_t i = 0; i < info->objects.files.count; i++) {
		const struct load_file *file = &info->objects.files.items[i];

		terminal_printf(stdout, "  %-4s  %-8s  %s\n", file->used ? "used" : "-",
				is_archived(info, file->map) ? "archived" : "-", file->map->path);
	}
}

static json_t *json_settings(const struct info *info)
{
	const struct experiment_log *log = &info->survey.experiment->processes.items[0].log;
	json_t *settings = json_object();

	for (size_t i = 0; i < log->settings.count; i++)
		json_object_set_new(settings, log->settings.items[i].name,
				    json_text(log->settings.items[i].value));
	return settings;
}

static json_t *json_processes(const struct info *info)
{
	const struct experiment *experiment = info->survey.experiment;
	json_t *array = json_array();

	for (size_t i = 0; i < experiment->processes.count; i++) {
		const struct process *process = &experiment->processes.items[i];
		char end[REPORT_TEXT_SIZE];

		describe_end(end, info, process);
		json_array_append_new(
			array,
			json_pack("{s:o, s:I, s:I, s:o, s:f, s:f, s:s}", "lineage",
				  json_text(process->lineage), "pid", (json_int_t)process->log.pid,
				  "ppid", (json_int_t)process->log.ppid, "program",
				  json_text(process->log.executable), "begin",
				  (double)process->log.start_ns / 1e9, "duration",
				  (double)survey_duration_ns(process) / 1e9, "end", end));
	}
	return array;
}

static json_t *json_objects(const struct info *info)
{
	json_t *array = json_array();

	for (size_t i = 0; i < info->objects.files.count; i++) {
		const struct load_file *file = &info->objects.files.items[i];

		json_array_append_new(
			array, json_pack("{s:o, s:o, s:b, s:b}", "path", json_text(file->map->path),
					 "build_id", json_text(file->map->build_id), "used",
					 file->used, "archived", is_archived(info, file->map)));
	}
	return array;
}

static json_t *json_info(const struct info *info)
{
	const struct experiment_log *log = &info->survey.experiment->processes.items[0].log;
	json_t *object = survey_json(&info->survey);

	json_object_update_new(object,
			       json_pack("{s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:I}",
					 "directory", json_text(log->cwd), "hostname",
					 json_text(log->hostname), "os", json_text(log->os), "arch",
					 json_text(log->arch), "cpus", (json_int_t)log->cpus,
					 "notes", json_text(info->survey.experiment->notes),
					 "settings", json_settings(info), "process_list",
					 json_processes(info), "load_objects", json_objects(info),
					 "archive_bytes", (json_int_t)info->archive_bytes));
	return object;
}

static bool show(const char *path, json_t *json, struct diag_list *errors)
{
	struct info info;

	if (!info_open(&info, path, errors))
		return false;
	if (json) {
		json_array_append_new(json, json_info(&info));
	} else {
		print_head(&info);
		print_processes(&info);
		print_objects(&info);
	}
	info_close(&info);
	return true;
}

static int run(const char *program, bool as_json, const struct experiment_paths *paths)
{
	json_t *json = as_json ? json_array() : NULL;
	struct diag_list errors = {0};
	bool ok = true;

	for (size_t i = 0; i < paths->count; i++) {
		if (i && !as_json)
			putchar('\n');
		ok &= show(paths->items[i], json, &errors);
	}
	if (as_json)
		report_json(json_pack("{s:o}", "experiments", json));
	report_diags(program, &errors);
	return ok ? MANAGE_EXIT_OK : MANAGE_EXIT_FAILED;
}

struct arguments {
	bool json;
};

static const struct option options[] = {
	{'j', "json", NULL, 0, option_set_flag, offsetof(struct arguments, json), "print JSON"},
};
static const struct option_table tables[] = {OPTION_TABLE(options), OPTION_COMMON};
static const struct option_syntax syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.usage = "Usage: %s [--json] EXPERIMENT...\n"
		 "Say what an experiment is: what was recorded, where and when, its processes, "
		 "its files.\n"
		 "\n",
};

int manage_info_main(int argc, char **argv)
{
	const char *program = report_program(argv);
	struct arguments arguments = {0};
	struct experiment_paths paths = {0};
	char **operands;
	int status;

	if (!report_may_run(&syntax, program, &arguments, argv, &operands, &status))
		return status;
	if (!*operands)
		return report_usage_error(program, "name an experiment");
	for (char **path = operands; *path; path++)
		experiment_paths_add(&paths, *path);
	status = run(program, arguments.json, &paths);
	experiment_paths_fini(&paths);
	return status;
}
