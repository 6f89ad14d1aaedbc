/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of metrics and their order: what becomes of them where a view or a session cannot use them.
 */
#include "analysis/metric/metric.h"
#include "analysis/session/query.h"
#include "base/memory.h"

#include <stdlib.h>

bool metric_list_shows(const struct metric_list *list, const struct metric *metric, int flavor)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].metric == metric &&
		    (flavor == FLAVOR_ANY || (int)list->items[i].flavor == flavor) &&
		    !(list->items[i].visibility & VISIBLE_HIDDEN))
			return true;
	return false;
}

struct metric_choice metric_choice_in(struct metric_choice choice, enum metric_flavor flavor)
{
	if (choice.metric && choice.flavor != FLAVOR_STATIC)
		choice.flavor = flavor;
	return choice;
}

void metric_list_in(const struct metric_list *from, enum metric_flavor flavor,
		    struct metric_list *to)
{
	for (size_t i = 0; i < from->count; i++) {
		struct metric_choice choice = metric_choice_in(from->items[i], flavor);
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

static bool same_choices(const struct metric_list *a, const struct metric_list *b)
{
	bool same = a->count == b->count;

	for (size_t i = 0; same && i < a->count; i++)
		same = a->items[i].metric == b->items[i].metric &&
		       a->items[i].flavor == b->items[i].flavor &&
		       a->items[i].visibility == b->items[i].visibility;
	return same;
}

bool query_has_default_metrics(const struct query *query, const struct session *session)
{
	struct metric_list defaults = {0};

	session_default_metrics(session, NULL, &defaults);
	bool same = !query->default_metrics && same_choices(&defaults, &query->metrics);

	vec_fini(&defaults);
	return same;
}

void query_repair_sort(struct query *query)
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

struct query query_of_choices(const struct query *query, struct metric_choice *choices,
			      size_t count, size_t sort)
{
	struct query of = *query;

	of.metrics = (struct metric_list){.items = choices, .count = count, .capacity = count};
	of.sort = choices[sort];
	of.sort_reverse = false;
	of.limit = 0;
	of.compare = COMPARE_OFF;
	return of;
}

bool metric_list_carry(struct metric_list *metrics, struct metric_choice *sort,
		       const struct session *to, struct diag_list *diags)
{
	char *text = metric_list_text(metrics);
	char *sort_text = sort->metric ? metric_choice_text(sort) : NULL;
	struct metric_list fresh = {0};
	struct metric_choice choice = {0};
	struct diag_list doubts = {0};
	bool reverse, known;

	known = (!metrics->count || !metric_list_parse(to, NULL, text, &fresh, &doubts)) &&
		(!sort_text || !metric_sort_parse(to, sort_text, &choice, &reverse, &doubts));
	if (!known) {
		diag_add(diags, DIAG_WARNING, "The metrics are the usual ones again: %s",
			 doubts.items[0].text);
		vec_fini(&fresh);
		choice.metric = NULL;
	}
	vec_fini(metrics);
	*metrics = fresh;
	*sort = choice;
	diag_fini(&doubts);
	free(sort_text);
	free(text);
	return known;
}

void query_carry_metrics(struct query *query, const struct session *to, struct diag_list *diags)
{
	bool reverse = query->sort_reverse;

	if (metric_list_carry(&query->metrics, &query->sort, to, diags))
		return;
	query_set_default_metrics(query, to);
	query->sort_reverse = reverse;
}
