/* SPDX-License-Identifier: Apache-2.0 */
/* From weights of tree nodes to values of metrics, in whole µs: sums are exact. */
#include "analysis/session.h"

#include <stdlib.h>
#include <string.h>

const struct metric values_any = {
	.command = "any", .title = "Any", .states = (1u << FORMAT_STATE_COUNT) - 1};

static void add_weights(uint64_t *values, const uint64_t *weights, size_t count)
{
	for (size_t i = 0; weights && i < count; i++)
		values[i] += weights[i];
}

uint64_t *values_self(const struct session *session, const struct metric *metric)
{
	size_t count = session->tree.nodes.count;
	uint64_t *values = xcalloc(count, sizeof(*values));

	if (metric->first_thread) {
		add_weights(values, session->weights[WEIGHT_FIRST_THREAD], count);
		return values;
	}
	for (size_t state = 0; state < FORMAT_STATE_COUNT; state++)
		if (metric->states >> state & 1)
			add_weights(values, session->weights[state], count);
	return values;
}

void values_accumulate(const struct session *session, uint64_t *values)
{
	const struct tree_node *nodes = session->tree.nodes.items;

	for (size_t i = session->tree.nodes.count; --i;)
		values[nodes[i].parent] += values[i];
}

const struct function_sums *values_of_functions(struct session *session,
						const struct metric *metric)
{
	const struct tree_node *nodes = session->tree.nodes.items;
	size_t count = session->tree.nodes.count;

	for (size_t i = 0; i < session->sums.count; i++)
		if (session->sums.items[i]->metric == metric)
			return session->sums.items[i];

	struct function_sums *sums = arena_new(&session->arena, struct function_sums);
	uint64_t *values = values_self(session, metric);

	tree_link(session);
	sums->metric = metric;
	sums->exclusive = arena_array(&session->arena, uint64_t, session->functions.count);
	sums->inclusive = arena_array(&session->arena, uint64_t, session->functions.count);
	for (size_t i = 0; i < count; i++)
		sums->exclusive[nodes[i].function] += values[i];
	values_accumulate(session, values);
	for (size_t i = 0; i < count; i++)
		if (session->tree.same[i] == NODE_NONE)
			sums->inclusive[nodes[i].function] += values[i];
	sums->total = values[NODE_ROOT];
	free(values);
	*vec_push(&session->sums) = sums;
	return sums;
}

double values_static(const struct session *session, uint32_t function, const struct metric *metric)
{
	const struct function *entry = &session->functions.items[function];

	if (metric->unit == UNIT_BYTES)
		return (double)entry->size;
	return metric->unit == UNIT_ADDRESS ? (double)entry->address : 0;
}

void session_function_values(struct session *session, uint32_t function,
			     const struct metric *metric, double *exclusive, double *inclusive,
			     double *total)
{
	if (metric->is_static) {
		*exclusive = *inclusive = values_static(session, function, metric);
		*total = 0;
		return;
	}

	const struct function_sums *sums = values_of_functions(session, metric);

	*total = (double)sums->total / 1e6;
	*exclusive = function == FUNCTION_TOTAL ? *total : (double)sums->exclusive[function] / 1e6;
	*inclusive = (double)sums->inclusive[function] / 1e6;
}
