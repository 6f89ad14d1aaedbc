/* SPDX-License-Identifier: Apache-2.0 */
/* helio diff: functions of two experiments, the largest differences first
 * (analysis/views/differences.h).
 */
#include "print/commands/diff.h"

#include "analysis/filter/filter.h"
#include "analysis/session/session.h"
#include "analysis/views/differences.h"
#include "base/array.h"
#include "base/command_line.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "experiment/group.h"
#include "print/commands/command.h"
#include "print/commands/command_views.h"
#include "print/print.h"
#include "print/progress.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char program_name[] = "helio diff";

enum { ROWS_USUAL = 20 };

struct options {
	const char *metric, *filter;
	double limit_percent; /* of --fail-on; NAN: none */
	size_t rows;	      /* 0: all */
	bool all, json;
	char **experiments;
};

/* ">5%" */
static bool parse_limit(const char *text, double *percent)
{
	char *end;

	if (*text++ != '>')
		return false;
	*percent = strtod(text, &end);
	return end != text && *percent >= 0 && !strcmp(end, "%");
}

static bool parse_rows(const char *text, size_t *rows)
{
	char *end;

	*rows = strtoul(text, &end, 10);
	return end != text && !*end && *text != '-';
}

static bool take_limit(struct option_parser *parser, const char *argument)
{
	struct options *options = parser->target;

	return parse_rows(argument, &options->rows) ||
	       option_refuse(parser, "--limit takes a number, not", argument);
}

static bool take_fail_on(struct option_parser *parser, const char *argument)
{
	struct options *options = parser->target;

	return parse_limit(argument, &options->limit_percent) ||
	       option_refuse(parser, "--fail-on takes a limit like '>5%', not", argument);
}

static const struct option rows[] = {
	{'m', "metric", "METRIC", 0, option_set_text, offsetof(struct options, metric),
	 "what to compare, as in `helio print -metrics'; default e.totalcpu"},
	{'f', "filter", "EXPR", 0, option_set_text, offsetof(struct options, filter),
	 "only events that the expression chooses"},
	{'n', "limit", "N", 0, take_limit, 0, "at most N rows, 0 for all (default 20)"},
	{'a', "all", NULL, 0, option_set_flag, offsetof(struct options, all),
	 "also differences that may be chance"},
	{0, "fail-on", "'>N%'", 0, take_fail_on, 0,
	 "exit with status 6 if the total has surely grown by more than N %"},
	{0, "json", NULL, 0, option_set_flag, offsetof(struct options, json), "print JSON"},
};
static const struct option_table tables[] = {OPTION_TABLE(rows), OPTION_COMMON};
static const struct option_syntax syntax = {
	.tables = tables,
	.count = COUNT(tables),
	.usage = "Usage: %s [OPTION]... BASE NEW\n"
		 "Print by how much the functions of two experiments differ.\n"
		 "\n",
	.notes = "\n"
		 "Exit status: 0 ok, 1 an experiment could not be read, 2 wrong command line,\n"
		 "6 the limit of --fail-on was passed.\n",
};

/* ---- the answer ---- */

/* Whether the total has grown by more than the limit: by so much more that it is no chance. */
static int judge(struct print *print, const struct options *options,
		 const struct differences *differences)
{
	struct growth growth = differences_growth(differences, options->limit_percent);

	if (isnan(options->limit_percent) || !growth.is_more)
		return PRINT_EXIT_OK;
	if (!growth.is_sure) {
		say_note(print,
			 "The total has grown by %.2f %%, which may be chance: with so few events "
			 "growth by more than %g %% is sure from %.2f %% on",
			 growth.percent, options->limit_percent, growth.sure_percent);
		return PRINT_EXIT_OK;
	}
	say_note(print, "The total has grown by %.2f %%, more than %g %%", growth.percent,
		 options->limit_percent);
	return DIFF_EXIT_WORSE;
}

static void put_changes(struct print *print, struct differences *differences)
{
	char *title = metric_choice_title(&differences->both.columns[0].choice);
	char *heading = terminal_text("Functions sorted by difference of metric: %s", title);
	size_t chance = differences->chance;

	command_show_table(print, "diff", SHAPE_LIST, &differences->changes, heading);
	differences->changes = (struct table){0};
	if (chance)
		say_note(print,
			 "%zu other function%s by less than twice the standard error of the "
			 "difference, which may be chance (--all shows %s)",
			 chance, chance == 1 ? " differs" : "s differ",
			 chance == 1 ? "it" : "them");
	free(title);
}

static bool set_query(struct print *print, const struct options *options)
{
	struct diag_list diags = {0};
	struct query *query = &print->query;

	query_init(query, print->session);
	query->watch = &print->watch;
	bool valid =
		differences_query(print->session, options->metric, query, &diags) != STATUS_INVALID;

	if (options->filter)
		query_filter(query, print->session, options->filter, &diags);
	if (!valid)
		return say_diags(print, &diags) &&
		       say_error(print, "--metric takes one metric, not %s", options->metric);
	return say_diags(print, &diags);
}

/* What only one of them has recorded has not changed by all of it. */
static bool have_both_recorded(struct print *print, const struct metric *metric)
{
	for (size_t i = 0; i < session_group_count(print->session); i++)
		if (!metric_available_in(print->session, metric, i))
			return say_error(print,
					 "%s has not recorded %s: record both with the same "
					 "options",
					 session_group_name(print->session, i), metric->title);
	return true;
}

static int compare(struct print *print, const struct options *options)
{
	struct differences differences;
	int status;

	if (!set_query(print, options))
		return PRINT_EXIT_USAGE;
	if (!have_both_recorded(print, print->query.sort.metric))
		return PRINT_EXIT_FAILED;
	say_unknown(print);
	view_differences(print->session, &print->query, options->rows, options->all, &differences);
	progress_end(print);
	put_changes(print, &differences);
	status = judge(print, options, &differences);
	differences_fini(&differences);
	return status;
}

static int run(struct print *print, const struct options *options)
{
	struct diag_list diags = {0};
	int status = PRINT_EXIT_FAILED;

	if (session_open_apart(options->experiments, 2, &print->watch, &print->session, &diags) !=
	    STATUS_OK)
		print->session = NULL;
	if (say_diags(print, &diags) && print->session) {
		say_lasting(print, 0);
		status = compare(print, options);
		query_fini(&print->query);
	}
	session_free(print->session);
	if (output_fini(&print->output))
		return status;
	say_error(print, "Cannot write the output: %s", strerror(errno));
	return PRINT_EXIT_FAILED;
}

int diff_main(int argc, char **argv)
{
	struct print print;
	struct options options = {.metric = "e.totalcpu", .limit_percent = NAN, .rows = ROWS_USUAL};
	enum command_line read =
		command_line_read(&syntax, program_name, &options, argv + 1, &options.experiments);

	if (read != COMMAND_LINE_OK)
		return read == COMMAND_LINE_ANSWERED ? PRINT_EXIT_OK : PRINT_EXIT_USAGE;
	if (command_line_count(options.experiments) != 2) {
		command_line_refuse(program_name, "two experiments are needed, BASE and NEW");
		return PRINT_EXIT_USAGE;
	}
	print_init(&print, program_name);
	present_set_format(&print.presenter, options.json ? "json" : "text");
	progress_init(&print);
	return run(&print, &options);
}
