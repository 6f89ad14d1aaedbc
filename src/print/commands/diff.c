/* SPDX-License-Identifier: Apache-2.0 */
/* helio diff: functions of two experiments, the largest differences first
 * (analysis/views/differences.h).
 */
#include "print/commands/diff.h"

#include "analysis/filter/filter.h"
#include "analysis/views/differences.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "experiment/group.h"
#include "print/commands/command.h"
#include "print/print.h"
#include "print/progress.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_USUAL = 20 };

struct options {
	const char *metric, *filter;
	double limit_percent; /* of --fail-on; NAN: none */
	size_t rows;	      /* 0: all */
	bool all, json, help;
	char **experiments;
};

static void put_usage(FILE *file)
{
	fputs("Usage: helio diff [OPTION]... BASE NEW\n"
	      "Print by how much the functions of two experiments differ.\n"
	      "\n"
	      "  -m, --metric=METRIC   what to compare, as in `helio print -metrics';\n"
	      "                        default e.totalcpu\n"
	      "  -f, --filter=EXPR     only events that the expression chooses\n"
	      "  -n, --limit=N         at most N rows, 0 for all (default 20)\n"
	      "  -a, --all             also differences that may be chance\n"
	      "      --fail-on='>N%'   exit with status 6 if the total has surely grown by more\n"
	      "                        than N %\n"
	      "      --json            print JSON\n"
	      "  -h, --help            this help\n"
	      "\n"
	      "Exit status: 0 ok, 1 an experiment could not be read, 2 wrong command line,\n"
	      "6 the limit of --fail-on was passed.\n",
	      file);
}

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

static bool wrong(const char *what, const char *text)
{
	terminal_printf(stderr, "helio diff: %s: %s\nTry `helio diff --help'.\n", what, text);
	return false;
}

static bool parse_options(int argc, char **argv, struct options *options)
{
	enum { OPTION_FAIL_ON = 256, OPTION_JSON };
	static const struct option known[] = {{"metric", required_argument, NULL, 'm'},
					      {"filter", required_argument, NULL, 'f'},
					      {"limit", required_argument, NULL, 'n'},
					      {"all", no_argument, NULL, 'a'},
					      {"fail-on", required_argument, NULL, OPTION_FAIL_ON},
					      {"json", no_argument, NULL, OPTION_JSON},
					      {"help", no_argument, NULL, 'h'},
					      {0}};
	int option;

	*options =
		(struct options){.metric = "e.totalcpu", .limit_percent = NAN, .rows = ROWS_USUAL};
	optind = 1;
	while ((option = getopt_long(argc, argv, "m:f:n:ah", known, NULL)) >= 0) {
		if (option == 'm')
			options->metric = optarg;
		else if (option == 'f')
			options->filter = optarg;
		else if (option == 'n' && !parse_rows(optarg, &options->rows))
			return wrong("--limit takes a number", optarg);
		else if (option == 'a')
			options->all = true;
		else if (option == OPTION_FAIL_ON && !parse_limit(optarg, &options->limit_percent))
			return wrong("--fail-on takes a limit like '>5%'", optarg);
		else if (option == OPTION_JSON)
			options->json = true;
		else if (option == 'h')
			options->help = true;
		else if (option == '?')
			return wrong("wrong option", argv[optind - 1]);
	}
	options->experiments = argv + optind;
	if (argc - optind != 2 && !options->help)
		return wrong("two experiments are needed", argc > optind ? argv[optind] : "none");
	return true;
}

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

static int compare(struct print *print, const struct options *options)
{
	struct differences differences;
	int status;

	if (!set_query(print, options))
		return PRINT_EXIT_USAGE;
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

	if (session_open(options->experiments, 2, &print->watch, &print->session, &diags) !=
	    STATUS_OK)
		print->session = NULL;
	if (say_diags(print, &diags) && print->session) {
		say_lasting(print, 0);
		status = compare(print, options);
		query_fini(&print->query);
	}
	session_free(print->session);
	return output_fini(&print->output) ? status : PRINT_EXIT_FAILED;
}

int diff_main(int argc, char **argv)
{
	struct print print;
	struct options options;

	if (!parse_options(argc, argv, &options))
		return PRINT_EXIT_USAGE;
	if (options.help) {
		put_usage(stdout);
		return PRINT_EXIT_OK;
	}
	print_init(&print, "helio diff");
	present_set_format(&print.presenter, options.json ? "json" : "text");
	progress_init(&print);
	return run(&print, &options);
}
