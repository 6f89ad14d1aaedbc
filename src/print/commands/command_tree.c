/* SPDX-License-Identifier: Apache-2.0 */
/* The call tree, whole or in part. */
#include "print/commands/command_tree.h"

#include "analysis/views/view_call_tree.h"
#include "base/terminal.h"
#include "print/commands/command.h"
#include "print/commands/command_views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NOT_GIVEN (-1.0) /* -percent */

enum { INVERTED_ROWS = 100000 };

static bool read_depth(struct print *print, const char *command, const char *word, uint32_t *depth)
{
	char *rest;

	errno = 0;
	unsigned long number = strtoul(word, &rest, 10);

	if (*rest || rest == word || word[0] == '-' || errno || number > UINT32_MAX)
		return say_error(print, "%s: -depth takes a number of levels, not `%s'", command,
				 word);
	*depth = (uint32_t)number;
	return true;
}

static bool read_percent(struct print *print, const char *command, const char *word,
			 double *percent)
{
	char *rest;
	double number = strtod(word, &rest);

	rest += *rest == '%';
	if (*rest || rest == word || !(number >= 0 && number <= 100))
		return say_error(print, "%s: -percent takes a number from 0 to 100, not `%s'",
				 command, word);
	*percent = number;
	return true;
}

bool command_tree_part(struct print *print, const char *command, char **arguments, size_t *count,
		       struct tree_part *part)
{
	size_t left = 0;

	for (size_t i = 0; i < *count; i++) {
		const char *word = arguments[i];
		const char *option = word + strspn(word, "-");
		const char *value = i + 1 < *count ? arguments[i + 1] : "";

		if (option == word || !*option) {
			arguments[left++] = arguments[i];
		} else if (!strcasecmp(option, "inverted")) {
			part->inverted = true;
		} else if (!strcasecmp(option, "hottest")) {
			part->hottest = true;
		} else if (!strcasecmp(option, "depth")) {
			if (!read_depth(print, command, value, &part->depth))
				return false;
			i++;
		} else if (!strcasecmp(option, "percent")) {
			if (!read_percent(print, command, value, &part->percent))
				return false;
			i++;
		} else {
			return say_error(print,
					 "%s: there is no option %s; it takes -inverted, -hottest, "
					 "-depth N and -percent P",
					 command, word);
		}
	}
	*count = left;
	return true;
}

/* Of a whole inverted tree, which can be many times as large as the tree, only what can be read. */
static void limit_part(const struct print *print, struct tree_part *part)
{
	bool ordered_later = print->query.compare >= COMPARE_DELTA; /* which needs all rows */
	bool whole = part->percent < 0 && !part->depth && !part->hottest &&
		     (!print->query.limit || ordered_later);

	if (part->percent < 0)
		part->percent = 0;
	if (whole && part->inverted)
		part->most = INVERTED_ROWS;
}

static bool command_calltree(struct print *print, char **arguments, size_t count)
{
	struct tree_part part = {.percent = NOT_GIVEN};
	struct table table;

	if (!command_tree_part(print, "calltree", arguments, &count, &part))
		return false;
	limit_part(print, &part);
	if (count)
		say_warning(print, "extra arguments to the calltree command are ignored");
	char *attributed = command_attributed_title(print);

	view_call_tree(print->session, &print->query, &part, &table);
	char *heading = terminal_text("Functions Call Tree%s. Metric: %s%s",
				      part.inverted ? ", from the leaves up" : "",
				      table.by_change ? "change of " : "", attributed);

	if (table.left_out > 0)
		say_warning(
			print,
			"branches of less than %g %% of the total are left out, since there are "
			"more than %zu rows (calltree -inverted -percent 0 shows all)",
			table.left_out, part.most);
	free(attributed);
	return command_show_table(print, "calltree", SHAPE_TREE, &table, heading);
}

const struct command command_rows_tree[] = {
	{.name = "calltree",
	 .aliases = "ctree",
	 .max_arguments = 6,
	 .optional = ARGUMENT_NONE,
	 .group = GROUP_CALLS,
	 .arguments = "[-inverted] [-depth N] [-percent P] [-hottest]",
	 .help = "the tree of calls from <Total>, or from the leaves up",
	 .run = command_calltree,
	 .shows_paths = true,
	 .sums_only = true,
	 .options = COMMAND_TREE_OPTIONS},
	{0},
};
