/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree from the leaves up.
 *
 * Its nodes are never stored: a node is the set of call tree nodes with weight of their own
 * from whose stacks its path begins, a range of one array.  Going down sorts the range by the
 * next caller and cuts it into those of the children, which is done in place, so that a tree
 * of any depth takes memory for the rows that are shown and one array besides.
 */
#include "analysis/views/view_tree.h"

#include "analysis/metric/metric_values.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"
#include "analysis/views/view_call_tree.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct source {
	uint32_t node;	   /* whose weight it is */
	uint32_t at;	   /* that node or an ancestor, as far up as the walk has come */
	uint32_t function; /* of `at` */
};

/* Siblings to be shown, in order. */
struct level {
	struct group {
		uint32_t function;
		size_t first, count; /* sources */
	} * groups;
	size_t count, next;
	size_t hottest; /* the group with the greatest weight */
	uint32_t row;	/* of the parent */
};

struct inverted_view {
	struct tally *tally;
	const struct query *query;
	const struct tree_part *part;
	struct table *table;
	VEC(struct source) sources;
	VEC(struct level) levels;
	VEC(struct row) rows;
	VEC(double) values;
	uint64_t **self;  /* by column, then node; NULL: static */
	uint64_t *sort;	  /* by node; NULL: static */
	uint64_t *weight; /* by node: what `part` goes by */
	double percent;	  /* of the total of `weight`: what is less is left out, … */
	double least;	  /* … which is this weight */
};

static uint64_t sum(const struct inverted_view *view, const uint64_t *self, size_t first,
		    size_t count)
{
	uint64_t total = 0;

	for (size_t i = first; i < first + count; i++)
		total += self[view->sources.items[i].node];
	return total;
}

static void add_row(struct inverted_view *view, uint32_t function, size_t first, size_t count,
		    const struct row *place)
{
	struct row *row = vec_push(&view->rows);

	*row = *place;
	row->id = (uint32_t)view->rows.count - 1;
	table_name_row(view->tally, view->query, view->table, function, row);
	for (size_t i = 0; i < view->table->column_count; i++) {
		const struct metric *metric = view->table->columns[i].choice.metric;

		*vec_push(&view->values) =
			view->self[i]
				? values_convert(metric, sum(view, view->self[i], first, count))
				: values_static(view->tally->session, function, metric);
	}
}

static int by_function(const void *a, const void *b)
{
	const struct source *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void sort_sources(struct source *sources, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (by_function(&sources[i - 1], &sources[i]) > 0) {
			qsort(sources, count, sizeof(*sources), by_function);
			return;
		}
	}
}

static struct sort_key group_key(const struct inverted_view *view, const struct group *group,
				 uint32_t index)
{
	const struct metric *metric = view->query->sort.metric;
	struct sort_key key = {.index = index};

	if (metric->unit == UNIT_TEXT)
		key.text = symbols_name(view->tally->session, group->function,
					view->query->name_style);
	else if (view->sort)
		key.value = (double)sum(view, view->sort, group->first, group->count);
	else
		key.value = values_static(view->tally->session, group->function, metric);
	return key;
}

/* Puts the groups in order and finds the hottest of them. */
static void order_groups(const struct inverted_view *view, struct level *level)
{
	if (level->count < 2)
		return;

	struct sort_key *keys = xmalloc(level->count * sizeof(*keys));
	struct group *ordered = xmalloc(level->count * sizeof(*ordered));
	uint64_t most = 0;

	for (uint32_t i = 0; i < level->count; i++)
		keys[i] = group_key(view, &level->groups[i], i);
	table_sort(keys, level->count, view->query);
	for (size_t i = 0; i < level->count; i++) {
		ordered[i] = level->groups[keys[i].index];

		uint64_t weight = sum(view, view->weight, ordered[i].first, ordered[i].count);

		if (weight > most) {
			most = weight;
			level->hottest = i;
		}
	}
	free(level->groups);
	free(keys);
	level->groups = ordered;
}

/* The children of a row: its sources by function, those that are too small left out. */
static void open_level(struct inverted_view *view, size_t first, size_t count, uint32_t row)
{
	struct source *sources = view->sources.items;
	VEC(struct group) groups = {0};

	if (count) /* nothing may be chosen */
		sort_sources(sources + first, count);
	for (size_t i = first, end; i < first + count; i = end) {
		for (end = i + 1; end < first + count; end++)
			if (sources[end].function != sources[i].function)
				break;
		if ((double)sum(view, view->weight, i, end - i) >= view->least)
			*vec_push(&groups) = (struct group){sources[i].function, i, end - i};
	}

	struct level *level = vec_push(&view->levels);

	*level = (struct level){.groups = groups.items, .count = groups.count, .row = row};
	order_groups(view, level);
}

