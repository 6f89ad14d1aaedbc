/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing metrics.  In JSON an object is printed only when nothing is set:
 * `-printmode json -metrics e.user:name -functions` is one object.
 */
#include "base/memory.h"
#include "base/terminal.h"
#include "present/json.h"
#include "print/command.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void print_sort(struct print *print, const char *what, const struct metric_choice *sort,
		       bool reverse)
{
	char *text = metric_choice_text(sort), *title = metric_choice_title(sort);

	terminal_printf(print->output.file, "Current %s: %s ( %s%s )\n", what, title,
			reverse ? "-" : "", text);
	free(title);
	free(text);
}

static void print_current(struct print *print)
{
	char *metrics = metric_list_text(&print->query.metrics);

	terminal_printf(print->output.file, "Current metrics: %s\n", metrics);
	print_sort(print, "Sort Metric", &print->query.sort, print->query.sort_reverse);
	free(metrics);
}

static void add_metric_row(struct json_report *report, const struct metric *metric,
			   enum metric_flavor flavor, const struct metric_list *current)
{
	json_t *row = json_metric(metric, flavor);
	bool shown = false;

	for (size_t i = 0; i < current->count; i++) {
		const struct metric_choice *choice = &current->items[i];

		shown |= choice->metric == metric && choice->flavor == flavor &&
			 !(choice->visibility & VISIBLE_HIDDEN);
	}
	json_object_set_new(row, "current", json_boolean(shown));
	json_report_row(report, row);
}

/* The current metrics, then as rows: all flavours of all metrics, or those of the list. */
static void json_metrics(struct print *print, const char *command, const struct metric_list *list,
			 const struct metric_choice *sort, bool reverse, bool all)
{
	struct json_report report;
	json_t *metrics = json_array();
	char *key = metric_key(sort->metric, sort->flavor);
	char *text = metric_list_text(list);
	json_t *extra = json_pack("{s:s, s:b, s:s}", "sort", key, "reverse", (int)reverse,
				  "specification", text);

	for (size_t i = 0; i < list->count; i++)
		if (!(list->items[i].visibility & VISIBLE_HIDDEN))
			json_array_append_new(
				metrics, json_metric(list->items[i].metric, list->items[i].flavor));
	json_report_begin(&report, &print->presenter, print->session, command, metrics, extra);
	const struct metric *metric;

	for (size_t i = 0; all && (metric = metric_catalogue(print->session, i)); i++) {
		if (!metric_available(print->session, metric))
			continue;
		if (metric->is_static) {
			add_metric_row(&report, metric, FLAVOR_STATIC, list);
			continue;
		}
		add_metric_row(&report, metric, FLAVOR_EXCLUSIVE, list);
		add_metric_row(&report, metric, FLAVOR_INCLUSIVE, list);
	}
	json_report_end(&report);
	free(text);
	free(key);
}

/* Tables can be sorted only by what they show: where that is gone, by the first number left. */
static void repair_sort(struct query *query)
{
	const struct metric_choice *fallback = NULL;

	for (size_t i = 0; i < query->metrics.count; i++) {
		const struct metric_choice *choice = &query->metrics.items[i];

		if (choice->metric == query->sort.metric && choice->flavor == query->sort.flavor) {
			query->sort = *choice;
			return;
		}
		if (!fallback ||
		    (fallback->flavor == FLAVOR_STATIC &&
		     (choice->flavor != FLAVOR_STATIC || choice->metric->unit == UNIT_TEXT)))
			fallback = choice;
	}
	if (fallback) {
		query->sort = *fallback;
		query->sort_reverse = false;
	}
}

bool command_metrics(struct print *print, char **arguments, size_t count)
{
	struct diag_list diags = {0};

	if (!count && print->presenter.format == PRESENT_JSON) {
		json_metrics(print, "metrics", &print->query.metrics, &print->query.sort,
			     print->query.sort_reverse, false);
		return true;
	}
	if (count) {
		enum status status = metric_list_parse(print->session, print->query.default_metrics,
						       arguments[0], &print->query.metrics, &diags);
		bool ok = say_diags(print, &diags);

		if (status != STATUS_OK)
			return ok ? say_error(print, "Invalid metric specification: %s",
					      arguments[0])
				  : false;
		repair_sort(&print->query);
		if (!print->starting)
			say_unknown(print);
	}
	if (print->presenter.format != PRESENT_JSON)
		print_current(print);
	return true;
}

bool command_sort(struct print *print, char **arguments, size_t count)
{
	struct diag_list diags = {0};
	enum status status = metric_sort_parse(print->session, arguments[0], &print->query.sort,
					       &print->query.sort_reverse, &diags);
	bool ok = say_diags(print, &diags);

	if (status != STATUS_OK)
		return ok ? say_error(print, "Invalid sort specification: %s", arguments[0])
			  : false;
	print->query.sort_chosen = true;
	if (print->presenter.format != PRESENT_JSON)
		print_sort(print, "Sort Metric", &print->query.sort, print->query.sort_reverse);
	return true;
}

