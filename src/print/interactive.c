/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prompt.  libedit is used only where both ends are a terminal; commands
 * from a pipe are read as a script would be, without a prompt.
 */
#include "print/progress.h"
#include "print/script.h"

#include "base/array.h"
#include "base/late_library.h"
#include "base/memory.h"
#include "base/terminal.h"

#include <errno.h>
#include <histedit.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HISTORY_SIZE = 1000, COMPLETIONS_SHOWN = 40 };

#define LIBRARY "libedit.so.2"
#define FUNCTIONS(X)                                                                               \
	X(el_deletestr)                                                                            \
	X(el_end)                                                                                  \
	X(el_get)                                                                                  \
	X(el_gets)                                                                                 \
	X(el_init)                                                                                 \
	X(el_insertstr)                                                                            \
	X(el_line)                                                                                 \
	X(el_reset)                                                                                \
	X(el_set)                                                                                  \
	X(el_source)                                                                               \
	X(history)                                                                                 \
	X(history_end)                                                                             \
	X(history_init)

static struct {
	FUNCTIONS(LATE_POINTER)
} their;

#define ENTRY(name) {#name, &their.name},
static const struct late_function functions[] = {FUNCTIONS(ENTRY)};

static const char *prompt_text; /* libedit's callback has no room for an argument */

static char *prompt(EditLine *editor)
{
	return (char *)prompt_text;
}

static size_t common_length(const struct completions *completions)
{
	size_t length = strlen(completions->items[0]);

	for (size_t i = 1; i < completions->count; i++) {
		size_t same = 0;

		while (same < length && completions->items[i][same] == completions->items[0][same])
			same++;
		length = same;
	}
	return length;
}

static void show_completions(const struct completions *completions)
{
	fputc('\n', stderr);
	for (size_t i = 0; i < completions->count && i < COMPLETIONS_SHOWN; i++)
		terminal_printf(stderr, "%s\n", completions->items[i]);
	if (completions->count > COMPLETIONS_SHOWN)
		fprintf(stderr, "… and %zu more\n", completions->count - COMPLETIONS_SHOWN);
}

static unsigned char complete(EditLine *editor, int ch)
{
	struct print *print;
	struct completions completions = {0};
	const LineInfo *info = their.el_line(editor);
	size_t cursor = (size_t)(info->cursor - info->buffer);
	char *line = xstrndup(info->buffer, cursor);
	size_t typed = cursor - complete_word_start(line, cursor);
	unsigned char result = CC_ERROR;

	their.el_get(editor, EL_CLIENTDATA, &print);
	complete_line(print, line, cursor, &completions);
	if (completions.count) {
		size_t length = common_length(&completions);
		char *text = xasprintf("%.*s%s", (int)length, completions.items[0],
				       completions.count == 1 ? " " : "");

		if (strlen(text) > typed) {
			their.el_deletestr(editor, (int)typed);
			their.el_insertstr(editor, text);
			result = CC_REFRESH;
		} else {
			show_completions(&completions);
			result = CC_REDISPLAY;
		}
		free(text);
	}
	completions_fini(&completions);
	free(line);
	return result;
}

/* $XDG_STATE_HOME/helio/print_history, its directories made; NULL where there is no home. */
static char *history_path(void)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	char *path;

	if (state && *state == '/')
		path = xasprintf("%s/helio/print_history", state);
	else if (home && *home == '/')
		path = xasprintf("%s/.local/state/helio/print_history", home);
	else
		return NULL;
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	return path;
}

/* Ctrl-C throws away the line that is typed: the handler only interrupts the read. */
static void interrupted(int number)
{
}

static const char *read_line(EditLine *editor, int *length)
{
	struct sigaction action = {.sa_handler = interrupted}, before;

	sigaction(SIGINT, &action, &before);
	const char *line = their.el_gets(editor, length);
	int error = errno;

	sigaction(SIGINT, &before, NULL);
	errno = error;
	return line;
}

/* The history is saved before a command runs, so that Ctrl-C during a long listing loses nothing.
 */
static void read_lines(struct print *print, EditLine *editor, History *list, const char *path)
{
	HistEvent event;

	while (!print->quit) {
		int length = 0;
		const char *line = read_line(editor, &length);

		if (!line && length < 0 && errno == EINTR) {
			fputc('\n', stdout);
			their.el_reset(editor);
			continue;
		}
		if (!line || length <= 0)
			break;
		if (line[strspn(line, " \t\r\n")]) {
			their.history(list, &event, H_ENTER, line);
			if (path)
				their.history(list, &event, H_SAVE, path);
		}
		progress_catch_interrupts(true);
		script_run_line(print, line);
		progress_catch_interrupts(false);
		fflush(print->output.file);
	}
}

static void run_terminal(struct print *print)
{
	History *list = their.history_init();
	EditLine *editor =
		their.el_init("helio", stdin, terminal_below(stdout), terminal_below(stderr));
	HistEvent event;
	char *path = history_path();

	their.history(list, &event, H_SETSIZE, HISTORY_SIZE);
	their.history(list, &event, H_SETUNIQUE, 1);
	if (path)
		their.history(list, &event, H_LOAD, path);
	their.el_set(editor, EL_PROMPT, prompt);
	their.el_set(editor, EL_EDITOR, "emacs");
	their.el_set(editor, EL_HIST, their.history, list);
	their.el_set(editor, EL_CLIENTDATA, print);
	their.el_set(editor, EL_ADDFN, "helio-complete", "complete the word", complete);
	their.el_set(editor, EL_BIND, "^I", "helio-complete", NULL);
	their.el_source(editor, NULL);
	read_lines(print, editor, list, path);
	free(path);
	their.history_end(list);
	their.el_end(editor);
}

void script_run_interactive(struct print *print)
{
	bool old_name = !strcmp(print->program, "er_print");
	const char *missing = NULL;

	prompt_text = old_name ? "(er_print) " : "(helio) ";
	print->ask = isatty(STDIN_FILENO);
	bool edits = print->ask && isatty(STDOUT_FILENO);

	if (edits)
		missing = late_library_load(LIBRARY, functions, COUNT(functions));
	if (missing)
		terminal_printf(stderr, "%s: lines cannot be edited here: %s\n", print->program,
				missing);
	if (edits && !missing)
		run_terminal(print);
	else
		script_run_file(print, stdin, NULL);
}
