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

enum { PAIR_NONE = UINT32_MAX };

/* A row: what `other` is to `function`. */
struct pair {
	uint32_t function;
	uint32_t other;
	enum row_mark mark;
};

struct callers_view {
	struct tally *tally;
	const struct query *query;
	struct table *table;
	VEC(struct pair) pairs;
	uint32_t *caller_pair; /* by node: the pair that own[node] counts for */
	uint32_t *callee_pair; /* … that below[node] counts for */
	uint64_t **values;     /* by column, then pair; NULL: static */
	const uint64_t *sort;  /* by pair; NULL: static */
	uint32_t *start;       /* by function: its first pair in `ordered` */
	uint32_t *ordered;     /* pairs by function, callers before callees, each sorted */
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

static uint32_t intern_pair(struct callers_view *view, struct hash_map *known, uint32_t function,
			    uint32_t other, enum row_mark mark)
{
	uint32_t fresh = (uint32_t)view->pairs.count;
	uint32_t pair = hash_map_put(known, (uint64_t)function << 32 | other, fresh);

	if (pair == fresh)
		*vec_push(&view->pairs) = (struct pair){function, other, mark};
	return pair;
}

static void find_pairs(struct callers_view *view)
{
	const struct tree_node *nodes = view->tally->shape->tree->nodes.items;
	size_t count = view->tally->shape->tree->nodes.count;
	struct hash_map callers = {0}, callees = {0};
	uint64_t *own, *below;

	attribute_nodes(view->tally, &values_any, &own, &below);
	view->caller_pair = xmalloc(count * sizeof(uint32_t));
	view->callee_pair = xmalloc(count * sizeof(uint32_t));
	view->caller_pair[NODE_ROOT] = view->callee_pair[NODE_ROOT] = PAIR_NONE;
	for (size_t i = 1; i < count; i++) {
		uint32_t self = nodes[i].function, parent = nodes[nodes[i].parent].function;

		view->caller_pair[i] =
			own[i] ? intern_pair(view, &callers, self, parent, ROW_CALLER) : PAIR_NONE;
		view->callee_pair[i] =
			below[i] ? intern_pair(view, &callees, parent, self, ROW_CALLEE)
				 : PAIR_NONE;
	}
	hash_map_fini(&callers);
	hash_map_fini(&callees);
	free(own);
	free(below);
}

static uint64_t *pair_values(struct callers_view *view, const struct metric *metric)
{
	uint64_t *values = xcalloc(view->pairs.count, sizeof(*values));
	uint64_t *own, *below;

	attribute_nodes(view->tally, metric, &own, &below);
	for (size_t i = 1; i < view->tally->shape->tree->nodes.count; i++) {
		if (view->caller_pair[i] != PAIR_NONE)
			values[view->caller_pair[i]] += own[i];
		if (view->callee_pair[i] != PAIR_NONE)
			values[view->callee_pair[i]] += below[i];
	}
	free(own);
	free(below);
	return values;
}

static void fill_key(const struct callers_view *view, struct sort_key *key, uint32_t index)
{
	uint32_t other = view->pairs.items[index].other;

	*key = (struct sort_key){.index = index};
	if (view->query->sort.metric->unit == UNIT_TEXT)
		key->text = symbols_name(view->tally->session, other, view->query->name_style);
	else if (view->sort)
		key->value = (double)view->sort[index];
	else
		key->value = values_static(view->tally->session, other, view->query->sort.metric);
}

/* Sorts pairs; keys: room for as many. */
static void sort_pairs(const struct callers_view *view, uint32_t *pairs, size_t count,
		       struct sort_key *keys)
{
	for (size_t i = 0; i < count; i++)
		fill_key(view, &keys[i], pairs[i]);
	table_sort(keys, count, view->query);
	for (size_t i = 0; i < count; i++)
		pairs[i] = keys[i].index;
}

/* Groups the pairs by function, callers first, and sorts both parts of each. */
static void order_pairs(struct callers_view *view)
{
	size_t groups = view->tally->session->functions.count * 2;
	uint32_t *next = xmalloc((groups + 1) * sizeof(*next)), most = 0;
	struct sort_key *keys;

	view->start = xcalloc(groups + 1, sizeof(*view->start));
	view->ordered = xmalloc((view->pairs.count + 1) * sizeof(*view->ordered));
	for (size_t i = 0; i < view->pairs.count; i++)
		view->start[view->pairs.items[i].function * 2 +
			    (view->pairs.items[i].mark == ROW_CALLEE) + 1]++;
	for (size_t i = 0; i < groups; i++)
		view->start[i + 1] += view->start[i];
	memcpy(next, view->start, (groups + 1) * sizeof(*next));
	for (uint32_t i = 0; i < view->pairs.count; i++) {
		const struct pair *pair = &view->pairs.items[i];
		uint32_t group = pair->function * 2 + (pair->mark == ROW_CALLEE);

		view->ordered[next[group]++] = i;
	}
	for (size_t i = 0; i < groups; i++)
		most = view->start[i + 1] - view->start[i] > most
			       ? view->start[i + 1] - view->start[i]
			       : most;
	keys = xmalloc((most + 1) * sizeof(*keys));
	for (size_t i = 0; i < groups; i++)
		sort_pairs(view, view->ordered + view->start[i],
			   view->start[i + 1] - view->start[i], keys);
	free(keys);
	free(next);
}

static void fill_row(struct callers_view *view, size_t index, uint32_t block, uint32_t function,
		     enum row_mark mark, uint32_t pair)
{
	struct session *session = view->tally->session;
	struct table *table = view->table;
	struct row *row = &table->rows[index];

