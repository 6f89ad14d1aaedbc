/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language of metric specifications:
 *
 *   list   = item { ":" item }
 *   item   = "default" | [ flavours ] visibilities name | name
 *   flavours = letters of "eiad", visibilities = characters of ".%+!"
 *
 * Flavour letters are only flavours when a visibility follows them, otherwise
 * they begin a name ("address", "data").
 */
#include "analysis/kinds/counter.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "base/suggest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Instruction counts, which no experiment holds. */
static const char empty_group[] = "bit";

struct item {
	char flavours[8]; /* in the order written, each once */
	unsigned visibility;
	const char *name;
};

/* The nearest name of a metric, or NULL. */
static const char *closest_name(const struct session *session, const char *name)
{
	VEC(const char *) names = {0};
	const struct metric *metric;
	const char *closest;

	for (size_t i = 0; (metric = metric_catalogue(session, i)); i++)
		*vec_push(&names) = metric->command;
	closest = suggest_closest(name, names.items, names.count);
	vec_fini(&names);
	return closest;
}

/* What to do about a metric without data, or about a name that none has; the caller frees it. */
static char *remedy(const struct session *session, const char *name)
{
	const struct metric *metric = metric_find(session, name);
	enum trace_kind kind = metric ? metric_trace(metric) : TRACE_KINDS;
	const char *closest = metric ? NULL : closest_name(session, name);

	if (kind < TRACE_KINDS)
		return xasprintf("no %s data: record it with helio collect %s",
				 format_kinds[kind].subject, format_kinds[kind].option);
	if (metric)
		return xstrdup(session->has_clock_data
				       ? "no event of the clock has it"
				       : "no clock data: record it with helio collect -p on");
	if (closest)
		return xasprintf("no metric is called %s; did you mean %s?", name, closest);
	return xasprintf("no metric is called %s; metric_list shows those that there are, and "
			 "helio collect -h counters",
			 name);
}

/* Frees what is said about it. */
static enum status no_data(struct diag_list *diags, const char *text, char *what)
{
	diag_add(diags, DIAG_ERROR, "No data recorded to support metric specification: %s (%s)",
		 text, what);
	free(what);
	return STATUS_INVALID;
}

static enum status invalid(struct diag_list *diags, const char *text, const char *why)
{
	diag_add(diags, DIAG_ERROR, "Invalid metric specification: %s (%s)", text, why);
	return STATUS_INVALID;
}

static unsigned visibility_bit(char c)
{
	switch (c) {
	case '.':
		return VISIBLE_TIME;
	case '%':
		return VISIBLE_PERCENT;
	case '+':
		return VISIBLE_VALUE;
	case '~':
		return VISIBLE_ERROR;
	default:
		return VISIBLE_HIDDEN;
	}
}

static void split_item(const char *text, struct item *item)
{
	size_t flavours = strspn(text, "eiad");
	size_t visible = strspn(text + flavours, ".%+~!");
	size_t count = 0;

	*item = (struct item){.name = text};
	if (!visible)
		return;
	for (size_t i = 0; i < flavours; i++)
		if (!strchr(item->flavours, text[i]))
			item->flavours[count++] = text[i];
	for (size_t i = 0; i < visible; i++)
		item->visibility |= visibility_bit(text[flavours + i]);
	item->name = text + flavours + visible;
}

/* What the characters mean for the metric's unit. */
static unsigned fit_visibility(const struct metric *metric, unsigned visibility)
{
	unsigned shown = VISIBLE_TIME | VISIBLE_VALUE;
	bool is_time = metric->unit == UNIT_SECONDS || metric->hz > 0;
	unsigned natural = is_time ? VISIBLE_TIME : VISIBLE_VALUE;
	unsigned result = visibility & (VISIBLE_PERCENT | VISIBLE_ERROR | VISIBLE_HIDDEN);

	if (metric->is_static)
		return visibility & VISIBLE_HIDDEN ? natural | VISIBLE_HIDDEN : natural;
	if (metric->unit == UNIT_RATIO)
		return natural | (visibility & VISIBLE_HIDDEN);
	if (metric->hz > 0 && visibility & shown) /* cycles can be both */
		return result | (visibility & shown);
	if (visibility & shown || !(visibility & VISIBLE_PERCENT))
		result |= natural;
	return result;
}

