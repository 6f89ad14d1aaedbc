/* SPDX-License-Identifier: Apache-2.0 */
/* From weights of tree nodes to values of metrics, in whole units: sums are exact. */
#include "analysis/metric/metric_values.h"

#include "analysis/cache/cache_file.h"
#include "analysis/session/functions.h"
#include "analysis/tree/tally.h"
#include "analysis/tree/tree.h"

#include <stdlib.h>
#include <string.h>

const struct metric values_any = {.command = "any", .title = "Any", .measure = MEASURE_NONE};

bool values_has(const struct metric *metric, size_t measure)
{
	if (metric->states)
		return measure < PROFILE_STATES && metric->states >> measure & 1;
	if (metric->unit == UNIT_RATIO && metric->divisor == measure)
		return true;
	return metric->measure == MEASURE_NONE || metric->measure == measure;
}

/*
 * A quotient is two sums in one: the upper half is divided by the lower at the end, so that it adds
 * up like any other on the way.
 */
uint64_t values_part(const struct metric *metric, size_t measure, uint64_t weight)
{
	if (metric->unit != UNIT_RATIO)
		return weight;
	return weight >> metric->scale << (measure == metric->measure ? 32 : 0);
}

static void add_weights(uint64_t *values, const struct metric *metric, size_t measure,
			const struct finished_sums *sums)
{
	struct finished_walk walk = finished_begin(sums, (enum measure)measure);

	while (finished_next(&walk))
		values[walk.node] += values_part(metric, measure, walk.sum);
}

uint64_t *values_of_sums(const struct finished_sums *sums, const struct metric *metric)
{
	uint64_t *values = xcalloc(sums->nodes + 1, sizeof(*values));

	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (values_has(metric, i))
			add_weights(values, metric, i, sums);
	return values;
}

static uint64_t *values_of_kept(const struct kept_sums *sums, const struct metric *metric)
{
	uint64_t *values = xcalloc(sums->nodes + 1, sizeof(*values));
	uint64_t *weights = xmalloc((sums->nodes + 1) * sizeof(*weights));

	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (values_has(metric, i) && cache_values(sums, (enum measure)i, weights))
			for (size_t node = 0; node < sums->nodes; node++)
				values[node] += values_part(metric, i, weights[node]);
	free(weights);
	return values;
}

uint64_t *values_self(const struct tally *tally, const struct metric *metric)
{
	return tally->session->has_no_events ? values_of_kept(&tally->shape->whole->kept, metric)
					     : values_of_sums(&tally->weights, metric);
}

uint64_t values_at(const struct measure_sums *sums, size_t place, const struct metric *metric)
{
	uint64_t value = 0;

	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (values_has(metric, i) && sums->of[i])
			value += values_part(metric, i, sums->of[i][place]);
	return value;
}

uint64_t values_at_finished(const struct finished_sums *sums, size_t place,
			    const struct metric *metric)
{
	uint64_t value = 0;

	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (values_has(metric, i) && finished_has(sums, (enum measure)i))
			value += values_part(metric, i, finished_at(sums, (enum measure)i, place));
	return value;
}

double values_convert(const struct metric *metric, uint64_t value)
{
	bool clock = metric->states || metric->measure == MEASURE_FIRST_THREAD;

	if (metric->unit == UNIT_RATIO)
		return value & UINT32_MAX ? (double)(value >> 32) / (double)(value & UINT32_MAX)
					  : 0;
	if (metric->unit != UNIT_SECONDS)
		return (double)value;
	return (double)value / (clock ? 1e6 : 1e9);
}

void values_accumulate(const struct tally *tally, uint64_t *values)
{
	const struct call_tree *tree = tally->shape->tree;

	for (size_t i = tree->nodes.count; --i;)
		values[tree->nodes.items[i].parent] += values[i];
}

const struct function_sums *values_of_functions(struct tally *tally, const struct metric *metric)
{
	struct call_tree *tree = tally->shape->tree;
	const struct tree_node *nodes = tree->nodes.items;
	size_t count = tally->session->functions.count;

	for (size_t i = 0; i < tally->sums.count; i++)
		if (tally->sums.items[i]->metric == metric)
			return tally->sums.items[i];

	struct function_sums *sums = arena_new(&tally->arena, struct function_sums);
	uint64_t *values;

	tree_link(tree, count);
	values = values_self(tally, metric);
	sums->metric = metric;
	sums->count = count;
	sums->exclusive = arena_array(&tally->arena, uint64_t, count);
	sums->inclusive = arena_array(&tally->arena, uint64_t, count);
	for (size_t i = 0; i < tree->nodes.count; i++)
		sums->exclusive[nodes[i].function] += values[i];
	values_accumulate(tally, values);
	for (size_t i = 0; i < tree->nodes.count; i++)
		if (tree->same[i] == NODE_NONE)
			sums->inclusive[nodes[i].function] += values[i];
	sums->total = values[NODE_ROOT];
	free(values);
	*vec_push(&tally->sums) = sums;
	return sums;
}

uint64_t values_exclusive(const struct function_sums *sums, uint32_t function)
{
	return function < sums->count ? sums->exclusive[function] : 0;
}

uint64_t values_inclusive(const struct function_sums *sums, uint32_t function)
{
	return function < sums->count ? sums->inclusive[function] : 0;
}

double values_static(const struct session *session, uint32_t function, const struct metric *metric)
{
	const struct function *entry = &session->functions.items[function];

	if (metric->unit == UNIT_BYTES)
		return (double)entry->size;
	return metric->unit == UNIT_ADDRESS ? (double)entry->address : 0;
}

void values_of_function(struct tally *tally, uint32_t function, const struct metric *metric,
			double *exclusive, double *inclusive, double *total)
{
	if (metric->is_static) {
		*exclusive = *inclusive = values_static(tally->session, function, metric);
		*total = 0;
		return;
	}

	const struct function_sums *sums = values_of_functions(tally, metric);

	*total = values_convert(metric, sums->total);
	*exclusive = function == FUNCTION_TOTAL
			     ? *total
			     : values_convert(metric, values_exclusive(sums, function));
	*inclusive = values_convert(metric, values_inclusive(sums, function));
}
