/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `helio rm`: removes experiments and nothing else.
 */
#include "base/memory.h"
#include "base/terminal.h"
#include "experiment/group.h"
#include "manage/manage.h"
#include "manage/report.h"
#include "manage/survey.h"
#include "manage/tree.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct removal {
	const char *program;
	bool ask;   /* -i */
	bool force; /* -f: what is not there is no fault */
	bool help, version;
	struct diag_list diags;
};

static void put_usage(const char *program)
{
	terminal_printf(stdout,
			"Usage: %s [-i] [-f] EXPERIMENT...\n"
			"Remove experiments, or groups (NAME.erg) with their experiments.\n"
			"\n"
			"  -i, --interactive  ask before each\n"
			"  -f, --force        do not ask, and do not mind what is not there\n"
			"  -V, --version      the version\n"
			"  -h, --help         this help\n",
			program);
}

/* No answer is no. */
static bool is_wanted(const struct removal *removal, const char *path)
{
	char answer[16] = "";

	if (!removal->ask)
		return true;
	terminal_printf(stderr, "%s: remove %s? ", removal->program, path);
	return fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y');
}

static bool remove_folder(struct removal *removal, const char *name, int folder)
{
	char *left;

	if (tree_remove_folder(name, folder, &left))
		return true;
	diag_add(&removal->diags, DIAG_ERROR, "Cannot remove %s: %s", left,
		 errno == ESTALE ? "something else has its name now" : strerror(errno));
	free(left);
	return false;
}

/* Whether it is a whole experiment that nobody writes. */
static bool may_remove(struct removal *removal, const struct survey *survey, const char *path)
{
	if (survey->experiment->processes.items[0].lineage[0]) {
		diag_add(&removal->diags, DIAG_ERROR,
			 "%s is a part of another experiment: name that one", path);
		return false;
	}
	return survey_may_change(survey, &removal->diags);
}

static bool remove_experiment(struct removal *removal, const char *path)
{
	struct survey survey;

	if (removal->force && access(path, F_OK) && errno == ENOENT)
		return true;
	if (survey_open(path, &survey, &removal->diags))
		return false;
	/* as the experiment knows itself: without a slash at the end */
	char *name = xstrdup(survey.experiment->path);
	bool ok = may_remove(removal, &survey, path);

	if (ok && is_wanted(removal, name))
		ok = remove_folder(removal, name, survey.experiment->folder);
	survey_close(&survey);
	free(name);
	return ok;
}

static bool remove_group(struct removal *removal, const char *group)
{
	struct experiment_paths members = {0};
	bool ok = experiment_paths_add_own(&members, group, &removal->diags);

	if (!ok || !is_wanted(removal, group)) {
		experiment_paths_fini(&members);
		return ok;
	}
	for (size_t i = 0; i < members.count; i++)
		ok &= remove_experiment(removal, members.items[i]);
	experiment_paths_fini(&members);
	if (ok && unlink(group)) {
		diag_add(&removal->diags, DIAG_ERROR, "Cannot remove %s: %s", group,
			 strerror(errno));
		ok = false;
	}
	return ok;
}

static bool parse(struct removal *removal, int argc, char **argv)
{
	static const struct option options[] = {{"interactive", no_argument, NULL, 'i'},
						{"force", no_argument, NULL, 'f'},
						{"version", no_argument, NULL, 'V'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	int letter;

	while ((letter = getopt_long(argc, argv, "ifVh", options, NULL)) >= 0) {
		if (letter == '?')
			return false;
		removal->version |= letter == 'V';
		removal->help |= letter == 'h';
		if (letter == 'i' || letter == 'f') { /* the last one counts */
			removal->ask = letter == 'i';
			removal->force = letter == 'f';
		}
	}
	return true;
}

int manage_remove_main(int argc, char **argv)
{
	struct removal removal = {.program = report_program(argv)};
	bool ok = true;

	if (!parse(&removal, argc, argv))
		return report_usage_error(removal.program, NULL);
	if (removal.version)
		return report_version(removal.program);
	if (removal.help) {
		put_usage(removal.program);
		return MANAGE_EXIT_OK;
	}
	if (optind == argc && !removal.force)
		return report_usage_error(removal.program, "name an experiment to remove");
	for (int i = optind; i < argc; i++) {
		ok &= experiment_is_named_group(argv[i]) ? remove_group(&removal, argv[i])
							 : remove_experiment(&removal, argv[i]);
		report_diags(removal.program, &removal.diags);
	}
	return ok ? MANAGE_EXIT_OK : MANAGE_EXIT_FAILED;
}
