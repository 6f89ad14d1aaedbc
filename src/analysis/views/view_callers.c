/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers and callees.
 *
 * An event counts for the innermost occurrence of a function on its stack.
 * With total[n] the weight of node n's subtree, same[m] the nearest ancestor of
 * m with m's function, and via[m] the child of same[m] on the way to m:
 *
 *   own[n]   = total[n] - sum of total[m] over m with same[m] == n
 *              the weight for which n is the innermost occurrence of its function:
 *              what the function's caller at n's parent gets;
 *   below[c] = total[c] - sum of total[m] over m with via[m] == c
 *              the part of own[parent of c] that went through c:
 *              what c's function gets as callee of its parent's.
 *
 * Both take one pass over the nodes.  own[n] is self[n] plus below of n's
 * children, hence for every function: callers = inclusive = exclusive + callees.
 */
#include "analysis/views/view_callers.h"

#include "analysis/metric/metric_values.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/compare.h"
#include "analysis/tree/tree.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"

#include <stdlib.h>
#include <string.h>

enum { EDGE_NONE = UINT32_MAX };

/* A function and one that calls it: a caller of the one, a callee of the other. */
struct edge {
	uint32_t caller, callee;
	/* the first node whose own counts for the edge, and whose below: ties go by them */
	uint32_t first_own, first_below; /* NODE_NONE: there is none, nor such a row */
};

/* The numbers of a metric by edge: of the caller's row, and of the callee's. */
struct edge_values {
	uint64_t *own, *below; /* NULL: static */
};

struct callers_view {
	struct tally *tally;
	const struct query *query;
	struct table *table;
	VEC(struct edge) edges;	    /* by callee, then caller */
	uint32_t *edge;		    /* by node: the one from its parent */
	struct edge_values *values; /* by column */
	struct edge_values sort;
	uint32_t *start;   /* by function and side: its first edge in `ordered` */
	uint32_t *ordered; /* edges by function, callers before callees, each sorted */
};

static void attribute_nodes(const struct tally *tally, const struct metric *metric, uint64_t **own,
			    uint64_t **below)
{
	const struct call_tree *tree = tally->shape->tree;
	size_t count = tree->nodes.count;
	uint64_t *total = values_self(tally, metric);

	values_accumulate(tally, total);
	*own = xmalloc(count * sizeof(uint64_t));
	*below = xmalloc(count * sizeof(uint64_t));
	memcpy(*own, total, count * sizeof(uint64_t));
	memcpy(*below, total, count * sizeof(uint64_t));
	for (size_t i = 0; i < count; i++) {
		if (tree->same[i] == NODE_NONE)
			continue;
		(*own)[tree->same[i]] -= total[i];
		(*below)[tree->via[i]] -= total[i];
	}
	free(total);
}

static uint32_t caller_of(const struct tree_node *nodes, uint32_t node)
{
	return nodes[nodes[node].parent].function;
}

/* Puts nodes in the order of their functions, or their parents', those of one as they were. */
static void order_nodes(const struct tree_node *nodes, const uint32_t *from, uint32_t *to,
			size_t count, bool by_caller, uint32_t *next, size_t functions)
{
	memset(next, 0, (functions + 1) * sizeof(*next));
	for (size_t i = 0; i < count; i++)
		next[(by_caller ? caller_of(nodes, from[i]) : nodes[from[i]].function) + 1]++;
	for (size_t i = 0; i < functions; i++)
		next[i + 1] += next[i];
	for (size_t i = 0; i < count; i++)
		to[next[by_caller ? caller_of(nodes, from[i]) : nodes[from[i]].function]++] =
			from[i];
}

/* All nodes but the root by callee, then caller, then number; the caller frees the array. */
static uint32_t *nodes_by_edge(const struct callers_view *view)
{
	const struct call_tree *tree = view->tally->shape->tree;
	size_t count = tree->nodes.count - 1, functions = view->tally->session->functions.count;
	uint32_t *next = xmalloc((functions + 1) * sizeof(*next));
	uint32_t *nodes = xmalloc((count + 1) * sizeof(*nodes));
	uint32_t *by_caller = xmalloc((count + 1) * sizeof(*by_caller));

	for (uint32_t i = 0; i < count; i++)
		nodes[i] = i + 1;
	order_nodes(tree->nodes.items, nodes, by_caller, count, true, next, functions);
	order_nodes(tree->nodes.items, by_caller, nodes, count, false, next, functions);
	free(by_caller);
	free(next);
	return nodes;
}

