/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `helio cp` and `helio mv`.  A copy is made under a name that no reader takes
 * for an experiment and gets its own when it is complete, so that an
 * interrupted one leaves nothing that is taken for one.  Across file systems a move is a copy
 * that is compared with the original before that is removed.
 */
#include "base/array.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "base/terminal.h"
#include "experiment/group.h"
#include "manage/manage.h"
#include "manage/report.h"
#include "manage/survey.h"
#include "manage/tree.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct transfer {
	const char *program;
	bool move;
	struct diag_list diags;
};

static bool exists(const char *path)
{
	struct stat info;

	return !lstat(path, &info);
}

static bool is_directory(const char *path)
{
	struct stat info;

	return !stat(path, &info) && S_ISDIR(info.st_mode);
}

static void strip_slashes(char *path)
{
	for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
		path[length - 1] = '\0';
}

static bool fail(struct transfer *transfer, const char *what, const char *path)
{
	diag_add(&transfer->diags, DIAG_ERROR, "%s %s: %s", what, path, strerror(errno));
	return false;
}

static bool copy(struct transfer *transfer, int folder, const char *to)
{
	char *left;

	if (tree_copy(folder, to, &left))
		return true;
	if (errno == ELOOP)
		diag_add(&transfer->diags, DIAG_ERROR,
			 "Cannot copy to %s: there are directories in one another, deeper than "
			 "those of any experiment",
			 to);
	else if (errno == ESTALE)
		diag_add(&transfer->diags, DIAG_ERROR,
			 "Cannot copy to %s: something else has taken the place of the copy", to);
	else
		fail(transfer, "Cannot copy to", to);
	if (left)
		diag_add(&transfer->diags, DIAG_ERROR, "Cannot remove %s", left);
	free(left);
	return false;
}

static bool move(struct transfer *transfer, const char *from, int folder, const char *to)
{
	if (tree_rename_folder(from, folder, to))
		return true;
	if (errno == ESTALE) {
		diag_add(&transfer->diags, DIAG_ERROR,
			 "Cannot move %s: something else has its name now", from);
		return false;
	}
	if (errno != EXDEV)
		return fail(transfer, "Cannot move to", to);
	char *left;

	if (!copy(transfer, folder, to))
		return false;
	if (tree_remove_folder(from, folder, &left))
		return true;
	fail(transfer, "The copy is complete, but cannot remove", left);
	free(left);
	return false;
}

/* Whether it is an experiment of its own, and at rest. */
static bool may_take(struct transfer *transfer, const struct survey *survey, const char *path)
{
	bool founder = !survey->experiment->processes.items[0].lineage[0];

	if (!founder)
		diag_add(&transfer->diags, DIAG_ERROR,
			 "%s is a part of another experiment: name that one", path);
	return founder &&
	       (!transfer->move ||
		survey_is_named_by(survey->experiment, path, &transfer->diags)) &&
	       survey_may_change(survey, &transfer->diags);
}

static bool is_free(struct transfer *transfer, const char *to)
{
	if (!exists(to))
		return true;
	diag_add(&transfer->diags, DIAG_ERROR,
		 "%s is there already: choose another name, or remove it with `helio rm'", to);
	return false;
}

static bool may_take_to(struct transfer *transfer, const char *from, const char *to)
{
	struct survey survey;

	if (survey_open(from, &survey, &transfer->diags))
		return false;
	bool ok = may_take(transfer, &survey, from) && is_free(transfer, to);

	survey_close(&survey);
	return ok;
}

/* What was looked at is what is taken: others may exchange directories on the way meanwhile. */
static bool take(struct transfer *transfer, const char *from, const char *to)
{
	struct survey survey;

	if (survey_open(from, &survey, &transfer->diags))
		return false;
	int folder = survey.experiment->folder;
	bool ok = may_take(transfer, &survey, from) && is_free(transfer, to) &&
		  (transfer->move ? move(transfer, from, folder, to) : copy(transfer, folder, to));

	survey_close(&survey);
	return ok;
}

static bool write_group(struct transfer *transfer, const char *path,
			const struct experiment_paths *members)
{
	FILE *file = fopen(path, "wxe");

	if (!file)
		return fail(transfer, "Cannot write", path);
	fprintf(file, "%s\n", GROUP_MAGIC);
	for (size_t i = 0; i < members->count; i++)
		fprintf(file, "%s\n", path_name(members->items[i]));
	bool failed = ferror(file);

	return (!fclose(file) && !failed) || fail(transfer, "Cannot write", path);
}

