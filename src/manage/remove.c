/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `helio rm`: removes experiments and nothing else.
 */
#include "base/array.h"
#include "base/folder.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/terminal.h"
#include "experiment/group.h"
#include "format/format.h"
#include "manage/manage.h"
#include "manage/report.h"
#include "manage/survey.h"
#include "manage/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct removal {
	const char *program;
	bool ask;   /* -i */
	bool force; /* -f: what is not there is no fault */
	struct diag_list diags;
};

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
	return survey_is_named_by(survey->experiment, path, &removal->diags) &&
	       survey_may_change(survey, &removal->diags);
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

/* True: an empty directory was there, and goes. */
static bool remove_empty(const char *path, int folder)
{
	DIR *directory = folder_list(folder, "");
	size_t entries = 0;

	while (directory && readdir(directory))
		entries++;
	if (!directory)
		return false;
	closedir(directory);
	return entries <= 2 && folder_is_named_by(folder, path) && /* . and .. */
	       folder_remove_itself(folder, path_name(path));
}

bool manage_make_room(const char *path, struct diag_list *diags)
{
	struct removal removal = {.diags = *diags};
	struct stat info;
	int folder = folder_open(path, O_NOFOLLOW);

	if (folder < 0 && errno == ENOENT)
		return true;
	bool known = folder >= 0 && folder_stat(folder, FORMAT_FILE_LOG, &info);
	bool ok = known ? remove_experiment(&removal, path)
			: folder >= 0 && remove_empty(path, folder);

	folder_close(folder);
	*diags = removal.diags;
	if (!ok && !known)
		diag_add(diags, DIAG_ERROR,
			 "Cannot remove experiment %s: it is something else; move it away yourself",
			 path);
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

/* Of -i and -f the last one counts. */
static bool take_interactive(struct option_parser *parser, const char *argument)
{
	struct removal *removal = parser->target;

	removal->ask = true;
	removal->force = false;
	return true;
}

static bool take_force(struct option_parser *parser, const char *argument)
{
	struct removal *removal = parser->target;

	removal->ask = false;
	removal->force = true;
	return true;
}

static const struct option options[] = {
	{'i', "interactive", NULL, 0, take_interactive, 0, "ask before each"},
	{'f', "force", NULL, 0, take_force, 0, "do not ask, and do not mind what is not there"},
};
static const struct option_table tables[] = {OPTION_TABLE(options), OPTION_COMMON};
static const struct option_syntax syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.usage = "Usage: %s [-i] [-f] EXPERIMENT...\n"
		 "Remove experiments, or groups (NAME.erg) with their experiments.\n"
		 "\n",
};

int manage_remove_main(int argc, char **argv)
{
	struct removal removal = {.program = report_program(argv)};
	char **operands;
	bool ok = true;
	int status;

	if (!report_may_run(&syntax, removal.program, &removal, argv, &operands, &status))
		return status;
	if (!*operands && !removal.force)
		return report_usage_error(removal.program, "name an experiment to remove");
	for (char **path = operands; *path; path++) {
		ok &= experiment_is_named_group(*path) ? remove_group(&removal, *path)
						       : remove_experiment(&removal, *path);
		report_diags(removal.program, &removal.diags);
	}
	return ok ? MANAGE_EXIT_OK : MANAGE_EXIT_FAILED;
}