static void find_edges(struct callers_view *view)
{
	const struct tree_node *nodes = view->tally->shape->tree->nodes.items;
	size_t count = view->tally->shape->tree->nodes.count;
	uint32_t *order = nodes_by_edge(view);
	struct edge *last = NULL;
	uint64_t *own, *below;

	view->edge = xmalloc(count * sizeof(*view->edge));
	view->edge[NODE_ROOT] = EDGE_NONE;
	attribute_nodes(view->tally, &values_any, &own, &below);
	for (size_t i = 0; i + 1 < count; i++) {
		uint32_t node = order[i], caller = caller_of(nodes, node);

		if (!own[node] && !below[node]) {
			view->edge[node] = EDGE_NONE;
			continue;
		}
		if (!last || last->callee != nodes[node].function || last->caller != caller) {
			last = vec_push(&view->edges);
			*last = (struct edge){caller, nodes[node].function, NODE_NONE, NODE_NONE};
		}
		view->edge[node] = (uint32_t)view->edges.count - 1;
		if (own[node] && last->first_own == NODE_NONE)
			last->first_own = node;
		if (below[node] && last->first_below == NODE_NONE)
			last->first_below = node;
	}
	free(order);
	free(own);
	free(below);
}

static struct edge_values edge_values(struct callers_view *view, const struct metric *metric)
{
	struct edge_values values = {.own = xcalloc(view->edges.count + 1, sizeof(uint64_t)),
				     .below = xcalloc(view->edges.count + 1, sizeof(uint64_t))};
	uint64_t *own, *below;

	attribute_nodes(view->tally, metric, &own, &below);
	for (size_t i = 1; i < view->tally->shape->tree->nodes.count; i++)
		if (view->edge[i] != EDGE_NONE) {
			values.own[view->edge[i]] += own[i];
			values.below[view->edge[i]] += below[i];
		}
	free(own);
	free(below);
	return values;
}

static void free_values(struct edge_values values)
{
	free(values.own);
	free(values.below);
}

/* What the rows of a side are sorted by; edges are met in the order of their first nodes. */
static void fill_key(const struct callers_view *view, struct sort_key *key, uint32_t index,
		     bool callees)
{
	const struct edge *edge = &view->edges.items[index];
	const uint64_t *sort = callees ? view->sort.below : view->sort.own;
	uint32_t other = callees ? edge->callee : edge->caller;

	*key = (struct sort_key){.index = callees ? edge->first_below : edge->first_own};
	if (view->query->sort.metric->unit == UNIT_TEXT)
		key->text = symbols_name(view->tally->session, other, view->query->name_style);
	else if (sort)
		key->value = (double)sort[index];
	else
		key->value = values_static(view->tally->session, other, view->query->sort.metric);
}

/* Sorts edges of a side; keys: room for as many. */
static void sort_edges(const struct callers_view *view, uint32_t *edges, size_t count, bool callees,
		       struct sort_key *keys)
{
	for (size_t i = 0; i < count; i++)
		fill_key(view, &keys[i], edges[i], callees);
	table_sort(keys, count, view->query);
	for (size_t i = 0; i < count; i++)
		edges[i] = view->edge[keys[i].index];
}

/* Counts the edges of each function and side into `start`, as the ends of those before. */
static void count_edges(struct callers_view *view, size_t groups)
{
	view->start = xcalloc(groups + 1, sizeof(*view->start));
	for (size_t i = 0; i < view->edges.count; i++) {
		const struct edge *edge = &view->edges.items[i];

		view->start[edge->callee * 2 + 1] += edge->first_own != NODE_NONE;
		view->start[edge->caller * 2 + 2] += edge->first_below != NODE_NONE;
	}
	for (size_t i = 0; i < groups; i++)
		view->start[i + 1] += view->start[i];
}

/* Groups the edges by function, callers first, and sorts both parts of each. */
static void order_edges(struct callers_view *view)
{
	size_t groups = view->tally->session->functions.count * 2, most = 0;
	uint32_t *next = xmalloc((groups + 1) * sizeof(*next));
	struct sort_key *keys;

	count_edges(view, groups);
	view->ordered = xmalloc((view->start[groups] + 1) * sizeof(*view->ordered));
	memcpy(next, view->start, (groups + 1) * sizeof(*next));
	for (uint32_t i = 0; i < view->edges.count; i++) {
		const struct edge *edge = &view->edges.items[i];

		if (edge->first_own != NODE_NONE)
			view->ordered[next[edge->callee * 2]++] = i;
		if (edge->first_below != NODE_NONE)
			view->ordered[next[edge->caller * 2 + 1]++] = i;
	}
	free(next);
	for (size_t i = 0; i < groups; i++)
		if (view->start[i + 1] - view->start[i] > most)
			most = view->start[i + 1] - view->start[i];
	keys = xmalloc((most + 1) * sizeof(*keys));
	for (size_t i = 0; i < groups; i++)
		sort_edges(view, view->ordered + view->start[i],
			   view->start[i + 1] - view->start[i], i % 2, keys);
	free(keys);
}

/* The value of a row: of an edge, or the function's own. */
static double value_of(const struct callers_view *view, size_t column, uint32_t function,
		       enum row_mark mark, uint32_t edge)
{
	const struct metric *metric = view->table->columns[column].choice.metric;
	const struct edge_values *values = &view->values[column];