static void print_available(struct print *print, const struct metric *metric,
			    enum metric_flavor flavor, bool measure, int *width)
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
	char *title = metric_choice_title(&choice);
	char *text =
		flavor == FLAVOR_STATIC ? xstrdup(metric->command) : metric_choice_text(&choice);
	int length = (int)strlen(title);

	if (!measure)
		terminal_printf(print->output.file, "%*s: %s\n", *width, title, text);
	else if (length > *width)
		*width = length;
	free(text);
	free(title);
}

/* only: of one flavour; FLAVOR_STATIC: exclusive and inclusive. */
static void each_available(struct print *print, enum metric_flavor only, bool measure, int *width)
{
	const struct metric *metric;

	for (size_t i = 0; (metric = metric_catalogue(print->session, i)); i++) {
		if (!metric_available(print->session, metric))
			continue;
		if (metric->is_static) {
			print_available(print, metric, FLAVOR_STATIC, measure, width);
			continue;
		}
		if (only != FLAVOR_STATIC) {
			print_available(print, metric, only, measure, width);
			continue;
		}
		print_available(print, metric, FLAVOR_EXCLUSIVE, measure, width);
		print_available(print, metric, FLAVOR_INCLUSIVE, measure, width);
	}
}

static void list_available(struct print *print, enum metric_flavor only)
{
	int width = 0;

	fprintf(print->output.file, "Available metrics:\n");
	each_available(print, only, true, &width);
	each_available(print, only, false, &width);
	fputc('\n', print->output.file);
}

bool command_metric_list(struct print *print, char **arguments, size_t count)
{
	if (print->presenter.format == PRESENT_JSON) {
		json_metrics(print, "metric_list", &print->query.metrics, &print->query.sort,
			     print->query.sort_reverse, true);
		return true;
	}
	print_current(print);
	list_available(print, FLAVOR_STATIC);
	return true;
}

static struct metric_choice with_flavor(struct metric_choice choice, enum metric_flavor flavor)
{
	if (choice.metric && choice.flavor != FLAVOR_STATIC)
		choice.flavor = flavor;
	return choice;
}

/* Each metric of the list in one flavour, once. */
static void one_flavor_list(const struct metric_list *from, enum metric_flavor flavor,
			    struct metric_list *to)
{
	for (size_t i = 0; i < from->count; i++) {
		struct metric_choice choice = with_flavor(from->items[i], flavor);
		bool known = false;

		for (size_t k = 0; k < to->count; k++) {
			known |= to->items[k].metric == choice.metric;
			if (to->items[k].metric == choice.metric)
				to->items[k].visibility |= choice.visibility;
		}
		if (!known)
			*vec_push(to) = choice;
	}
}

/* The metrics of views that have one flavour only. */
static bool put_flavored(struct print *print, const struct query *query, enum metric_flavor flavor,
			 const char *command, const char *what)
{
	struct metric_list list = {0};
	struct metric_choice sort = with_flavor(query->sort, flavor);

	one_flavor_list(&query->metrics, flavor, &list);
	if (print->presenter.format == PRESENT_JSON) {
		json_metrics(print, command, &list, &sort, query->sort_reverse, false);
	} else {
		char *text = metric_list_text(&list);
		char *sort_what = xasprintf("%s sort Metric", what);

		terminal_printf(print->output.file, "Current %s metrics: %s\n", what, text);
		print_sort(print, sort_what, &sort, query->sort_reverse);
		list_available(print, flavor);
		free(sort_what);
		free(text);
	}
	vec_fini(&list);
	return true;
}

bool command_cmetric_list(struct print *print, char **arguments, size_t count)
{
	return put_flavored(print, &print->query, FLAVOR_ATTRIBUTED, "cmetric_list",
			    "caller-callee");
}

/* ---- index objects ---- */

struct query command_index_query(const struct print *print)
{
	struct query query = print->query;

	query.sort = with_flavor(query.sort, FLAVOR_EXCLUSIVE);
	if (print->index_metrics.count) {
		query.metrics = print->index_metrics;
		repair_sort(&query);
	}
	if (print->index_sort.metric) {
		query.sort_chosen = true;
		query.sort = print->index_sort;
		query.sort_reverse = print->index_sort_reverse;
	}
	return query;
}

bool command_indx_metric_list(struct print *print, char **arguments, size_t count)
{
	struct query query = command_index_query(print);

	return put_flavored(print, &query, FLAVOR_EXCLUSIVE, "indx_metric_list", "index object");
}

/* `default`: those of functions again. */
bool command_indxobj_metrics(struct print *print, char **arguments, size_t count)
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
	one_flavor_list(&list, FLAVOR_EXCLUSIVE, &print->index_metrics);
	vec_fini(&list);
	return (count && print->presenter.format == PRESENT_JSON) ||
	       command_indx_metric_list(print, NULL, 0);
}

bool command_indxobj_sort(struct print *print, char **arguments, size_t count)
{
	struct metric_choice sort = {0};
	struct diag_list diags = {0};
	bool reverse = false;

	if (strcasecmp(arguments[0], "default") != 0 &&
	    metric_sort_parse(print->session, arguments[0], &sort, &reverse, &diags) != STATUS_OK)
		return say_diags(print, &diags);
	say_diags(print, &diags);
	print->index_sort = with_flavor(sort, FLAVOR_EXCLUSIVE);
	print->index_sort_reverse = reverse;
	return print->presenter.format == PRESENT_JSON || command_indx_metric_list(print, NULL, 0);
}