	table_name_row(view->tally, view->query, table, function, row);
	row->id = function;
	row->block = block;
	row->mark = mark;
	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric *metric = table->columns[i].choice.metric;
		double *value = &table->values[index * table->column_count + i];

		if (metric->is_static)
			*value = values_static(session, function, metric);
		else if (pair != PAIR_NONE)
			*value = values_convert(metric, view->values[i][pair]);
		else
			*value = values_convert(
				metric, values_exclusive(values_of_functions(view->tally, metric),
							 function));
	}
}

static size_t fill_block(struct callers_view *view, size_t index, uint32_t block, uint32_t function)
{
	const uint32_t *start = &view->start[(size_t)function * 2];
	struct table *table = view->table;

	for (uint32_t i = start[0]; i < start[2]; i++) {
		const struct pair *pair = &view->pairs.items[view->ordered[i]];

		if (i == start[1])
			fill_row(view, index++, block, function, ROW_CENTER, PAIR_NONE);
		fill_row(view, index++, block, pair->other, pair->mark, view->ordered[i]);
	}
	if (start[1] == start[2])
		fill_row(view, index++, block, function, ROW_CENTER, PAIR_NONE);
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
	uint64_t *sort = NULL; /* where no column has the values */
	size_t column;

	(void)arg;
	table_init(table, query, COLUMNS_ATTRIBUTED);
	table->title = "Callers and callees";
	column = table_column_of(table, query->sort.metric);
	tree_link(tally->shape->tree, tally->session->functions.count);
	find_pairs(&view);
	view.values = xcalloc(table->column_count, sizeof(*view.values));
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].choice.metric->is_static)
			view.values[i] = pair_values(&view, table->columns[i].choice.metric);
	if (column == SIZE_MAX && !query->sort.metric->is_static)
		sort = pair_values(&view, query->sort.metric);
	free(view.caller_pair);
	free(view.callee_pair);
	view.sort = column == SIZE_MAX ? sort : view.values[column];
	order_pairs(&view);
	free(sort);
	fill_table(&view);
	for (size_t i = 0; i < table->column_count; i++)
		free(view.values[i]);
	free(view.values);
	free(view.ordered);
	free(view.start);
	vec_fini(&view.pairs);
}

void view_callers_callees(struct session *session, const struct query *query, struct table *table)
{
	view_run(session, query, &(struct view){.fill = fill_callers, .identity = ROWS_BY_ID},
		 table);
}