	if (metric->is_static)
		return values_static(view->tally->session, function, metric);
	if (mark == ROW_CENTER)
		return values_convert(
			metric,
			values_exclusive(values_of_functions(view->tally, metric), function));
	return values_convert(metric, (mark == ROW_CALLER ? values->own : values->below)[edge]);
}

static void fill_row(struct callers_view *view, size_t index, uint32_t block, uint32_t function,
		     enum row_mark mark, uint32_t edge)
{
	struct table *table = view->table;
	struct row *row = &table->rows[index];

	table_name_row(view->tally, view->query, table, function, row);
	row->id = function;
	row_set_block(row, block);
	row->mark = mark;
	for (size_t i = 0; i < table->column_count; i++)
		table->values[index * table->column_count + i] =
			value_of(view, i, function, mark, edge);
}

static size_t fill_block(struct callers_view *view, size_t index, uint32_t block, uint32_t function)
{
	const uint32_t *start = &view->start[(size_t)function * 2];
	struct table *table = view->table;

	for (uint32_t i = start[0]; i < start[1]; i++)
		fill_row(view, index++, block, view->edges.items[view->ordered[i]].caller,
			 ROW_CALLER, view->ordered[i]);
	fill_row(view, index++, block, function, ROW_CENTER, EDGE_NONE);
	for (uint32_t i = start[1]; i < start[2]; i++)
		fill_row(view, index++, block, view->edges.items[view->ordered[i]].callee,
			 ROW_CALLEE, view->ordered[i]);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric *metric = table->columns[i].choice.metric;

		if (!metric->is_static)
			table->block_base[(size_t)block * table->column_count + i] = values_convert(
				metric, values_inclusive(values_of_functions(view->tally, metric),
							 function));
	}
	return index;
}

/* Which blocks to show, in order; the caller frees the array. */
static uint32_t *choose_blocks(struct callers_view *view, size_t *count)
{
	struct metric_choice sort = view->query->sort;

	sort.flavor = table_sort_flavor(view->query, COLUMNS_AS_ASKED);

	struct sort_key *keys = functions_ordered(view->tally, view->query, &sort, count);
	uint32_t *blocks = xmalloc((*count + 1) * sizeof(*blocks));

	blocks[0] = FUNCTION_TOTAL;
	for (size_t i = 0; i < *count; i++)
		blocks[i + 1] = keys[i].index;
	free(keys);
	++*count;
	if (view->query->limit && *count > view->query->limit)
		*count = view->query->limit;
	return blocks;
}

static void fill_table(struct callers_view *view)
{
	struct table *table = view->table;
	size_t count, rows = 0, index = 0;
	uint32_t *blocks = choose_blocks(view, &count);

	for (size_t i = 0; i < count; i++)
		rows += view->start[blocks[i] * 2 + 2] - view->start[blocks[i] * 2] + 1;
	table_set_rows(table, rows);
	table->block_base = arena_array(&table->arena, double, count * table->column_count);
	for (size_t i = 0; i < count; i++)
		index = fill_block(view, index, (uint32_t)i, blocks[i]);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric *metric = table->columns[i].choice.metric;

		if (!metric->is_static)
			table->base[i] = values_convert(
				metric, values_of_functions(view->tally, metric)->total);
	}
	free(blocks);
}

static void fill_callers(struct tally *tally, const struct query *query, const void *arg,
			 struct table *table)
{
	struct callers_view view = {.tally = tally, .query = query, .table = table};
	bool sort_is_own = false; /* no column has the values */
	size_t column;

	(void)arg;
	table_init(table, query, COLUMNS_ATTRIBUTED);
	table->title = "Callers and callees";
	column = table_column_of(table, query->sort.metric);
	tree_link(tally->shape->tree, tally->session->functions.count);
	find_edges(&view);
	view.values = xcalloc(table->column_count + 1, sizeof(*view.values));
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].choice.metric->is_static)
			view.values[i] = edge_values(&view, table->columns[i].choice.metric);
	if (column == SIZE_MAX)
		sort_is_own = !query->sort.metric->is_static;
	else
		view.sort = view.values[column];
	if (sort_is_own)
		view.sort = edge_values(&view, query->sort.metric);
	order_edges(&view);
	free(view.edge);
	if (sort_is_own)
		free_values(view.sort);
	fill_table(&view);
	for (size_t i = 0; i < table->column_count; i++)
		free_values(view.values[i]);
	free(view.values);
	free(view.ordered);
	free(view.start);
	vec_fini(&view.edges);
}

void view_callers_callees(struct session *session, const struct query *query, struct table *table)
{
	view_run(session, query, &(struct view){.fill = fill_callers, .identity = ROWS_BY_ID},
		 table);
}