/* Adds a choice, or its visibility to an equal one that is there. */
static void add_choice(struct metric_list *list, const struct metric *metric,
		       enum metric_flavor flavor, unsigned visibility)
{
	visibility = fit_visibility(metric, visibility);
	for (size_t i = 0; i < list->count; i++) {
		struct metric_choice *old = &list->items[i];

		if (old->metric != metric || old->flavor != flavor)
			continue;
		if ((old->visibility ^ visibility) & VISIBLE_HIDDEN) {
			/* hidden in one place, shown in the other: shown */
			if (old->visibility & VISIBLE_HIDDEN)
				old->visibility = visibility;
		} else {
			old->visibility |= visibility;
		}
		return;
	}
	*vec_push(list) = (struct metric_choice){metric, flavor, visibility};
}

static enum metric_flavor flavor_of(char letter)
{
	return letter == 'e'   ? FLAVOR_EXCLUSIVE
	       : letter == 'i' ? FLAVOR_INCLUSIVE
			       : FLAVOR_ATTRIBUTED;
}

static void add_flavours(struct metric_list *list, const struct item *item,
			 const struct metric *metric)
{
	for (const char *letter = item->flavours; *letter; letter++)
		add_choice(list, metric, flavor_of(*letter), item->visibility);
}

/* `any`: all metrics with data; `hwc`: those of counters. */
static bool is_group(const char *name)
{
	return !strcasecmp(name, "any") || !strcasecmp(name, "hwc");
}

static enum status add_group(const struct session *session, const struct item *item,
			     const char *text, struct metric_list *list, struct diag_list *diags)
{
	bool any = !strcasecmp(item->name, "any");
	size_t before = list->count;
	const struct metric *metric;

	for (size_t i = 0; (metric = metric_catalogue(session, i)); i++)
		if ((any || metric_is_counter(metric)) && !metric->is_static &&
		    metric_available(session, metric))
			add_flavours(list, item, metric);
	if (list->count > before || (any && session->has_clock_data))
		return STATUS_OK;
	return no_data(diags, text,
		       xstrdup(any ? "the experiments hold no data"
				   : "no counters: record some with helio collect -h"));
}

/* A state that the clock has not seen: asked for by name its time is 0. */
static bool is_zero(const struct session *session, const struct metric *metric)
{
	return metric->states && session->has_clock_data;
}

static enum status add_dynamic(const struct session *session, const struct item *item,
			       const char *text, struct metric_list *list, struct diag_list *diags)
{
	const struct metric *metric = metric_find(session, item->name);
	bool group = is_group(item->name);

	if (!item->flavours[0] && (group || (metric && metric_available(session, metric)))) {
		char *why = xasprintf(
			"it has no flavour; write e.%s for exclusive or i.%s for inclusive values",
			item->name, item->name);
		enum status status = invalid(diags, text, why);

		free(why);
		return status;
	}
	/* data-derived metrics need hardware counters with memory addresses */
	if (strchr(item->flavours, 'd'))
		return no_data(diags, text, xstrdup("data_objects has metrics of data"));
	if (group)
		return add_group(session, item, text, list, diags);
	if (!metric || !(metric_available(session, metric) || is_zero(session, metric)))
		return no_data(diags, text, remedy(session, item->name));
	add_flavours(list, item, metric);
	return STATUS_OK;
}

/* defaults: what `default` means; NULL: what was recorded. */
static enum status add_item(const struct session *session, const char *defaults, const char *text,
			    struct metric_list *list, struct diag_list *diags)
{
	struct item item;

	if (!strcasecmp(text, "default")) {
		session_default_metrics(session, defaults, list);
		return STATUS_OK;
	}
	split_item(text, &item);
	if (!strcasecmp(item.name, empty_group))
		return no_data(diags, text, xstrdup("instruction counts are not recorded"));

	const struct metric *metric = metric_find(session, item.name);

	if (!metric || !metric->is_static)
		return add_dynamic(session, &item, text, list, diags);
	if (item.flavours[0])
		return invalid(diags, text, "this metric has no flavours; write it without them");
	add_choice(list, metric, FLAVOR_STATIC, item.visibility);
	return STATUS_OK;
}

/* Adds all items of a specification to an empty list. */
static enum status add_items(const struct session *session, const char *defaults, const char *spec,
			     struct metric_list *list, struct diag_list *diags)
{
	char *copy = xstrdup(spec), *rest = copy, *text;
	enum status status = STATUS_OK;

	while (!status && (text = strtok_r(rest, ": \t", &rest)))
		status = add_item(session, defaults, text, list, diags);
	free(copy);
	if (!status && !list->count)
		status = invalid(diags, spec, "it names no metric");
	return status;
}

enum status metric_list_parse(const struct session *session, const char *defaults, const char *spec,
			      struct metric_list *list, struct diag_list *diags)
{
	struct metric_list fresh = {0};
	enum status status = add_items(session, defaults, spec, &fresh, diags);

	if (status) {
		vec_fini(&fresh);
		return status;
	}

