/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and running are apart because what a file says decides how much of the experiments
 * has to be read.
 */
#include "print/startup_files.h"

#include "base/array.h"
#include "base/file_map.h"
#include "base/folder.h"
#include "base/memory.h"
#include "print/commands/command_defaults.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The commands that may stand in a start-up file; a script may hold those of the first list too. */
static const char *const settings[] = {
	"addpath",
	"cc",
	"compare",
	"dcc",
	"dthresh",
	"en_desc",
	"indxobj_define",
	"indxobj_metrics",
	"indxobj_sort",
	"limit",
	"machinemodel",
	"mobj_define",
	"name",
	"object_api",
	"object_hide",
	"object_show",
	"objects_default",
	"pathmap",
	"scc",
	"setpath",
	"sthresh",
	"viewmode",
};
static const char *const defaults[] = {
	"dmetrics", "dsort",  "ignore_fs_warn", "ignore_no_xhwcprof", "preload_libdirs", "rtabs",
	"tabs",	    "tldata", "tlmode",
};

static bool is_in(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

bool startup_may_have(const char *command)
{
	return is_in(settings, COUNT(settings), command) ||
	       is_in(defaults, COUNT(defaults), command);
}

static bool is_allowed(const struct command *command)
{
	return startup_may_have(command->name);
}

/* A command of the other tools' files that is not there yet is no reason to complain each time. */
static bool take_line(struct print *print, struct startup_line *line)
{
	struct diag_list diags = {0};
	const char *word = line->words.items[0];
	enum status status = command_find(word, word, &line->command, &diags);

	diag_fini(&diags);
	if (status != STATUS_OK || (line->command->run && !is_allowed(line->command))) {
		say_warning(print,
			    status != STATUS_OK ? "Unrecognized .er.rc command: %s"
						: "%s may not stand in a start-up file",
			    word);
		return false;
	}
	return line->command->run;
}

static void read_lines(struct print *print, struct startup *startup, FILE *file, const char *name)
{
	char *text = NULL;
	size_t capacity = 0;
	unsigned number = 0;

	print->script_name = name;
	while (getline(&text, &capacity, file) >= 0) {
		struct startup_line line = {.number = ++number};

		print->script_line = number;
		if (text[strspn(text, " \t")] == '#')
			continue;
		if (words_split(text, &line.words) != STATUS_OK)
			say_warning(print, "A quotation mark is not closed");
		else if (line.words.count && take_line(print, &line)) {
			line.file = xstrdup(name);
			*vec_push(&startup->lines) = line;
			continue;
		}
		words_fini(&line.words);
	}
	free(text);
	print->script_name = NULL;
	print->script_line = 0;
}

/* Of one's own file, which one expects to be read. */
static void say_ignored(struct print *print, int fd, const char *path)
{
	struct stat info;

	if (!fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_uid == geteuid())
		say_warning(print,
			    "%s is not read: others can write it, or all can write its directory",
			    path);
}

static void read_file(struct print *print, struct startup *startup, const char *directory,
		      const char *name)
{
	/* commands come from this user and root only; who owns a directory can move files into it
	 */
	char *path = xasprintf("%s/%s", directory, name);
	int folder = folder_open(directory, 0), fd = folder_open_named(path, NULL);
	FILE *file =
		file_gives_commands(folder) && file_gives_commands(fd) ? fdopen(fd, "r") : NULL;

	if (file) {
		read_lines(print, startup, file, path);
		fclose(file);
	} else if (fd >= 0) {
		say_ignored(print, fd, path);
		close(fd);
	}
	folder_close(folder);
	free(path);
}

/* The home's file is not read again where that is the current directory. */
void startup_read(struct print *print, struct startup *startup)
{
	const char *system = getenv("HELIO_SYSCONFDIR"), *home = getenv("HOME");
	char *real = home && *home == '/' ? realpath(home, NULL) : NULL;
	char *here = realpath(".", NULL);

	*startup = (struct startup){0};
	read_file(print, startup, system ? system : HELIO_SYSCONFDIR, "er.rc");
	if (real)
		read_file(print, startup, real, ".er.rc");
	if (here && (!real || strcmp(here, real) != 0))
		read_file(print, startup, ".", ".er.rc");
	free(real);
	free(here);
}

bool startup_sums_only(const struct startup *startup)
{
	for (size_t i = 0; i < startup->lines.count; i++) {
		const struct startup_line *line = &startup->lines.items[i];

		if (command_needs(line->command, line->words.items + 1, line->words.count - 1) ==
		    NEED_ALL)
			return false;
	}
	return true;
}

void startup_run(struct print *print, const struct startup *startup, enum startup_part part)
{
	bool failed = print->failed;

	print->starting = true;
	for (size_t i = 0; i < startup->lines.count; i++) {
		const struct startup_line *line = &startup->lines.items[i];

		if (part != STARTUP_ALL && line->command->alters != (part == STARTUP_ALTERING))
			continue;
		print->script_name = line->file;
		print->script_line = line->number;
		command_run(print, line->command, (char **)line->words.items + 1,
			    line->words.count - 1);
	}
	print->script_name = NULL;
	print->script_line = 0;
	print->starting = false;
	print->failed = failed;
	command_use_defaults(print);
}

void startup_fini(struct startup *startup)
{
	for (size_t i = 0; i < startup->lines.count; i++) {
		words_fini(&startup->lines.items[i].words);
		free(startup->lines.items[i].file);
	}
	vec_fini(&startup->lines);
}
