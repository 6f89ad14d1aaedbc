/* SPDX-License-Identifier: Apache-2.0 */
#include "print/needs.h"

#include "print/commands/command_inlines.h"

#include <string.h>
#include <strings.h>

/* Without words `compare` only shows what is set. */
static bool begins_comparing(const struct command *command, char *const *arguments, size_t count)
{
	return command->setting == SETS_GROUPS && count && strcasecmp(arguments[0], "off") != 0 &&
	       strcmp(arguments[0], "0") != 0;
}

static void add_settings(struct needs *needs, const struct command *command, char *const *arguments,
			 size_t count)
{
	needs->inlined_calls |= command_needs_inlines(command, arguments, count, &needs->inlines);
	needs->compares |= begins_comparing(command, arguments, count);
}

struct needs needs_of_startup(const struct startup *startup)
{
	struct needs needs = {.need = startup_sums_only(startup) ? NEED_SUMS : NEED_ALL,
			      .inlines = INLINES_IN_TREES};

	for (size_t i = 0; i < startup->lines.count; i++) {
		const struct startup_line *line = &startup->lines.items[i];

		add_settings(&needs, line->command, line->words.items + 1, line->words.count - 1);
	}
	return needs;
}

void needs_add(struct needs *needs, const struct command *command, char *const *arguments,
	       size_t count)
{
	enum command_need need = command_needs(command, arguments, count);

	needs->need = need > needs->need ? need : needs->need;
	add_settings(needs, command, arguments, count);
}
