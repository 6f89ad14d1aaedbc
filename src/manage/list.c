/* SPDX-License-Identifier: Apache-2.0 */
/* `helio ls`: what experiments there are. Logs only, so a directory of large ones is listed at
 * once. */
#include "base/array.h"
#include "base/folder.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/terminal.h"
#include "experiment/group.h"
#include "manage/manage.h"
#include "manage/report.h"
#include "manage/survey.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum column { NAME, BEGAN, PROGRAM, DURATION, EVENTS, SIZE, ENGINE, STATE, COLUMN_COUNT };

struct row {
	char *cells[COLUMN_COUNT];
};

struct listing {
	const char *program;
	bool json;
	VEC(struct row) rows;
	json_t *experiments; /* in JSON mode */
	struct diag_list diags;
};

static void add_row(struct listing *listing, const struct survey *survey, const char *name)
{
	const struct process *founder = &survey->experiment->processes.items[0];
	struct row *row = vec_push(&listing->rows);
	char date[REPORT_TEXT_SIZE], size[REPORT_TEXT_SIZE];

	report_date(date, survey->wall_ns);
	report_bytes(size, survey->bytes);
	row->cells[NAME] = xstrdup(name);
	row->cells[BEGAN] = xstrdup(date);
	row->cells[PROGRAM] = xstrdup(survey->program);
	row->cells[DURATION] = xasprintf("%.3f s", (double)survey->duration_ns / 1e9);
	row->cells[EVENTS] = xasprintf("%" PRIu64, survey->events);
	row->cells[SIZE] = xstrdup(size);
	row->cells[ENGINE] = xstrdup(founder->log.engine ? founder->log.engine : "-");
	row->cells[STATE] = xstrdup(survey_state_name(survey->state));
}

static void add_experiment(struct listing *listing, const char *path, const char *name)
{
	struct survey survey;

	if (survey_open(path, &survey, &listing->diags))
		return;
	if (listing->json) {
		survey_count_traced(&survey);
		json_array_append_new(listing->experiments, survey_json(&survey));
	} else {
		add_row(listing, &survey, name);
	}
	survey_close(&survey);
}

static int is_experiment_name(const struct dirent *entry)
{
	const char *name = entry->d_name;
	size_t length = strlen(name);

	return length > 3 && name[0] != '.' && name[0] != '_' && !strcmp(name + length - 3, ".er");
}

static void add_directory(struct listing *listing, const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_experiment_name, versionsort);

	if (count < 0) {
		diag_add(&listing->diags, DIAG_ERROR, "%s: %s", path, strerror(errno));
		return;
	}
	for (int i = 0; i < count; i++) {
		bool here = !strcmp(path, ".");
		char *name = here ? xstrdup(entries[i]->d_name)
				  : xasprintf("%s/%s", path, entries[i]->d_name);

		add_experiment(listing, name, name);
		free(name);
		free(entries[i]);
	}
	free(entries);
}

/* A directory without a log is a place to look for experiments, whatever its name. */
static bool is_place(const char *path)
{
	struct stat info;
	size_t length = strlen(path);
	bool named = length > 3 && !strcmp(path + length - 3, ".er");
	int folder = named ? -1 : folder_open(path, 0);
	bool place = folder >= 0 && !folder_stat(folder, FORMAT_FILE_LOG, &info);

	folder_close(folder);
	return place;
}

static void add(struct listing *listing, const char *path)
{
	struct experiment_paths paths = {0};

	if (is_place(path)) {
		add_directory(listing, path);
		return;
	}
	experiment_paths_add(&paths, path);
	for (size_t i = 0; i < paths.count; i++)
		add_experiment(listing, paths.items[i], paths.items[i]);
	experiment_paths_fini(&paths);
}

static void print_rows(const struct listing *listing)
{
	static const struct row header = {{"Experiment", "Began", "Program", "Duration",
					   "Clock events", "Size", "Engine", "State"}};
	static const bool right[COLUMN_COUNT] = {[DURATION] = true, [EVENTS] = true, [SIZE] = true};
	int widths[COLUMN_COUNT];

	for (size_t column = 0; column < COLUMN_COUNT; column++) {
		widths[column] = (int)strlen(header.cells[column]);
		for (size_t i = 0; i < listing->rows.count; i++) {
			int width = (int)strlen(listing->rows.items[i].cells[column]);

			widths[column] = width > widths[column] ? width : widths[column];
		}
	}
	for (size_t i = 0; i <= listing->rows.count; i++) {
		const struct row *row = i ? &listing->rows.items[i - 1] : &header;

		for (size_t column = 0; column < STATE; column++)
			terminal_printf(stdout, "%*s  ",
					right[column] ? widths[column] : -widths[column],
					row->cells[column]);
		terminal_printf(stdout, "%s\n", row->cells[STATE]);
	}
}

static void free_rows(struct listing *listing)
{
	for (size_t i = 0; i < listing->rows.count; i++)
		for (size_t column = 0; column < COLUMN_COUNT; column++)
			free(listing->rows.items[i].cells[column]);
	vec_fini(&listing->rows);
}

static int run(struct listing *listing, char **names, int count)
{
	listing->experiments = json_array();
	if (!count)
		add_directory(listing, ".");
	for (int i = 0; i < count; i++)
		add(listing, names[i]);
	if (listing->json)
		report_json(json_pack("{s:o}", "experiments", json_incref(listing->experiments)));
	else if (listing->rows.count)
		print_rows(listing);
	else if (!listing->diags.count)
		terminal_printf(stderr, "%s: no experiments; `helio collect PROGRAM' makes one\n",
				listing->program);
	json_decref(listing->experiments);
	free_rows(listing);
	return report_diags(listing->program, &listing->diags) ? MANAGE_EXIT_FAILED
							       : MANAGE_EXIT_OK;
}

static const struct option options[] = {
	{'j', "json", NULL, 0, option_set_flag, offsetof(struct listing, json), "print JSON"},
};
static const struct option_table tables[] = {OPTION_TABLE(options), OPTION_COMMON};
static const struct option_syntax syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.usage = "Usage: %s [--json] [DIRECTORY|EXPERIMENT|GROUP]...\n"
		 "List experiments: those in a directory (default: here), or those that are "
		 "named.\n"
		 "\n",
	.notes = "\n"
		 "State: complete; recording (a process of it still runs); paused, stopped (by "
		 "helio ctl);\n"
		 "killed (the program was, by a signal); unfinished (helio collect was).\n",
};

int manage_list_main(int argc, char **argv)
{
	struct listing listing = {.program = report_program(argv)};
	char **operands;
	int status;

	if (!report_may_run(&syntax, listing.program, &listing, argv, &operands, &status))
		return status;
	return run(&listing, operands, (int)command_line_count(operands));
}
