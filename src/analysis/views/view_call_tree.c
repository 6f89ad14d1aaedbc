/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree with attributed metrics.  Nodes are sorted once, all together,
 * by (parent, value): siblings then lie side by side in display order, and the
 * walk needs no list per node.
 */
#include "analysis/views/view_call_tree.h"

#include "analysis/metric/metric_values.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/compare.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"
#include "analysis/views/view_tree.h"

#include <stdlib.h>
#include <string.h>

struct tree_view {
	struct tally *tally;
	const struct query *query;
	struct table *table;
	bool *shown;	   /* by node */
	uint64_t **values; /* by column; NULL: static */
	uint32_t *start;   /* first child of a node in `keys` */
	struct sort_key *keys;
};

static double key_value(struct tree_view *view, const uint64_t *sort, uint32_t node)
{
	if (sort)
		return (double)sort[node];
	return values_static(view->tally->session,
			     view->tally->shape->tree->nodes.items[node].function,
			     view->query->sort.metric);
}

/* Groups the nodes by parent (counting sort), then sorts each group. */
static void order_children(struct tree_view *view, const uint64_t *sort)
{
	const struct call_tree *tree = view->tally->shape->tree;
	size_t count = tree->nodes.count;
	bool by_name = view->query->sort.metric->unit == UNIT_TEXT;
	uint32_t *next = xcalloc(count + 1, sizeof(*next));

	view->start = xcalloc(count + 1, sizeof(*view->start));
	view->keys = xmalloc(count * sizeof(*view->keys));
	for (size_t i = 1; i < count; i++)
		if (view->shown[i])
			view->start[tree->nodes.items[i].parent + 1]++;
	for (size_t i = 0; i < count; i++)
		view->start[i + 1] += view->start[i];
	memcpy(next, view->start, (count + 1) * sizeof(*next));
	for (uint32_t i = 1; i < count; i++) {
		if (!view->shown[i])
			continue;

		struct sort_key *key = &view->keys[next[tree->nodes.items[i].parent]++];

		*key = (struct sort_key){.index = i};
		if (by_name)
			key->text =
				symbols_name(view->tally->session, tree->nodes.items[i].function,
					     view->query->name_style);
		else
			key->value = key_value(view, sort, i);
	}
	for (size_t i = 0; i < count; i++)
		table_sort(view->keys + view->start[i], view->start[i + 1] - view->start[i],
			   view->query);
	free(next);
}

static void fill_row(struct tree_view *view, size_t index, uint32_t node, uint32_t depth, bool last)
{
	struct table *table = view->table;
	struct row *row = &table->rows[index];
	const struct tree_node *entry = &view->tally->shape->tree->nodes.items[node];

	table_name_row(view->tally, view->query, table, entry->function, row);
	row->id = node;
	row->parent = entry->parent;
	row->depth = depth;
	row->last_child = last;
	for (size_t column = 0; column < table->column_count; column++)
		table->values[index * table->column_count + column] =
			view->values[column] ? values_convert(table->columns[column].choice.metric,
							      view->values[column][node])
					     : values_static(view->tally->session, entry->function,
							     table->columns[column].choice.metric);
}

/* Depth first; start[node] serves as the position of the next child to show. */
static void fill_rows(struct tree_view *view)
{
	const struct call_tree *tree = view->tally->shape->tree;
	struct table *table = view->table;
	uint32_t *end = xmalloc(tree->nodes.count * sizeof(*end));
	uint32_t node = NODE_ROOT, depth = 0;

	memcpy(end, view->start + 1, tree->nodes.count * sizeof(*end));
	fill_row(view, 0, NODE_ROOT, 0, true);
	for (size_t index = 1; index < table->row_count;) {
		if (view->start[node] == end[node]) {
			node = tree->nodes.items[node].parent;
			depth--;
			continue;
		}

		uint32_t position = view->start[node]++;

		depth++;
		fill_row(view, index++, view->keys[position].index, depth,
			 position + 1 == end[node]);
		node = view->keys[position].index;
	}
	free(end);
}

static uint64_t *subtree_values(const struct tally *tally, const struct metric *metric)
{
	uint64_t *values = values_self(tally, metric);

	values_accumulate(tally, values);
	return values;
}

