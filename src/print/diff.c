/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of two experiments, the largest differences first.  Samples are counts: a difference
 * of less than twice its standard error is as likely chance as not worth a look, and is only
 * counted, unless all are asked for.
 */
#include "print/diff.h"

#include "analysis/filter.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "experiment/group.h"
#include "print/command.h"
#include "print/print.h"
#include "print/progress.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROWS_USUAL = 20,
	SURE_ERRORS = 2, /* what is more than so many standard errors is no chance */
};

/* The columns of what is printed. */
enum { DIFF_BASE, DIFF_NEW, DIFF_CHANGE, DIFF_RATIO, DIFF_NAME, DIFF_COLUMNS };

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

/* ---- the table ---- */

struct change {
	size_t row;
	double value, error;
};

static int by_size(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	double size = fabs(y->value) - fabs(x->value);

	return size ? size > 0 ? 1 : -1 : x->row < y->row ? -1 : x->row > y->row;
}

static bool is_chance(const struct change *change)
{
	return fabs(change->value) < SURE_ERRORS * change->error;
}

/* Of a function in the table of both: its first two columns. */
static struct change change_at(const struct table *both, size_t row)
{
	const double *value = &both->values[row * both->column_count];
	const double *error = &both->errors[row * both->column_count];

	return (struct change){row, value[1] - value[0], hypot(error[0], error[1])};
}

/* The functions whose change is to be shown, the largest first; the caller's to free. */
static struct change *find_changes(const struct options *options, const struct table *both,
				   size_t *shown, size_t *chance)
{
	struct change *changes = xcalloc(both->row_count + 1, sizeof(*changes));

	*shown = *chance = 0;
	for (size_t row = 1; row < both->row_count; row++) {
		struct change change = change_at(both, row);

		if (change.value == 0)
			continue;
		if (is_chance(&change) && !options->all)
			++*chance;
		else
			changes[(*shown)++] = change;
	}
	qsort(changes, *shown, sizeof(*changes), by_size);
	if (options->rows && *shown + 1 > options->rows)
		*shown = options->rows - 1;
	return changes;
}

static void fill_row(struct table *table, size_t index, const struct table *both, size_t row)
{
	const double *from = &both->values[row * both->column_count];
	struct change change = change_at(both, row);
	double *to = &table->values[index * DIFF_COLUMNS];

	table->rows[index] = both->rows[row];
	to[DIFF_BASE] = from[0];
	to[DIFF_NEW] = from[1];
	to[DIFF_CHANGE] = change.value;
	to[DIFF_RATIO] = from[0] == from[1] ? 1 : from[1] / from[0];
	table->errors[index * DIFF_COLUMNS + DIFF_CHANGE] = change.error;
}

static void table_of_changes(struct table *table, const struct table *both,
			     const struct change *changes, size_t count)
{
	const struct metric_choice choice = both->columns[0].choice;

	*table = (struct table){
		.title = "Differences", .sort = choice, .column_count = DIFF_COLUMNS};
	table->columns = arena_array(&table->arena, struct column, DIFF_COLUMNS);
	table->columns[DIFF_BASE] = both->columns[0];
	table->columns[DIFF_NEW] = both->columns[1];
	table->columns[DIFF_BASE].choice.visibility = VISIBLE_TIME | VISIBLE_VALUE;
	table->columns[DIFF_NEW].choice.visibility = VISIBLE_TIME | VISIBLE_VALUE;
	table->columns[DIFF_CHANGE] = (struct column){choice, 0, COLUMN_DIFFERENCE, "difference"};
	table->columns[DIFF_RATIO] = (struct column){choice, 3, COLUMN_RATIO, "ratio"};
	table->columns[DIFF_RATIO].choice.visibility = VISIBLE_TIME | VISIBLE_VALUE;
	table->columns[DIFF_NAME] = both->columns[both->column_count - 1];
	table->row_count = count + 1;
	table->rows = arena_array(&table->arena, struct row, count + 1);
	table->values = arena_array(&table->arena, double, (count + 1) * DIFF_COLUMNS);
	table->errors = arena_array(&table->arena, double, (count + 1) * DIFF_COLUMNS);
	table->base = arena_array(&table->arena, double, DIFF_COLUMNS);
	fill_row(table, 0, both, 0);
	for (size_t i = 0; i < count; i++)
		fill_row(table, i + 1, both, changes[i].row);
}

/* ---- the whole ---- */

/* Whether the total has grown by more than the limit: by so much more that it is no chance. */
static int judge(struct print *print, const struct options *options, const struct table *both)
{
	double base = both->values[0], change = both->values[1] - base;
	double percent = base ? 100 * change / base : change > 0 ? INFINITY : 0;
	double allowed = 1 + options->limit_percent / 100;
	double noise = SURE_ERRORS * hypot(both->errors[1], both->errors[0] * allowed);

	if (isnan(options->limit_percent) || !(percent > options->limit_percent))
		return PRINT_EXIT_OK;
	if (both->values[1] - base * allowed <= noise) {
		say_note(print,
			 "The total has grown by %.2f %%, which may be chance: with so few events "
			 "growth by more than %g %% is sure from %.2f %% on",
			 percent, options->limit_percent,
			 options->limit_percent + 100 * noise / base);
		return PRINT_EXIT_OK;
	}
	say_note(print, "The total has grown by %.2f %%, more than %g %%", percent,
		 options->limit_percent);
	return DIFF_EXIT_WORSE;
}

static void put_changes(struct print *print, const struct options *options,
			const struct table *both)
{
	size_t count, chance;
	struct change *changes = find_changes(options, both, &count, &chance);
	char *title = metric_choice_title(&both->columns[0].choice);
	char *heading = terminal_text("Functions sorted by difference of metric: %s", title);
	struct table table;

	table_of_changes(&table, both, changes, count);
	command_show_table(print, "diff", SHAPE_LIST, &table, heading);
	if (chance)
		say_note(print,
			 "%zu other function%s by less than twice the standard error of the "
			 "difference, which may be chance (--all shows %s)",
			 chance, chance == 1 ? " differs" : "s differ",
			 chance == 1 ? "it" : "them");
	free(title);
	free(changes);
}

static bool set_query(struct print *print, const struct options *options)
{
	struct diag_list diags = {0};
	char *spec = xasprintf("%s:name", options->metric);
	struct query *query = &print->query;

	query_init(query, print->session);
	query->watch = &print->watch;
	query->compare = COMPARE_ON;
	if (metric_list_parse(print->session, NULL, spec, &query->metrics, &diags) == STATUS_OK) {
		query->metrics.items[0].visibility |= VISIBLE_ERROR;
		query->sort = query->metrics.items[0];
	}
	if (options->filter)
		query_filter(query, print->session, options->filter, &diags);
	free(spec);
	if (query->metrics.count != 2 || query->metrics.items[0].metric->is_static)
		return say_diags(print, &diags) &&
		       say_error(print, "--metric takes one metric, not %s", options->metric);
	return say_diags(print, &diags);
}

static int compare(struct print *print, const struct options *options)
{
	struct table both;
	int status;

	if (!set_query(print, options))
		return PRINT_EXIT_USAGE;
	say_unknown(print);
	view_functions(print->session, &print->query, &both);
	progress_end(print);
	put_changes(print, options, &both);
	status = judge(print, options, &both);
	table_fini(&both);
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