	const struct metric *name = metric_find(session, "name");
	bool named = false;

	for (size_t i = 0; i < fresh.count; i++)
		named |= fresh.items[i].metric == name;
	if (!named)
		add_choice(&fresh, name, FLAVOR_STATIC, 0);
	vec_fini(list);
	*list = fresh;
	return STATUS_OK;
}

/* The first item of a list that can be used; if there is none, why the first one cannot. */
static enum status first_usable(const struct session *session, const char *spec,
				struct metric_list *list, struct diag_list *diags)
{
	char *copy = xstrdup(spec), *rest = copy, *text;
	struct diag_list doubts = {0};
	enum status status = STATUS_OK;

	while (!list->count && (text = strtok_r(rest, ": \t", &rest))) {
		enum status one = add_item(session, NULL, text, list, &doubts);

		status = status ? status : one;
	}
	if (list->count)
		status = STATUS_OK;
	else if (doubts.count)
		diag_add(diags, DIAG_ERROR, "%s", doubts.items[0].text);
	else
		status = invalid(diags, spec, "it names no metric");
	diag_fini(&doubts);
	free(copy);
	return status;
}

enum status metric_sort_parse(const struct session *session, const char *spec,
			      struct metric_choice *choice, bool *reverse, struct diag_list *diags)
{
	struct metric_list list = {0};
	bool minus = *spec == '-';
	enum status status = first_usable(session, spec + minus, &list, diags);

	if (!status) {
		*choice = list.items[0];
		*reverse = minus;
	}
	vec_fini(&list);
	return status;
}

/* e%.hwc, and ei!.CPI and IPC: what is divided by little says little. */
static void add_default_counter(struct metric_list *list, const struct metric *counter)
{
	if (counter->unit != UNIT_RATIO) {
		add_choice(list, counter, FLAVOR_EXCLUSIVE, VISIBLE_TIME | VISIBLE_PERCENT);
		return;
	}
	add_choice(list, counter, FLAVOR_EXCLUSIVE, VISIBLE_HIDDEN);
	add_choice(list, counter, FLAVOR_INCLUSIVE, VISIBLE_HIDDEN);
}

/* What the user has set; `default` in it would be itself. */
static void add_set_defaults(const struct session *session, const char *spec,
			     struct metric_list *list)
{
	char *copy = xstrdup(spec), *rest = copy, *text;
	struct diag_list doubts = {0};

	while ((text = strtok_r(rest, ": \t", &rest)))
		if (strcasecmp(text, "default") != 0)
			add_item(session, NULL, text, list, &doubts);
	add_choice(list, metric_find(session, "name"), FLAVOR_STATIC, 0);
	diag_fini(&doubts);
	free(copy);
}

void session_default_metrics(const struct session *session, const char *spec,
			     struct metric_list *list)
{
	if (spec) {
		add_set_defaults(session, spec, list);
		return;
	}

	const unsigned time = VISIBLE_TIME | VISIBLE_PERCENT;
	const struct {
		const char *name;
		enum metric_flavor flavor;
		unsigned visibility;
	} defaults[] = {
		{"totalcpu", FLAVOR_EXCLUSIVE, time},	 {"totalcpu", FLAVOR_INCLUSIVE, time},
		{"heapleakbytes", FLAVOR_INCLUSIVE, 0},	 {"heapleakcnt", FLAVOR_INCLUSIVE, 0},
		{"heapallocbytes", FLAVOR_INCLUSIVE, 0}, {"heapalloccnt", FLAVOR_INCLUSIVE, 0},
		{"jlivebytes", FLAVOR_INCLUSIVE, 0},	 {"jallocbytes", FLAVOR_INCLUSIVE, 0},
		{"sync", FLAVOR_INCLUSIVE, 0},		 {"syncn", FLAVOR_INCLUSIVE, 0},
		{"ioreadtime", FLAVOR_INCLUSIVE, 0},	 {"iowritetime", FLAVOR_INCLUSIVE, 0},
		{"iowaittime", FLAVOR_INCLUSIVE, 0},	 {"ioothertime", FLAVOR_INCLUSIVE, 0},
		{"ioerrortime", FLAVOR_INCLUSIVE, 0},
	};

	for (size_t i = 0; i < COUNT(defaults); i++) {
		const struct metric *metric = metric_find(session, defaults[i].name);

		if (metric_available(session, metric))
			add_choice(list, metric, defaults[i].flavor, defaults[i].visibility);
	}
	for (size_t i = 0; i < session->counters.count; i++)
		add_default_counter(list, &session->counters.items[i]);
	add_choice(list, metric_find(session, "name"), FLAVOR_STATIC, 0);
}