/* From <Total> the most expensive child, and so on: marks the nodes whose children are shown. */
static bool *hottest_branch(const struct tally *tally, const uint64_t *values)
{
	const struct call_tree *tree = tally->shape->tree;
	uint32_t *best = xcalloc(tree->nodes.count, sizeof(*best));
	bool *open = xcalloc(tree->nodes.count, sizeof(*open));
	uint32_t node = NODE_ROOT;

	for (uint32_t i = 1; i < tree->nodes.count; i++) {
		uint32_t *rival = &best[tree->nodes.items[i].parent];

		if (values[i] && (*rival == NODE_ROOT || values[i] > values[*rival]))
			*rival = i;
	}
	do {
		open[node] = true;
		node = best[node];
	} while (node != NODE_ROOT);
	free(best);
	return open;
}

const struct metric *tree_part_metric(const struct query *query)
{
	if (!query->sort.metric->is_static)
		return query->sort.metric;
	for (size_t i = 0; i < query->metrics.count; i++)
		if (!query->metrics.items[i].metric->is_static)
			return query->metrics.items[i].metric;
	return &values_any;
}

/* A node is shown only where its parent is: what is counted here never grows downwards. */
static size_t choose_nodes(struct tree_view *view, const struct tree_part *part)
{
	const struct tree_node *nodes = view->tally->shape->tree->nodes.items;
	size_t count = view->tally->shape->tree->nodes.count, rows = 1;
	uint64_t *any = subtree_values(view->tally, &values_any);
	uint64_t *values = subtree_values(view->tally, tree_part_metric(view->query));
	uint32_t *depth = xcalloc(count, sizeof(*depth));
	bool *open = part->hottest ? hottest_branch(view->tally, values) : NULL;
	double least = part->percent / 100 * (double)values[NODE_ROOT];

	view->shown = xcalloc(count, sizeof(*view->shown));
	view->shown[NODE_ROOT] = true;
	for (size_t i = 1; i < count; i++) {
		uint32_t parent = nodes[i].parent;

		depth[i] = depth[parent] + 1;
		view->shown[i] = any[i] && view->shown[parent] && (double)values[i] >= least &&
				 (!part->depth || depth[i] <= part->depth) &&
				 (!open || open[parent]);
		rows += view->shown[i];
	}
	free(open);
	free(depth);
	free(values);
	free(any);
	return rows;
}

static void view_top_down(struct tally *tally, const struct query *query,
			  const struct tree_part *part, struct table *table)
{
	struct tree_view view = {.tally = tally, .query = query, .table = table};
	uint64_t *sort =
		query->sort.metric->is_static ? NULL : subtree_values(tally, query->sort.metric);
	size_t rows = choose_nodes(&view, part);

	order_children(&view, sort);
	free(sort);
	view.values = xcalloc(table->column_count, sizeof(*view.values));
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].choice.metric->is_static)
			view.values[i] = subtree_values(tally, table->columns[i].choice.metric);
	table_set_rows(table, query->limit && rows > query->limit ? query->limit : rows);
	fill_rows(&view);
	for (size_t i = 0; i < table->column_count; i++)
		free(view.values[i]);
	free(view.values);
	free(view.shown);
	free(view.start);
	free(view.keys);
}

static void fill_tree(struct tally *tally, const struct query *query, const void *arg,
		      struct table *table)
{
	const struct tree_part *part = arg;

	table_init(table, query, COLUMNS_ATTRIBUTED);
	table->title = "Functions Call Tree";
	if (part->inverted)
		view_inverted_tree(tally, query, part, table);
	else
		view_top_down(tally, query, part, table);
	for (size_t i = 0; i < table->column_count; i++)
		table->base[i] = table->values[i];
}

void view_call_tree(struct session *session, const struct query *query,
		    const struct tree_part *part, struct table *table)
{
	static const struct tree_part all;
	struct tree_part whole = {.inverted = part && part->inverted};

	view_run(session, query,
		 &(struct view){.fill = fill_tree,
				.arg = part ? part : &all,
				.whole = &whole,
				.identity = whole.inverted ? ROWS_BY_PATH : ROWS_BY_ID,
				.order = ORDER_TREE},
		 table);
}