/* Takes the sources one caller up; those without one are done. How many are left, in front. */
static size_t climb(struct inverted_view *view, size_t first, size_t count)
{
	const struct tree_node *nodes = view->tally->shape->tree->nodes.items;
	size_t left = 0;

	for (size_t i = first; i < first + count; i++) {
		struct source source = view->sources.items[i];

		source.at = nodes[source.at].parent;
		if (source.at == NODE_ROOT)
			continue;
		source.function = nodes[source.at].function;
		view->sources.items[first + left++] = source;
	}
	return left;
}

static bool is_too_much(const struct inverted_view *view)
{
	return view->part->most && view->rows.count > view->part->most;
}

static bool is_full(const struct inverted_view *view)
{
	return (view->query->limit && view->rows.count >= view->query->limit) || is_too_much(view);
}

static void fill_rows(struct inverted_view *view)
{
	size_t count = view->sources.count;

	add_row(view, FUNCTION_TOTAL, 0, count, &(struct row){.last_child = true});
	view->least = view->percent / 100 * (double)sum(view, view->weight, 0, count);
	open_level(view, 0, count, 0);
	while (view->levels.count) {
		struct level *level = &view->levels.items[view->levels.count - 1];

		if (level->next == level->count || is_full(view)) {
			free(level->groups);
			view->levels.count--;
			continue;
		}

		size_t index = level->next++;
		struct group group = level->groups[index];
		uint32_t row = (uint32_t)view->rows.count, depth = (uint32_t)view->levels.count;

		add_row(view, group.function, group.first, group.count,
			&(struct row){.place = ROW_IN_TREE,
				      .tree = {.parent = level->row, .depth = depth},
				      .last_child = index + 1 == level->count});
		if ((view->part->depth && depth >= view->part->depth) ||
		    (view->part->hottest && index != level->hottest))
			continue;
		open_level(view, group.first, climb(view, group.first, group.count), row);
	}
}

static void find_sources(struct inverted_view *view)
{
	const struct tree_node *nodes = view->tally->shape->tree->nodes.items;
	uint64_t *any = values_self(view->tally, &values_any);

	for (uint32_t i = 1; i < view->tally->shape->tree->nodes.count; i++)
		if (any[i])
			*vec_push(&view->sources) = (struct source){i, i, nodes[i].function};
	free(any);
}

/* From all branches on, fewer of them, until their number is bearable. */
static void fill_bearably(struct inverted_view *view)
{
	static const double steps[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2,
				       0.5,   1,     2,	    5,	  10,	20,   50,  100};
	enum { STEPS = COUNT(steps) };

	view->percent = view->part->percent;
	for (size_t next = 0;; next++) {
		view->sources.count = view->rows.count = view->values.count = 0;
		find_sources(view); /* going down takes them apart */
		fill_rows(view);
		if (!is_too_much(view) || next == STEPS)
			return;
		view->table->left_out = view->percent = steps[next];
	}
}

void view_inverted_tree(struct tally *tally, const struct query *query,
			const struct tree_part *part, struct table *table)
{
	struct inverted_view view = {.tally = tally, .query = query, .part = part, .table = table};
	size_t columns = table->column_count;

	view.self = xcalloc(columns + 1, sizeof(*view.self));
	for (size_t i = 0; i < columns; i++)
		if (!table->columns[i].choice.metric->is_static)
			view.self[i] = values_self(tally, table->columns[i].choice.metric);
	if (!query->sort.metric->is_static)
		view.sort = values_self(tally, query->sort.metric);
	view.weight = values_self(tally, tree_part_metric(query));
	fill_bearably(&view);
	table_set_rows(table, view.rows.count);
	memcpy(table->rows, view.rows.items, view.rows.count * sizeof(*table->rows));
	if (columns)
		memcpy(table->values, view.values.items, view.values.count * sizeof(double));
	for (size_t i = 0; i < columns; i++)
		free(view.self[i]);
	free(view.self);
	free(view.sort);
	free(view.weight);
	vec_fini(&view.sources);
	vec_fini(&view.levels);
	vec_fini(&view.rows);
	vec_fini(&view.values);
}
