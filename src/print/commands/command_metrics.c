/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing metrics.  In JSON an object is printed only when nothing is set:
 * `-printmode json -metrics e.user:name -functions` is one object.
 */
#include "print/commands/command_metrics.h"

#include "base/array.h"
#include "base/memory.h"
#include "present/number.h"
#include "print/commands/command.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void add_sort(struct result *result, const char *what, const struct metric_choice *sort,
		     bool reverse)
{
	char *text = metric_choice_text(sort), *title = metric_choice_title(sort);

	result_note(result, "Current %s: %s ( %s%s )", what, title, reverse ? "-" : "", text);
	free(title);
	free(text);
}

static void add_current(const struct print *print, struct result *result)
{
	char *metrics = metric_list_text(&print->query.metrics);

	result_note(result, "Current metrics: %s", metrics);
	add_sort(result, "Sort Metric", &print->query.sort, print->query.sort_reverse);
	free(metrics);
}

/* What programs learn of a list and its order. */
static void set_current(struct result *result, const struct metric_list *list,
			const struct metric_choice *sort, bool reverse)
{
	struct part *members = result_line(result, "", "");
	char *key = metric_key(sort->metric, sort->flavor);
	char *text = metric_list_text(list);

	members->facts.of_all = true;
	part_set(result, members, "sort", value_text(result, key));
	part_set(result, members, "reverse", value_flag(reverse));
	part_set(result, members, "specification", value_text(result, text));
	for (size_t i = 0; i < list->count; i++)
		if (!(list->items[i].visibility & VISIBLE_HIDDEN))
			*vec_push(&result->metrics) = list->items[i];
	free(text);
	free(key);
}

static bool command_metrics(struct print *print, char **arguments, size_t count)
{
	struct query *query = &print->query;
	struct diag_list diags = {0};
	struct result result;

	if (count) {
		enum status status = metric_list_parse(print->session, query->default_metrics,
						       arguments[0], &query->metrics, &diags);
		bool ok = say_diags(print, &diags);

		if (status != STATUS_OK)
			return ok ? say_error(print, "Invalid metric specification: %s",
					      arguments[0])
				  : false;
		query_repair_sort(query);
		if (!print->starting)
			say_unknown(print);
	}
	result_init(&result, "metrics", print->session);
	if (count)
		result.audience = FOR_PEOPLE;
	set_current(&result, &query->metrics, &query->sort, query->sort_reverse);
	add_current(print, &result);
	return print_answer(print, &result);
}

static bool command_sort(struct print *print, char **arguments, size_t count)
{
	struct diag_list diags = {0};
	struct result result;
	enum status status = metric_sort_parse(print->session, arguments[0], &print->query.sort,
					       &print->query.sort_reverse, &diags);
	bool ok = say_diags(print, &diags);

	if (status != STATUS_OK)
		return ok ? say_error(print, "Invalid sort specification: %s", arguments[0])
			  : false;
	print->query.sort_chosen = true;
	result_init(&result, "sort", print->session);
	result.audience = FOR_PEOPLE;
	add_sort(&result, "Sort Metric", &print->query.sort, print->query.sort_reverse);
	return print_answer(print, &result);
}

/* The word for a metric with all that can be shown of it. */
static char *available_word(const struct metric *metric, enum metric_flavor flavor)
{
	static const unsigned visibility[] = {
		[UNIT_SECONDS] = VISIBLE_TIME | VISIBLE_PERCENT,
		[UNIT_COUNT] = VISIBLE_VALUE,
		[UNIT_BYTES] = VISIBLE_VALUE,
		[UNIT_RATIO] = VISIBLE_VALUE,
		[UNIT_ADDRESS] = VISIBLE_VALUE,
		[UNIT_TEXT] = VISIBLE_VALUE,
	};
	const struct metric_choice choice = {
		.metric = metric,
		.flavor = flavor,
		.visibility = visibility[metric->unit] | (metric->hz > 0 ? VISIBLE_TIME : 0),
	};

	return flavor == FLAVOR_STATIC ? xstrdup(metric->command) : metric_choice_text(&choice);
}

