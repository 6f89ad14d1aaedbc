/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/data/memory_object.h"

#include "analysis/index/index_group.h"
#include "analysis/views/table.h"

#include <stdlib.h>

/* The query's metrics that memory objects can show, or all of them. */
static void choose_metrics(const struct session *session, const struct metric_list *from,
			   struct metric_list *to)
{
	bool any = false;

	for (size_t i = 0; i < from->count; i++)
		any |= from->items[i].metric->has_address;
	for (size_t i = 0; any && i < from->count; i++)
		if (from->items[i].metric->has_address)
			*vec_push(to) = from->items[i];
	for (size_t i = 0; !any && i < session->counters.count; i++)
		if (session->counters.items[i].has_address)
			*vec_push(to) = (struct metric_choice){&session->counters.items[i],
							       FLAVOR_EXCLUSIVE,
							       VISIBLE_VALUE | VISIBLE_PERCENT};
	if (to->count)
		*vec_push(to) = (struct metric_choice){metric_find(session, "name"), FLAVOR_STATIC,
						       VISIBLE_VALUE};
}

enum status memory_query(const struct session *session, const struct query *from, struct query *to,
			 struct diag_list *diags)
{
	*to = *from;
	to->metrics = (struct metric_list){0};
	choose_metrics(session, &from->metrics, &to->metrics);
	if (!to->metrics.count) {
		diag_add(diags, DIAG_ERROR, NO_ADDRESSES);
		return STATUS_NOTFOUND;
	}
	if (!to->sort.metric->has_address && !to->sort.metric->is_static)
		to->sort = to->metrics.items[0];
	return STATUS_OK;
}

enum status view_memory(struct session *session, size_t index, const struct query *query,
			struct table *table, struct diag_list *diags)
{
	struct query mine;
	enum status status = memory_query(session, query, &mine, diags);

	if (status != STATUS_OK)
		return status;
	index_table(session, index_object_at(session, MEMORY_OBJECTS, index), &mine, table, diags);
	vec_fini(&mine.metrics);
	return STATUS_OK;
}
