/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of differences in the order of the differences: what grew most comes first. */
#include "analysis/tree/compare.h"

#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"

#include <stdlib.h>
#include <string.h>

/* from: of every row the one that takes its place. */
static void move_rows(struct table *table, const uint32_t *from)
{
	size_t columns = table->column_count, cells = table->row_count * columns;
	struct row *rows = arena_array(&table->arena, struct row, table->row_count);
	double *values = arena_array(&table->arena, double, cells + 1);
	double *errors = table->errors ? arena_array(&table->arena, double, cells + 1) : NULL;

	for (size_t to = 0; to < table->row_count; to++) {
		rows[to] = table->rows[from[to]];
		memcpy(values + to * columns, table->values + from[to] * columns,
		       columns * sizeof(double));
		if (errors)
			memcpy(errors + to * columns, table->errors + from[to] * columns,
			       columns * sizeof(double));
	}
	table->rows = rows;
	table->values = values;
	table->errors = errors;
	table->by_change = true;
}

void compare_order_list(struct table *table, const double *change, const struct query *query)
{
	struct sort_key *keys = xcalloc(table->row_count, sizeof(*keys));
	uint32_t *from = xcalloc(table->row_count, sizeof(*from));

	for (uint32_t row = 1; row < table->row_count; row++)
		keys[row - 1] = (struct sort_key){.index = row, .value = change[row]};
	table_sort(keys, table->row_count - 1, query);
	for (size_t to = 1; to < table->row_count; to++)
		from[to] = keys[to - 1].index;
	move_rows(table, from);
	free(from);
	free(keys);
}

/* Of every row the one that it lies below; the first one lies below none, which is 0 as well. */
static uint32_t *parents_of(const struct table *table)
{
	uint32_t *parent = xcalloc(table->row_count, sizeof(*parent));
	VEC(uint32_t) path = {0};

	for (uint32_t row = 0; row < table->row_count; row++) {
		path.count = row_depth(&table->rows[row]);
		parent[row] = path.count ? path.items[path.count - 1] : 0;
		*vec_push(&path) = row;
	}
	vec_fini(&path);
	return parent;
}

/* The rows below each row side by side, in order: those of `row` are keys[start[row]] and on. */
static struct sort_key *children_in_order(const struct table *table, const uint32_t *parent,
					  const double *change, const struct query *query,
					  uint32_t *start)
{
	size_t count = table->row_count;
	struct sort_key *keys = xcalloc(count, sizeof(*keys));
	uint32_t *next = xcalloc(count + 1, sizeof(*next));

	for (size_t row = 1; row < count; row++)
		start[parent[row] + 1]++;
	for (size_t row = 0; row < count; row++)
		start[row + 1] += start[row];
	memcpy(next, start, (count + 1) * sizeof(*next));
	for (uint32_t row = 1; row < count; row++)
		keys[next[parent[row]]++] = (struct sort_key){.index = row, .value = change[row]};
	for (size_t row = 0; row < count; row++)
		table_sort(keys + start[row], start[row + 1] - start[row], query);
	free(next);
	return keys;
}

void compare_order_tree(struct table *table, const double *change, const struct query *query)
{
	size_t count = table->row_count;
	uint32_t *parent = parents_of(table), *start = xcalloc(count + 1, sizeof(*start));
	struct sort_key *keys = children_in_order(table, parent, change, query, start);
	uint32_t *from = xcalloc(count, sizeof(*from)), *end = xmalloc(count * sizeof(*end));
	uint32_t row = 0;

	memcpy(end, start + 1, count * sizeof(*end));
	for (size_t to = 1; to < count;) {
		if (start[row] == end[row]) {
			row = parent[row];
			continue;
		}

		uint32_t child = keys[start[row]++].index;

		table->rows[child].last_child = start[row] == end[row];
		from[to++] = row = child;
	}
	move_rows(table, from);
	free(end);
	free(from);
	free(keys);
	free(start);
	free(parent);
}