static bool for_each(struct transfer *transfer, const struct experiment_paths *members,
		     const char *directory,
		     bool (*visit)(struct transfer *, const char *, const char *))
{
	bool ok = true;

	for (size_t i = 0; ok && i < members->count; i++) {
		char *to = xasprintf("%s/%s", directory, path_name(members->items[i]));

		ok = visit(transfer, members->items[i], to);
		free(to);
	}
	return ok;
}

/*
 * The group's experiments, then a group file that names them where they are
 * now.  All are asked first: a group is not to be torn apart.
 */
static bool take_group(struct transfer *transfer, const char *group, const char *directory)
{
	struct experiment_paths members = {0};
	char *target = xasprintf("%s/%s", directory, path_name(group));

	bool ok = experiment_paths_add_own(&members, group, &transfer->diags);

	for (size_t i = 0; i < members.count; i++)
		strip_slashes(members.items[i]);
	ok = ok && is_free(transfer, target) &&
	     for_each(transfer, &members, directory, may_take_to) &&
	     for_each(transfer, &members, directory, take) &&
	     write_group(transfer, target, &members);

	if (ok && transfer->move && unlink(group))
		ok = fail(transfer, "Cannot remove", group);
	experiment_paths_fini(&members);
	free(target);
	return ok;
}

static bool take_into(struct transfer *transfer, char *from, const char *directory)
{
	if (experiment_is_named_group(from))
		return take_group(transfer, from, directory);
	strip_slashes(from);
	char *to = xasprintf("%s/%s", directory, path_name(from));
	bool ok = take(transfer, from, to);

	free(to);
	return ok;
}

/* EXPERIMENT TARGET.er, where TARGET.er is not there. */
static bool take_one(struct transfer *transfer, char *from, const char *to)
{
	if (experiment_is_named_group(from)) {
		diag_add(&transfer->diags, DIAG_ERROR,
			 "A group goes to a directory, and %s is none: make it first", to);
		return false;
	}
	if (!path_ends_with(to, ".er")) {
		diag_add(&transfer->diags, DIAG_ERROR,
			 "%s is no directory, and an experiment's name must end in '.er'", to);
		return false;
	}
	strip_slashes(from);
	return take(transfer, from, to);
}

static bool run(struct transfer *transfer, char **names, int count)
{
	char *last = names[count - 1];
	bool ok = true;

	strip_slashes(last);
	if (!is_directory(last) || path_ends_with(last, ".er")) {
		if (count == 2)
			return take_one(transfer, names[0], last);
		diag_add(&transfer->diags, DIAG_ERROR, "%s is not a directory to put them into",
			 last);
		return false;
	}
	for (int i = 0; i < count - 1; i++)
		ok &= take_into(transfer, names[i], last);
	return ok;
}

static const struct option_table tables[] = {OPTION_COMMON};

#define USAGE(verb)                                                                                \
	"Usage: %s EXPERIMENT TARGET.er\n"                                                         \
	"       %s EXPERIMENT... DIRECTORY\n" verb                                                 \
	" experiments with their descendants and archives.\n"                                      \
	"\n"                                                                                       \
	"A group (NAME.erg) stands for its experiments and goes to a directory, too.\n"            \
	"What has the name already is never replaced.\n"                                           \
	"\n"

static const struct option_syntax copy_syntax = {
	.tables = tables, .count = COUNT(tables), .usage = USAGE("Copy")};
static const struct option_syntax move_syntax = {
	.tables = tables, .count = COUNT(tables), .usage = USAGE("Move")};

static int transfer_main(struct transfer *transfer, char **argv)
{
	char **operands;
	int status;

	transfer->program = report_program(argv);
	if (!report_may_run(transfer->move ? &move_syntax : &copy_syntax, transfer->program,
			    transfer, argv, &operands, &status))
		return status;
	int count = (int)command_line_count(operands);

	if (count < 2)
		return report_usage_error(transfer->program, "name an experiment and a target");
	signal(SIGXFSZ, SIG_IGN); /* a limit ends it as a full disk does */
	bool ok = run(transfer, operands, count);

	report_diags(transfer->program, &transfer->diags);
	return ok ? MANAGE_EXIT_OK : MANAGE_EXIT_FAILED;
}

int manage_copy_main(int argc, char **argv)
{
	struct transfer transfer = {0};

	return transfer_main(&transfer, argv);
}

int manage_move_main(int argc, char **argv)
{
	struct transfer transfer = {.move = true};

	return transfer_main(&transfer, argv);
}
