/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/java_classes.h"

#include "analysis/metric/metric.h"
#include "base/array.h"

#include <stdlib.h>

static uint32_t *number_texts(struct string_table *names, const struct experiment_trace *trace)
{
	uint32_t *numbers = xcalloc(trace->texts.count + 1, sizeof(*numbers));

	for (size_t i = 0; i < trace->texts.count; i++)
		if (trace->texts.items[i])
			numbers[i] = string_table_add(names, trace->texts.items[i]);
	return numbers;
}

const struct java_classes *java_classes_of(struct session *session)
{
	struct java_classes *classes = session->java_classes;

	if (classes)
		return classes;
	session->java_classes = classes = xcalloc(1, sizeof(*classes));
	string_table_add(&classes->names, ""); /* number 0 */
	classes->processes = session->scanned.count;
	classes->of_text = xcalloc(classes->processes + 1, sizeof(*classes->of_text));
	for (size_t i = 0; i < classes->processes; i++)
		classes->of_text[i] = number_texts(
			&classes->names, &session->scanned.items[i].process->traces[TRACE_JHEAP]);
	return classes;
}

uint32_t java_class_number(const struct java_classes *classes,
			   const struct session_process *process, uint64_t text)
{
	return text < process->process->traces[TRACE_JHEAP].texts.count
		       ? classes->of_text[process->id - 1][text]
		       : 0;
}

/* In the order of the columns. */
static const char *const heap_metrics[] = {"jlivebytes", "jlivecnt",   "jallocbytes",
					   "jalloccnt",	 "jkeptbytes", "jkeptcnt"};
enum { BY_DEFAULT = 2 };

struct query java_classes_query(const struct session *session, const struct query *query)
{
	struct query of_heap = *query;
	bool by_text = query->sort.metric->unit == UNIT_TEXT, by_heap = false;

	of_heap.metrics = (struct metric_list){0};
	if (!query_has_default_metrics(query, session) || !session->present[MEASURE_JHEAP_ALLOCS]) {
		for (size_t i = 0; i < query->metrics.count; i++)
			*vec_push(&of_heap.metrics) = query->metrics.items[i];
		return of_heap;
	}
	for (size_t i = 0; i < COUNT(heap_metrics); i++) {
		const struct metric *metric = metric_find(session, heap_metrics[i]);

		*vec_push(&of_heap.metrics) =
			(struct metric_choice){metric, FLAVOR_EXCLUSIVE, VISIBLE_VALUE};
		by_heap |= metric == query->sort.metric;
	}
	if (!query->sort_chosen || !(by_text || by_heap)) {
		of_heap.sort = of_heap.metrics.items[BY_DEFAULT];
		of_heap.sort_reverse = false;
	}
	of_heap.sort_chosen = true;
	*vec_push(&of_heap.metrics) =
		(struct metric_choice){metric_find(session, "name"), FLAVOR_STATIC, VISIBLE_VALUE};
	return of_heap;
}

void java_classes_free(struct java_classes *classes)
{
	if (!classes)
		return;
	for (size_t i = 0; i < classes->processes; i++)
		free(classes->of_text[i]);
	free(classes->of_text);
	string_table_fini(&classes->names);
	free(classes);
}