static void add_available(struct result *result, struct part *list, const struct metric *metric,
			  enum metric_flavor flavor, const struct metric_list *current)
{
	const struct metric_choice choice = {.metric = metric, .flavor = flavor};
	char *title = metric_choice_title(&choice), *key = metric_key(metric, flavor);
	char *word = available_word(metric, flavor);

	part_cell(result, list, value_text(result, key));
	part_cell(result, list, value_text(result, title));
	part_cell(result, list, value_text(result, number_unit_name(metric->unit)));
	part_cell(result, list, value_flag(metric_list_shows(current, metric, flavor)));
	part_cell(result, list, value_printf(result, "%s:", title));
	part_cell(result, list, value_text(result, word));
	free(word);
	free(key);
	free(title);
}

/* only: of one flavour; FLAVOR_STATIC: exclusive and inclusive. */
static void list_available(const struct print *print, struct result *result,
			   enum metric_flavor only, const struct metric_list *current)
{
	static const struct list_column columns[] = {
		{.key = "name", .audience = FOR_PROGRAMS},
		{.key = "title", .audience = FOR_PROGRAMS},
		{.key = "unit", .audience = FOR_PROGRAMS},
		{.key = "current", .audience = FOR_PROGRAMS},
		{.right = true},
		{.audience = FOR_PEOPLE},
	};
	const struct metric *metric;
	struct part *list;

	result_heading(result, "Available metrics:");
	list = result_list(result, columns, COUNT(columns));
	/* those of all flavours are what programs ask metric_list for */
	list->audience = only == FLAVOR_STATIC ? FOR_ALL : FOR_PEOPLE;
	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		if (!metric_available(print->session, metric))
			continue;
		if (metric->is_static || only != FLAVOR_STATIC) {
			add_available(result, list, metric,
				      metric->is_static ? FLAVOR_STATIC : only, current);
			continue;
		}
		add_available(result, list, metric, FLAVOR_EXCLUSIVE, current);
		add_available(result, list, metric, FLAVOR_INCLUSIVE, current);
	}
	result_gap(result);
}

static bool command_metric_list(struct print *print, char **arguments, size_t count)
{
	const struct query *query = &print->query;
	struct result result;

	result_init(&result, "metric_list", print->session);
	set_current(&result, &query->metrics, &query->sort, query->sort_reverse);
	add_current(print, &result);
	list_available(print, &result, FLAVOR_STATIC, &query->metrics);
	return print_answer(print, &result);
}

/* The metrics of views that have one flavour only. */
static bool show_flavored(struct print *print, const struct query *query, enum metric_flavor flavor,
			  const char *command, const char *what, enum audience audience)
{
	struct metric_choice sort = metric_choice_in(query->sort, flavor);
	char *sort_what = xasprintf("%s sort Metric", what), *text;
	struct metric_list list = {0};
	struct result result;

	metric_list_in(&query->metrics, flavor, &list);
	text = metric_list_text(&list);
	result_init(&result, command, print->session);
	result.audience = audience;
	set_current(&result, &list, &sort, query->sort_reverse);
	result_note(&result, "Current %s metrics: %s", what, text);
	add_sort(&result, sort_what, &sort, query->sort_reverse);
	list_available(print, &result, flavor, &list);
	free(text);
	free(sort_what);
	vec_fini(&list);
	return print_answer(print, &result);
}

static bool command_cmetric_list(struct print *print, char **arguments, size_t count)
{
	return show_flavored(print, &print->query, FLAVOR_ATTRIBUTED, "cmetric_list",
			     "caller-callee", FOR_ALL);
}

/* ---- index objects ---- */

struct query command_index_query(const struct print *print)
{
	struct query query = print->query;

