/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/io_metrics.h"

#include "base/memory.h"

#include <stdlib.h>

static bool is_of_io(const struct metric *metric)
{
	return metric_trace(metric) == TRACE_IO;
}

bool io_metric(const struct session *session, const struct metric *metric)
{
	return is_of_io(metric) &&
	       (metric->measure != MEASURE_IO_REQUESTS || session->present[MEASURE_IO_REQUESTS]);
}

static void add_all(const struct session *session, struct metric_list *list)
{
	const struct metric *metric;

	for (size_t i = 0; (metric = metric_catalogue(session, i)); i++)
		if (io_metric(session, metric))
			*vec_push(list) = (struct metric_choice){
				.metric = metric,
				.flavor = FLAVOR_EXCLUSIVE,
				.visibility = metric->unit == UNIT_SECONDS ? VISIBLE_TIME
									   : VISIBLE_VALUE};
}

struct query io_query(const struct session *session, const struct query *query)
{
	struct query of_io = *query;
	const struct metric *sort = query->sort.metric;
	/* Unchosen, functions have columns of other kinds of data, too, and so times only. */
	size_t chosen = query_has_default_metrics(query, session) ? 0 : query->metrics.count;

	of_io.metrics = (struct metric_list){0};
	for (size_t i = 0; i < chosen; i++)
		if (is_of_io(query->metrics.items[i].metric) &&
		    !(query->metrics.items[i].visibility & VISIBLE_HIDDEN))
			*vec_push(&of_io.metrics) = query->metrics.items[i];
	bool all = !of_io.metrics.count;

	if (all)
		add_all(session, &of_io.metrics);
	if (!is_of_io(sort) && sort->unit != UNIT_TEXT)
		of_io.sort = of_io.metrics.items[0];
	if (of_io.sort.metric != sort && all)
		of_io.sort.metric = metric_find(session, "ioreadtime");
	of_io.sort.flavor = FLAVOR_EXCLUSIVE;
	*vec_push(&of_io.metrics) = (struct metric_choice){.metric = metric_find(session, "name"),
							   .visibility = VISIBLE_VALUE};
	return of_io;
}
