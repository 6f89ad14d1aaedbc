/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers and callees of a stack fragment.
 *
 * One pass from the root finds for every node the nearest ancestor where the fragment ends,
 * and the child of that on the way; the node's own weight then belongs to the caller of the
 * fragment there, and to the function of that child as callee, or to the fragment itself.
 */
#include "analysis/tree/compare.h"

#include "analysis/metric/metric_values.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"
#include "analysis/views/view_callers.h"

#include <stdlib.h>
#include <string.h>

/* Of a node. */
struct place {
	uint32_t end;	 /* the nearest node at or above it where the fragment ends, or NODE_NONE */
	uint32_t caller; /* the function that called the fragment, or NODE_NONE */
	uint32_t callee; /* the function that it called, or NODE_NONE */
};

/* Of one metric; arrays by function. */
struct fragment_sums {
	uint64_t *caller, *callee;
	uint64_t own, total;
};

struct fragment_view {
	struct tally *tally;
	const struct query *query;
	struct table *table;
	const uint32_t *fragment;
	size_t count;
	struct place *places;
	struct fragment_sums any, sort;
	struct fragment_sums *columns;
};

/* Whether the path to a node ends with the fragment; then the node where that begins. */
static bool match(const struct fragment_view *view, uint32_t node, uint32_t *head)
{
	const struct tree_node *nodes = view->tally->shape->tree->nodes.items;

	for (size_t i = view->count; i--; node = nodes[node].parent) {
		if (nodes[node].function != view->fragment[i] || (node == NODE_ROOT && i))
			return false;
		*head = node;
	}
	return true;
}

static void find_places(struct fragment_view *view)
{
	const struct tree_node *nodes = view->tally->shape->tree->nodes.items;
	size_t count = view->tally->shape->tree->nodes.count;
	uint32_t head = NODE_ROOT;

	view->places = xmalloc(count * sizeof(*view->places));
	for (uint32_t i = 0; i < count; i++) {
		struct place *place = &view->places[i];

		if (i) {
			*place = view->places[nodes[i].parent];
			if (place->end == nodes[i].parent)
				place->callee = nodes[i].function;
		} else {
			*place = (struct place){NODE_NONE, NODE_NONE, NODE_NONE};
		}
		if (!match(view, i, &head))
			continue;
		place->end = i;
		place->caller = head == NODE_ROOT ? NODE_NONE : nodes[nodes[head].parent].function;
		place->callee = NODE_NONE;
	}
}

static void sums_init(struct fragment_sums *sums, const struct fragment_view *view,
		      const struct metric *metric)
{
	size_t functions = view->tally->session->functions.count;
	uint64_t *self = values_self(view->tally, metric);

	*sums = (struct fragment_sums){
		.caller = xcalloc(functions, sizeof(uint64_t)),
		.callee = xcalloc(functions, sizeof(uint64_t)),
	};
	for (size_t i = 0; i < view->tally->shape->tree->nodes.count; i++) {
		const struct place *place = &view->places[i];

		if (place->end == NODE_NONE)
			continue;
		sums->total += self[i];
		if (place->caller != NODE_NONE)
			sums->caller[place->caller] += self[i];
		if (place->callee != NODE_NONE)
			sums->callee[place->callee] += self[i];
		else
			sums->own += self[i];
	}
	free(self);
}

static void sums_fini(struct fragment_sums *sums)
{
	free(sums->caller);
	free(sums->callee);
}

static const uint64_t *by_function(const struct fragment_sums *sums, enum row_mark mark)
{
	return mark == ROW_CALLER ? sums->caller : sums->callee;
}

/* The callers or callees in order; the caller frees the array. */
static struct sort_key *order(struct fragment_view *view, enum row_mark mark, size_t *count)
{
	const uint64_t *any = by_function(&view->any, mark);
	struct sort_key *keys = xmalloc(view->tally->session->functions.count * sizeof(*keys));
	const struct metric *metric = view->query->sort.metric;

