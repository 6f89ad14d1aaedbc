/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `helio print`: opens the experiments and runs the commands from left to
 * right.  The first printmode of the line is in force from the beginning, as
 * in the old tools, so that `-functions -printmode json` prints JSON.
 */
#include "analysis/cache/cache.h"
#include "analysis/cache/cache_code.h"
#include "base/command_line.h"
#include "base/terminal.h"
#include "print/arguments.h"
#include "print/commands/command_help.h"
#include "print/commands/command_source.h"
#include "print/needs.h"
#include "print/print.h"
#include "print/progress.h"
#include "print/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct planned *first_that_sets(const struct plan *plan, enum command_setting setting)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->items[i].command && plan->items[i].command->setting == setting)
			return &plan->items[i];
	return NULL;
}

/* Only commands such as `version` and `help` can do without an experiment. */
static bool needs_session(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->items[i].command && plan->items[i].command->is_help)
			return false;
	return true;
}

/* Messages of opening: warnings wait for the JSON objects in JSON mode, else they are printed now.
 */
static void report_opening(struct print *print, struct diag_list *diags)
{
	for (size_t i = 0; i < diags->count; i++) {
		const struct diag *diag = &diags->items[i];

		if (diag->level == DIAG_ERROR)
			say_error(print, "%s", diag->text);
		else if (present_has_warnings(&print->presenter))
			diag_add_once(&print->warnings, diag->level, "%s", diag->text);
		else
			say_warning(print, "%s", diag->text);
	}
	if (print->session && !present_has_warnings(&print->presenter)) {
		const struct diag_list *lasting = session_warnings(print->session);

		for (size_t i = 0; i < lasting->count; i++) {
			bool known = false;

			for (size_t k = 0; k < diags->count; k++)
				known |= !strcmp(diags->items[k].text, lasting->items[i].text);
			if (!known)
				say_warning(print, "%s", lasting->items[i].text);
		}
	}
	diag_fini(diags);
}

static struct needs what_is_needed(const struct plan *plan, const struct startup *startup)
{
	struct needs needs = needs_of_startup(startup);

	for (size_t i = 0; i < plan->count; i++) {
		const struct planned *planned = &plan->items[i];

		if (planned->command)
			needs_add(&needs, planned->command, planned->arguments, planned->count);
		else
			needs.need = NEED_ALL;
	}
	if (!plan->count)
		needs.need = NEED_ALL;
	return needs;
}

/* A command may have taken the only experiment for its argument. */
static void complain_missing(const struct print *print, const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct planned *planned = &plan->items[i];
		const char *last = planned->count ? planned->arguments[planned->count - 1] : "";

		if (!arguments_names_experiment(last))
			continue;
		terminal_printf(
			stderr,
			"%s: Missing experiment directory: %s was taken as the argument of -%s "
			"%s\n",
			print->program, last, planned->command->name, planned->command->arguments);
		return;
	}
	terminal_printf(
		stderr,
		"%s: Missing experiment directory: name one, as in `%s -functions test.1.er' "
		"(--help shows more)\n",
		print->program, print->program);
}

/* One beside itself is what some compare. */
static enum status open_session(struct print *print, struct arguments *arguments,
				const struct needs *needs, struct diag_list *diags)
{
	struct experiment_paths *paths = &arguments->experiments;

	if (needs->compares)
		return session_open_apart(paths->items, paths->count, &print->watch,
					  &print->session, diags);
	experiment_paths_drop_twins(paths, diags);
	if (needs->need == NEED_ALL)
		return session_open(paths->items, paths->count, &print->watch, &print->session,
				    diags);
	return cache_open(paths->items, paths->count, needs->need == NEED_CODE,
			  needs->inlined_calls, &print->watch, &print->session, diags);
}