	query.sort = metric_choice_in(query.sort, FLAVOR_EXCLUSIVE);
	if (print->index_metrics.count) {
		query.metrics = print->index_metrics;
		query_repair_sort(&query);
	}
	if (print->index_sort.metric) {
		query.sort_chosen = true;
		query.sort = print->index_sort;
		query.sort_reverse = print->index_sort_reverse;
	}
	return query;
}

static bool show_index_metrics(struct print *print, enum audience audience)
{
	struct query query = command_index_query(print);

	return show_flavored(print, &query, FLAVOR_EXCLUSIVE, "indx_metric_list", "index object",
			     audience);
}

static bool command_indx_metric_list(struct print *print, char **arguments, size_t count)
{
	return show_index_metrics(print, FOR_ALL);
}

/* `default`: those of functions again. */
static bool command_indxobj_metrics(struct print *print, char **arguments, size_t count)
{
	struct metric_list list = {0};
	struct diag_list diags = {0};
	bool set = count && strcasecmp(arguments[0], "default") != 0;

	if (set && metric_list_parse(print->session, print->query.default_metrics, arguments[0],
				     &list, &diags) != STATUS_OK)
		return say_diags(print, &diags);
	say_diags(print, &diags);
	if (count)
		vec_fini(&print->index_metrics);
	metric_list_in(&list, FLAVOR_EXCLUSIVE, &print->index_metrics);
	vec_fini(&list);
	return show_index_metrics(print, count ? FOR_PEOPLE : FOR_ALL);
}

static bool command_indxobj_sort(struct print *print, char **arguments, size_t count)
{
	struct metric_choice sort = {0};
	struct diag_list diags = {0};
	bool reverse = false;

	if (strcasecmp(arguments[0], "default") != 0 &&
	    metric_sort_parse(print->session, arguments[0], &sort, &reverse, &diags) != STATUS_OK)
		return say_diags(print, &diags);
	say_diags(print, &diags);
	print->index_sort = metric_choice_in(sort, FLAVOR_EXCLUSIVE);
	print->index_sort_reverse = reverse;
	return show_index_metrics(print, FOR_PEOPLE);
}

const struct command command_rows_metrics[] = {
	{.name = "indxobj_metrics",
	 .max_arguments = 1,
	 .group = GROUP_INDEX,
	 .arguments = "[SPEC|default]",
	 .help = "metrics of their own for index objects, or again those of functions",
	 .run = command_indxobj_metrics},
	{.name = "indxobj_sort",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_INDEX,
	 .arguments = "METRIC|default",
	 .help = "what index objects are sorted by, or again what functions are; name: by value",
	 .run = command_indxobj_sort},
	{.name = "indx_metric_list",
	 .group = GROUP_METRICS,
	 .help = "the metrics of index objects",
	 .run = command_indx_metric_list},
	{.name = "metrics",
	 .max_arguments = 1,
	 .group = GROUP_METRICS,
	 .arguments = "[SPEC]",
	 .help = "set the metrics to show, for example e.%totalcpu:i.totalcpu:name",
	 .run = command_metrics,
	 .setting = SETS_METRICS,
	 .sums_only = true},
	{.name = "sort",
	 .min_arguments = 1,
	 .max_arguments = 1,
	 .group = GROUP_METRICS,
	 .arguments = "METRIC",
	 .help = "set the metric to sort by; -METRIC reverses",
	 .run = command_sort,
	 .takes_dash = true,
	 .sums_only = true},
	{.name = "metric_list",
	 .group = GROUP_METRICS,
	 .help = "the current and all available metrics",
	 .run = command_metric_list,
	 .sums_only = true},
	{.name = "cmetric_list",
	 .aliases = "gmetric_list",
	 .group = GROUP_METRICS,
	 .help = "the metrics of callers-callees and calltree",
	 .run = command_cmetric_list,
	 .sums_only = true},
	{0},
};