	*count = 0;
	for (uint32_t i = 0; i < view->tally->session->functions.count; i++) {
		if (!any[i])
			continue;

		struct sort_key *key = &keys[(*count)++];

		*key = (struct sort_key){.index = i};
		if (metric->unit == UNIT_TEXT)
			key->text = symbols_name(view->tally->session, i, view->query->name_style);
		else if (metric->is_static)
			key->value = values_static(view->tally->session, i, metric);
		else
			key->value = (double)by_function(&view->sort, mark)[i];
	}
	table_sort(keys, *count, view->query);
	return keys;
}

/* The functions above the last of a fragment have no values of their own. */
static void fill_row(struct fragment_view *view, size_t index, uint32_t function,
		     enum row_mark mark, bool last)
{
	struct table *table = view->table;
	struct row *row = &table->rows[index];

	table_name_row(view->tally, view->query, table, function, row);
	row->id = function;
	row->mark = mark;
	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric *metric = table->columns[i].choice.metric;
		const struct fragment_sums *sums = &view->columns[i];
		double *value = &table->values[index * table->column_count + i];

		if (metric->is_static)
			*value = values_static(view->tally->session, function, metric);
		else if (mark != ROW_CENTER)
			*value = values_convert(metric, by_function(sums, mark)[function]);
		else if (last && function != FUNCTION_TOTAL)
			*value = values_convert(metric, sums->own);
	}
}

static void fill_table(struct fragment_view *view)
{
	struct table *table = view->table;
	size_t callers, callees, index = 0;
	struct sort_key *above = order(view, ROW_CALLER, &callers);
	struct sort_key *below = order(view, ROW_CALLEE, &callees);

	table_set_rows(table, callers + view->count + callees);
	for (size_t i = 0; i < callers; i++)
		fill_row(view, index++, above[i].index, ROW_CALLER, false);
	for (size_t i = 0; i < view->count; i++)
		fill_row(view, index++, view->fragment[i], ROW_CENTER, i + 1 == view->count);
	for (size_t i = 0; i < callees; i++)
		fill_row(view, index++, below[i].index, ROW_CALLEE, false);
	table->block_base = arena_array(&table->arena, double, table->column_count);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric *metric = table->columns[i].choice.metric;

		if (metric->is_static)
			continue;
		table->block_base[i] = values_convert(metric, view->columns[i].total);
		table->base[i] =
			values_convert(metric, values_of_functions(view->tally, metric)->total);
	}
	free(above);
	free(below);
}

struct fragment {
	const uint32_t *functions;
	size_t count;
};

static void fill_fragment(struct tally *tally, const struct query *query, const void *arg,
			  struct table *table)
{
	const struct fragment *fragment = arg;
	struct fragment_view view = {.tally = tally,
				     .query = query,
				     .table = table,
				     .fragment = fragment->functions,
				     .count = fragment->count};

	table_init(table, query, COLUMNS_ATTRIBUTED);
	table->title = "Callers and callees";
	find_places(&view);
	sums_init(&view.any, &view, &values_any);
	if (!query->sort.metric->is_static)
		sums_init(&view.sort, &view, query->sort.metric);
	view.columns = xcalloc(table->column_count + 1, sizeof(*view.columns));
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].choice.metric->is_static)
			sums_init(&view.columns[i], &view, table->columns[i].choice.metric);
	fill_table(&view);
	for (size_t i = 0; i < table->column_count; i++)
		sums_fini(&view.columns[i]);
	sums_fini(&view.any);
	sums_fini(&view.sort);
	free(view.columns);
	free(view.places);
}

void view_callers_callees_of(struct session *session, const struct query *query,
			     const uint32_t *fragment, size_t count, struct table *table)
{
	const struct fragment arg = {fragment, count};

	view_run(session, query,
		 &(struct view){
			 .fill = fill_fragment, .arg = &arg, .whole = &arg, .identity = ROWS_BY_ID},
		 table);
}