static bool open_experiments(struct print *print, struct arguments *arguments,
			     const struct needs *needs)
{
	struct experiment_paths *paths = &arguments->experiments;
	struct diag_list diags = {0};

	if (!paths->count) {
		complain_missing(print, &arguments->plan);
		return false;
	}
	enum status status = open_session(print, arguments, needs, &diags);

	if (status != STATUS_OK)
		print->session = NULL;
	report_opening(print, &diags);
	if (!print->session) {
		terminal_printf(stderr, "%s: No valid experiments loaded; exiting\n",
				print->program);
		return false;
	}
	query_init(&print->query, print->session);
	progress_end(print);
	return true;
}

/* Whether metrics are chosen before anything shows some. */
static bool begins_with_metrics(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count && plan->items[i].command; i++) {
		const struct planned *planned = &plan->items[i];

		if (planned->command->setting == SETS_METRICS)
			return planned->count;
		if (planned->command->group < GROUP_METRICS &&
		    planned->command->group != GROUP_FILTERS)
			return false;
	}
	return false;
}

static void run_plan(struct print *print, const struct plan *plan, bool no_pager)
{
	if (!plan->count) {
		script_run_interactive(print);
		return;
	}
	bool interactive = false;

	for (size_t i = 0; i < plan->count; i++)
		interactive |= !plan->items[i].command;
	if (!interactive && !no_pager)
		output_start_pager(&print->output);
	for (size_t i = 0; i < plan->count && !print->quit; i++) {
		const struct planned *planned = &plan->items[i];

		if (planned->command)
			command_run(print, planned->command, planned->arguments, planned->count);
		else
			script_run_interactive(print);
	}
}

static void fini(struct print *print)
{
	if (print->session)
		cache_keep_code(print->session);
	print_fini(print);
	session_free(print->session);
}

static int run(struct print *print, struct arguments *arguments)
{
	const struct planned *mode = first_that_sets(&arguments->plan, SETS_FORMAT);
	const struct startup *startup = arguments->startup;
	const struct needs needs = what_is_needed(&arguments->plan, startup);
	bool opened;

	code_settings_init(&print->code);
	progress_init(print);
	if (mode && mode->count)
		present_set_format(&print->presenter, mode->arguments[0]);
	opened = (arguments->experiments.count || needs_session(&arguments->plan)) &&
		 open_experiments(print, arguments, &needs);
	if (opened)
		startup_run(print, startup, STARTUP_ALL);
	if (opened && !begins_with_metrics(&arguments->plan))
		say_unknown(print);
	bool useless = !opened && needs_session(&arguments->plan);

	if (!useless)
		run_plan(print, &arguments->plan, arguments->no_pager);
	present_finish(&print->presenter);
	if (!output_fini(&print->output))
		say_error(print, "Cannot write the output: %s", strerror(errno));
	fini(print);
	if (print->exit_status)
		return print->exit_status;
	return print->failed || useless ? PRINT_EXIT_FAILED : PRINT_EXIT_OK;
}

int print_main(int argc, char **argv)
{
	const char *name = argc ? strrchr(argv[0], '/') : NULL;
	struct print print;
	struct arguments arguments;
	struct startup startup = {0};
	struct diag_list diags = {0};
	int status;

	print_init(&print, argc && !strcmp(name ? name + 1 : argv[0], "er_print") ? "er_print"
										  : "helio print");
	if (!arguments_without_startup(argc, argv))
		startup_read(&print, &startup);

	enum status parsed = arguments_parse(argc, argv, &startup, &arguments, &diags);

	output_init(&print.output, arguments.color);
	say_diags(&print, &diags);
	if (parsed != STATUS_OK) {
		command_line_advise(print.program);
		status = PRINT_EXIT_USAGE;
	} else if (arguments.asked == OPTION_ASKED_HELP) {
		command_line_help(&arguments_syntax, print.program);
		status = PRINT_EXIT_OK;
	} else if (arguments.asked == OPTION_ASKED_VERSION) {
		status = command_version(&print, NULL, 0) ? PRINT_EXIT_OK : PRINT_EXIT_FAILED;
	} else if (arguments.clear_cache) {
		say_note(&print, "Sums removed: of %zu lists of experiments", cache_clear());
		status = PRINT_EXIT_OK;
	} else {
		status = run(&print, &arguments);
	}
	arguments_fini(&arguments);
	startup_fini(&startup);
	return status;
}
