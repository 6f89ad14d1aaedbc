/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack fragment: functions of which each calls the next.  csingle begins one, the other
 * commands make it longer or shorter, and each shows who calls it and what it calls.
 */
#include "analysis/session/functions.h"
#include "analysis/views/view_callers.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "print/commands/command.h"
#include "print/commands/command_summary.h"
#include "print/commands/command_views.h"

#include <stdlib.h>
#include <string.h>

static bool show(struct print *print, const char *command)
{
	struct table table;
	char *attributed = command_attributed_title(print);
	char *heading = terminal_text("Callers and callees sorted by metric: %s", attributed);

	view_callers_callees_of(print->session, &print->query, print->fragment.items,
				print->fragment.count, &table);
	free(attributed);
	return command_show_table(print, command, SHAPE_SINGLE, &table, heading);
}

static bool command_csingle(struct print *print, char **arguments, size_t count)
{
	uint32_t function = FUNCTION_TOTAL;

	if (!command_choose_function(print, "csingle", arguments, count, &function))
		return false;
	print->fragment.count = 0;
	*vec_push(&print->fragment) = function;
	return show(print, "csingle");
}

static bool command_cprepend(struct print *print, char **arguments, size_t count)
{
	uint32_t function = FUNCTION_TOTAL;

	if (!command_choose_function(print, "cprepend", arguments, count, &function))
		return false;
	vec_push(&print->fragment);
	memmove(print->fragment.items + 1, print->fragment.items,
		(print->fragment.count - 1) * sizeof(function));
	print->fragment.items[0] = function;
	return show(print, "cprepend");
}

static bool command_cappend(struct print *print, char **arguments, size_t count)
{
	uint32_t function = FUNCTION_TOTAL;

	if (!command_choose_function(print, "cappend", arguments, count, &function))
		return false;
	*vec_push(&print->fragment) = function;
	return show(print, "cappend");
}

/* Whether one function may be taken away. */
static bool has_two(struct print *print, const char *command)
{
	if (print->fragment.count > 1)
		return true;
	return say_error(print,
			 "%s: the stack fragment has %s: csingle begins one, cprepend and cappend "
			 "make it longer",
			 command, print->fragment.count ? "one function only" : "no function");
}

static bool command_crmfirst(struct print *print, char **arguments, size_t count)
{
	if (!has_two(print, "crmfirst"))
		return false;
	print->fragment.count--;
	memmove(print->fragment.items, print->fragment.items + 1,
		print->fragment.count * sizeof(*print->fragment.items));
	return show(print, "crmfirst");
}

static bool command_crmlast(struct print *print, char **arguments, size_t count)
{
	if (!has_two(print, "crmlast"))
		return false;
	print->fragment.count--;
	return show(print, "crmlast");
}

const struct command command_rows_fragment[] = {
	{.name = "csingle",
	 .min_arguments = 1,
	 .max_arguments = 2,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_CALLS,
	 .arguments = "FUNCTION [N]",
	 .help = "callers and callees of one function",
	 .run = command_csingle,
	 .sums_only = true},
	{.name = "cprepend",
	 .min_arguments = 1,
	 .max_arguments = 2,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_CALLS,
	 .arguments = "FUNCTION [N]",
	 .help = "put a caller before the stack fragment that csingle began",
	 .run = command_cprepend,
	 .sums_only = true},
	{.name = "cappend",
	 .min_arguments = 1,
	 .max_arguments = 2,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_CALLS,
	 .arguments = "FUNCTION [N]",
	 .help = "put a callee behind it",
	 .run = command_cappend,
	 .sums_only = true},
	{.name = "crmfirst",
	 .group = GROUP_CALLS,
	 .help = "take its first function away",
	 .run = command_crmfirst,
	 .sums_only = true},
	{.name = "crmlast",
	 .group = GROUP_CALLS,
	 .help = "take its last function away",
	 .run = command_crmlast,
	 .sums_only = true},
	{0},
};
