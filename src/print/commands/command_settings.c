/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings.  Their echo goes to stderr, as in the old tools; without an
 * argument they say what is in force.
 */
#include "print/commands/command_settings.h"

#include "print/commands/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool command_limit(struct print *print, char **arguments, size_t count)
{
	if (count) {
		char *rest;

		errno = 0;
		unsigned long limit = strtoul(arguments[0], &rest, 10);

		if (*rest || rest == arguments[0] || arguments[0][0] == '-' || errno ||
		    limit > UINT32_MAX)
			return say_error(print,
					 "Invalid number entered: %s (limit takes a number of "
					 "rows, 0 for all)",
					 arguments[0]);
		print->query.limit = (uint32_t)limit;
	}
	say_note(print, "Print limit set to %u", print->query.limit);
	return true;
}

/* Index of the word in a list of `count`, or `count`. Any beginning will do. */
static size_t find_word(const char *word, size_t length, const char *const *words, size_t count)
{
	size_t i = 0;

	while (i < count &&
	       !(length && !strncasecmp(words[i], word, length) && length <= strlen(words[i])))
		i++;
	return i;
}

static bool command_name(struct print *print, char **arguments, size_t count)
{
	static const char *const styles[] = {"long", "short", "mangled"};
	static const char *const endings[] = {"soname", "nosoname"};

	if (count) {
		size_t length = strcspn(arguments[0], ":");
		const char *ending = arguments[0] + length;
		size_t style = find_word(arguments[0], length, styles, 3);
		size_t soname = *ending ? find_word(ending + 1, strlen(ending + 1), endings, 2) : 1;

		if (style == 3 || soname == 2)
			return say_error(print,
					 "Invalid argument to command: %s (name takes long, "
					 "short or mangled, then :soname or :nosoname)",
					 arguments[0]);
		print->query.name_style = (enum name_style)style;
		if (*ending)
			print->query.name_soname = !soname;
	}
	say_note(print, "Name format set to %s%s", styles[print->query.name_style],
		 print->query.name_soname ? ":soname" : "");
	return true;
}

/* A filter in force may name functions that the mode does not show. */
static void set_mode(struct print *print, enum view_mode mode)
{
	struct diag_list diags = {0};

	if (!print->session) {
		print->query.mode = mode;
		return;
	}
	query_show_mode(&print->query, print->session, mode, &diags);
	say_diags(print, &diags);
}

static bool command_viewmode(struct print *print, char **arguments, size_t count)
{
	static const char *const modes[] = {"user", "expert", "machine"};

	if (count) {
		size_t mode = find_word(arguments[0], strlen(arguments[0]), modes, 3);

		if (mode == 3)
			return say_error(print,
					 "Invalid argument to command: %s (viewmode takes user, "
					 "expert or machine)",
					 arguments[0]);
		set_mode(print, (enum view_mode)mode);
	}
	say_note(print, "Viewmode set to %s", modes[print->query.mode]);
	return true;
}

static bool command_printmode(struct print *print, char **arguments, size_t count)
{
	const struct presenter *presenter = &print->presenter;

	if (count && !present_set_format(&print->presenter, arguments[0]))
		return say_error(print,
				 "The argument to 'printmode' must be 'text', 'html', "
				 "'json' or a single-character delimiter, not '%s'",
				 arguments[0]);
	/* Readers of JSON often look at stderr for trouble only. */
	if (!present_format_name(presenter))
		say_note(print, "printmode is set to `%c'", presenter->delimiter);
	else if (!count || !present_has_warnings(presenter))
		say_note(print, "printmode is set to %s", present_format_name(presenter));
	return true;
}

static bool redirect(struct print *print, const char *name, bool append)
{
	present_finish(&print->presenter);
	if (output_redirect(&print->output, name, append))
		return true;
	return say_error(print, "Unable to open file: %s: %s", name, strerror(errno));
}

bool command_outfile(struct print *print, char **arguments, size_t count)
{
	return redirect(print, arguments[0], false);
}

static bool command_appendfile(struct print *print, char **arguments, size_t count)
{
	return redirect(print, arguments[0], true);
}

const struct command command_rows_settings[] = {
	{.name = "limit",
	 .max_arguments = 1,
	 .group = GROUP_OUTPUT,
	 .arguments = "[N]",
	 .help = "print at most N rows, <Total> included; 0 for all",
	 .run = command_limit,
	 .sums_only = true,
	 .no_session = true},
	{.name = "name",
	 .max_arguments = 1,
	 .group = GROUP_OUTPUT,
	 .arguments = "[long|short|mangled[:soname|:nosoname]]",
	 .help = "how to write function names",
	 .run = command_name,
	 .sums_only = true,
	 .no_session = true},
	{.name = "viewmode",
	 .max_arguments = 1,
	 .group = GROUP_OUTPUT,
	 .arguments = "[user|expert|machine]",
	 .help = "which call stacks to show; of OpenMP, MPI and Java they differ",
	 .run = command_viewmode,
	 .sums_only = true,
	 .no_session = true},
	{.name = "printmode",
	 .max_arguments = 1,
	 .group = GROUP_OUTPUT,
	 .arguments = "[text|html|json|CHARACTER]",
	 .help = "print text, a page, JSON, or fields separated by a character",
	 .run = command_printmode,
	 .setting = SETS_FORMAT,
	 .sums_only = true,
	 .no_session = true,
	 .not_asked = true},
	{.name = "outfile",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_OUTPUT,
	 .arguments = "FILE",
	 .help = "print to a file from now on; - for standard output",
	 .run = command_outfile,
	 .sums_only = true,
	 .no_session = true,
	 .not_asked = true},
	{.name = "appendfile",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_OUTPUT,
	 .arguments = "FILE",
	 .help = "the same, at the end of what the file holds",
	 .run = command_appendfile,
	 .sums_only = true,
	 .no_session = true,
	 .not_asked = true},
	{0},
};
