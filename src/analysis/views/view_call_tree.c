/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree with attributed metrics.  The nodes that are shown are linked to their parents,
 * siblings in display order: two numbers for each, which the walk follows without a stack.
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
	uint64_t **values; /* by column; NULL: static */
	uint32_t *child;   /* by node: its first child that is shown; NODE_ROOT: there is none */
	uint32_t *sibling; /* … the next one of its parent; likewise */
};

/* What a node is sorted by; sort: values by node, NULL: static. */
static struct sort_key key_of(const struct tree_view *view, const uint64_t *sort, uint32_t node)
{
	const struct query *query = view->query;
	const struct session *session = view->tally->session;
	uint32_t function = view->tally->shape->tree->nodes.items[node].function;

	if (query->sort.metric->unit == UNIT_TEXT)
		return sort_key_of(query, 0,
				   symbols_name(view->tally->session, function, query->name_style),
				   node);
	return sort_key_of(query,
			   sort ? (double)sort[node]
				: values_static(session, function, query->sort.metric),
			   NULL, node);
}

struct sort_keys {
	VEC(struct sort_key) keys;
};

static void order_siblings(struct tree_view *view, uint32_t parent, const uint64_t *sort,
			   struct sort_keys *keys)
{
	uint32_t *link = &view->child[parent];

	keys->keys.count = 0;
	for (uint32_t node = *link; node != NODE_ROOT; node = view->sibling[node])
		*vec_push(&keys->keys) = key_of(view, sort, node);
	table_sort(keys->keys.items, keys->keys.count, view->query);
	for (size_t i = 0; i < keys->keys.count; i++) {
		*link = keys->keys.items[i].index;
		link = &view->sibling[*link];
	}
	*link = NODE_ROOT;
}

static void order_children(struct tree_view *view, const uint64_t *sort)
{
	size_t count = view->tally->shape->tree->nodes.count;
	struct sort_keys keys = {0};

	for (uint32_t i = 0; i < count; i++)
		if (view->child[i] != NODE_ROOT && view->sibling[view->child[i]] != NODE_ROOT)
			order_siblings(view, i, sort, &keys);
	vec_fini(&keys.keys);
}

static void fill_row(struct tree_view *view, size_t index, uint32_t node, uint32_t depth, bool last)
{
	struct row *row = &view->table->rows[index];
	const struct tree_node *entry = &view->tally->shape->tree->nodes.items[node];

	table_name_row(view->tally, view->query, view->table, entry->function, row);
	row->id = node;
	row_set_tree(row, entry->parent, depth);
	row->last_child = last;
}

/* Depth first. */
static void fill_rows(struct tree_view *view)
{
	const struct tree_node *nodes = view->tally->shape->tree->nodes.items;
	uint32_t node = NODE_ROOT, depth = 0;

	fill_row(view, 0, NODE_ROOT, 0, true);
	for (size_t index = 1; index < view->table->row_count; index++) {
		if (view->child[node] != NODE_ROOT) {
			node = view->child[node];
			depth++;
		} else {
			for (; view->sibling[node] == NODE_ROOT; depth--)
				node = nodes[node].parent;
			node = view->sibling[node];
		}
		fill_row(view, index, node, depth, view->sibling[node] == NODE_ROOT);
	}
}

/* Of a column: its numbers by node are used up. */
static void fill_values(struct tree_view *view, size_t column)
{
	struct table *table = view->table;
	const struct tree_node *nodes = view->tally->shape->tree->nodes.items;
	const struct metric *metric = table->columns[column].choice.metric;
	const uint64_t *values = view->values[column];
	double *value = table->values + column;

	for (size_t i = 0; i < table->row_count; i++, value += table->column_count) {
		uint32_t node = table->rows[i].id;

		*value = values ? values_convert(metric, values[node])
				: values_static(view->tally->session, nodes[node].function, metric);
	}
	free(view->values[column]);
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
static bool *choose_nodes(const struct tree_view *view, const struct tree_part *part)
{
	const struct tree_node *nodes = view->tally->shape->tree->nodes.items;
	size_t count = view->tally->shape->tree->nodes.count;
	uint64_t *any = subtree_values(view->tally, &values_any);
	uint64_t *values = subtree_values(view->tally, tree_part_metric(view->query));
	uint32_t *depth = xcalloc(count, sizeof(*depth));
	bool *open = part->hottest ? hottest_branch(view->tally, values) : NULL;
	bool *shown = xcalloc(count, sizeof(*shown));
	double least = part->percent / 100 * (double)values[NODE_ROOT];

	shown[NODE_ROOT] = true;
	for (size_t i = 1; i < count; i++) {
		uint32_t parent = nodes[i].parent;

		depth[i] = depth[parent] + 1;
		shown[i] = any[i] && shown[parent] && (double)values[i] >= least &&
			   (!part->depth || depth[i] <= part->depth) && (!open || open[parent]);
	}
	free(open);
	free(depth);
	free(values);
	free(any);
	return shown;
}

/* Links the nodes that are shown, siblings by their numbers; how many they are. */
static size_t link_nodes(struct tree_view *view, const struct tree_part *part)
{
	const struct tree_node *nodes = view->tally->shape->tree->nodes.items;
	size_t count = view->tally->shape->tree->nodes.count, rows = 1;
	bool *shown = choose_nodes(view, part);

	view->child = xcalloc(count, sizeof(*view->child));
	view->sibling = xcalloc(count, sizeof(*view->sibling));
	for (size_t i = count; --i;) {
		if (!shown[i])
			continue;
		view->sibling[i] = view->child[nodes[i].parent];
		view->child[nodes[i].parent] = (uint32_t)i;
		rows++;
	}
	free(shown);
	return rows;
}

static void view_top_down(struct tally *tally, const struct query *query,
			  const struct tree_part *part, struct table *table)
{
	struct tree_view view = {.tally = tally, .query = query, .table = table};
	size_t rows = link_nodes(&view, part);
	size_t column = table_column_of(table, query->sort.metric);
	uint64_t *sort = NULL; /* where no column has the values */

	view.values = xcalloc(table->column_count + 1, sizeof(*view.values));
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].choice.metric->is_static)
			view.values[i] = subtree_values(tally, table->columns[i].choice.metric);
	if (column == SIZE_MAX && !query->sort.metric->is_static)
		sort = subtree_values(tally, query->sort.metric);
	order_children(&view, column == SIZE_MAX ? sort : view.values[column]);
	free(sort);
	table_set_rows(table, query->limit && rows > query->limit ? query->limit : rows);
	fill_rows(&view);
	free(view.child);
	free(view.sibling);
	for (size_t i = 0; i < table->column_count; i++)
		fill_values(&view, i);
	free(view.values);
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
