/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output and its looks.  The pager is started only by a run that is not
 * interactive: at a prompt people scroll by themselves.
 */
#include "present/output.h"

#include "base/folder.h"
#include "base/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool wants_color(enum color_choice choice, int fd)
{
	const char *none = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	if (choice != COLOR_AUTO)
		return choice == COLOR_ALWAYS;
	return isatty(fd) && !(none && *none) && !(terminal && !strcmp(terminal, "dumb"));
}

void output_init(struct output *output, enum color_choice color)
{
	*output = (struct output){
		.file = stdout,
		.color_choice = color,
		.color = wants_color(color, STDOUT_FILENO),
		.error_color = wants_color(color, STDERR_FILENO),
	};
}

void output_start_pager(struct output *output)
{
	const char *pager = getenv("PAGER");

	if (output->pager || output->file != stdout || !isatty(STDOUT_FILENO))
		return;
	if (!pager)
		pager = "less -FRX";
	if (!*pager || !strcmp(pager, "cat"))
		return;
	setenv("LESS", "FRX", 0);
	fflush(stdout);
	output->pager_pipe = popen(pager, "w");
	output->pager = output->pager_pipe ? terminal_open(output->pager_pipe) : NULL;
	if (output->pager)
		output->file = output->pager;
	else if (output->pager_pipe)
		pclose(output->pager_pipe);
}

static bool close_file(struct output *output)
{
	if (output->file == stdout || output->file == output->pager) {
		bool ok = !ferror(output->file);

		return !fflush(output->file) && ok;
	}
	bool ok = !ferror(output->file);
	FILE *below = terminal_below(output->file);

	ok &= !fclose(output->file);
	return !fclose(below) && ok;
}

/* A file that what is printed can go to; NULL: errno says why. */
static FILE *open_file(const char *name, bool append)
{
	FILE *below = folder_write_named(name, append);
	FILE *file = below ? terminal_open(below) : NULL;

	if (below && !file) {
		fclose(below);
		errno = ENOMEM;
	}
	return file;
}

bool output_redirect(struct output *output, const char *name, bool append)
{
	bool back = !strcmp(name, "-");
	FILE *file = output->pager ? output->pager : stdout;

	if (!back)
		file = open_file(name, append);
	if (!file)
		return false;
	bool ok = close_file(output);

	output->file = file;
	output->color = back ? wants_color(output->color_choice, STDOUT_FILENO)
			     : output->color_choice == COLOR_ALWAYS;
	return ok;
}

bool output_fini(struct output *output)
{
	bool ok = close_file(output);

	output->file = stdout;
	if (output->pager) {
		fclose(output->pager);
		pclose(output->pager_pipe); /* a pager left early is no failure */
		output->pager = NULL;
	}
	return ok;
}

void output_style(const struct output *output, enum output_style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "\033[0m",  [STYLE_TITLE] = "\033[1m", [STYLE_HEADER] = "\033[36m",
		[STYLE_CENTER] = "\033[1m", [STYLE_HOT] = "\033[31m",  [STYLE_WARM] = "\033[32m",
	};

	if (output->color)
		terminal_control(output->file, codes[style]);
}
