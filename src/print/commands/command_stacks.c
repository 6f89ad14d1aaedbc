/* SPDX-License-Identifier: Apache-2.0 */
/* stacks: the call stacks with their own values. */
#include "print/commands/command_stacks.h"

#include "base/terminal.h"
#include "print/commands/command.h"
#include "print/commands/command_views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool command_read_count(struct print *print, const char *command, const char *word, uint32_t *count)
{
	char *rest;

	errno = 0;
	unsigned long number = strtoul(word, &rest, 10);

	*count = 0;
	if (!strcasecmp(word, "all"))
		return true;
	if (*rest || rest == word || *word == '-' || errno || number >= UINT32_MAX)
		return say_error(print, "%s: takes a number, 0 for all, not `%s'", command, word);
	*count = (uint32_t)number;
	return true;
}

/* N stacks are N + 1 rows of the view. */
static bool read_arguments(struct print *print, char **arguments, size_t count, struct query *query)
{
	uint32_t most;

	for (size_t i = 0; i < count; i++) {
		const char *option = arguments[i] + strspn(arguments[i], "-");

		if (option != arguments[i] && !strcasecmp(option, "callers-first")) {
			query->callers_first = true;
			continue;
		}
		if (!command_read_count(print, "stacks", arguments[i], &most))
			return false;
		query->limit = most ? most + 1 : 0;
	}
	return true;
}

static bool command_stacks(struct print *print, char **arguments, size_t count)
{
	struct query query = print->query;
	struct stack_list list;
	struct result result;

	if (!read_arguments(print, arguments, count, &query))
		return false;
	view_stacks(print->session, &query, &list);
	result_init(&result, "stacks", print->session);

	char *heading = command_table_heading("Call stacks", &list.table, query.sort_reverse);

	result_heading(&result, "%s", heading)->heading.is_title = true;
	result_gap(&result);
	result_stacks(&result, &list);
	free(heading);
	return print_answer(print, &result);
}

const struct command command_rows_stacks[] = {
	{.name = "stacks",
	 .max_arguments = 2,
	 .optional = ARGUMENT_NUMBER,
	 .group = GROUP_CALLS,
	 .arguments = "[-callers-first] [N]",
	 .help = "the call stacks with their own metrics, at most N of them",
	 .run = command_stacks,
	 .shows_paths = true,
	 .options = "callers-first"},
	{0},
};
