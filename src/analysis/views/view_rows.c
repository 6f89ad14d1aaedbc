/* SPDX-License-Identifier: Apache-2.0 */
/* The list of load objects. */
#include "analysis/tree/compare.h"

#include "analysis/metric/metric_values.h"
#include "analysis/session/functions.h"
#include "analysis/tree/tree.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"
#include "analysis/views/view_functions.h"

#include <stdlib.h>
#include <string.h>

/* A list before it is sorted: row 0 is <Total>. */
struct plain_rows {
	size_t count;
	const char **names;
	const char **objects;
	double *values; /* by row and column */
	double *sort;	/* by row */
	bool *empty;	/* to be left out */
};

static void rows_init(struct plain_rows *rows, struct table *table, size_t count)
{
	rows->count = count;
	rows->names = arena_array(&table->arena, const char *, count);
	rows->objects = arena_array(&table->arena, const char *, count);
	rows->values = arena_array(&table->arena, double, count * table->column_count);
	rows->sort = arena_array(&table->arena, double, count);
	rows->empty = arena_array(&table->arena, bool, count);
	rows->names[0] = "<Total>";
}

/* Sorts, and moves what is to be shown into the table. */
static void rows_finish(struct plain_rows *rows, const struct query *query, struct table *table)
{
	size_t columns = table->column_count, shown = 0;
	struct sort_key *keys = xmalloc(rows->count * sizeof(*keys));

	for (uint32_t i = 1; i < rows->count; i++)
		if (!rows->empty[i])
			keys[shown++] = sort_key_of(query, rows->sort[i], rows->names[i], i);
	table_sort(keys, shown, query);
	shown++;
	table_set_rows(table, query->limit && shown > query->limit ? query->limit : shown);
	for (size_t i = 0; i < table->row_count; i++) {
		uint32_t from = i ? keys[i - 1].index : 0;

		table->rows[i].name = rows->names[from];
		table_set_object(table, &table->rows[i], rows->objects[from]);
		table->rows[i].id = from;
		memcpy(&table->values[i * columns], &rows->values[from * columns],
		       columns * sizeof(double));
	}
	memcpy(table->base, rows->values, columns * sizeof(double));
	free(keys);
}

/* Exclusive and inclusive µs of every load object. */
struct object_sums {
	uint64_t total;
	uint64_t *exclusive, *inclusive;
};

static void sum_objects(const struct tally *tally, const struct metric *metric,
			const uint32_t *object_of, const bool *first, struct object_sums *sums)
{
	const struct session *session = tally->session;
	const struct call_tree *tree = tally->shape->tree;
	const struct tree_node *nodes = tree->nodes.items;
	uint64_t *values = values_self(tally, metric);

	memset(sums->exclusive, 0, session->objects.count * sizeof(uint64_t));
	memset(sums->inclusive, 0, session->objects.count * sizeof(uint64_t));
	for (size_t i = 1; i < tree->nodes.count; i++)
		sums->exclusive[object_of[nodes[i].function]] += values[i];
	values_accumulate(tally, values);
	for (size_t i = 1; i < tree->nodes.count; i++)
		if (first[i])
			sums->inclusive[object_of[nodes[i].function]] += values[i];
	sums->total = values[NODE_ROOT];
	free(values);
}

static void take_objects(const struct session *session, const struct object_sums *sums,
			 const struct metric_choice *choice, double *out, size_t stride)
{
	const uint64_t *values =
		choice->flavor == FLAVOR_INCLUSIVE ? sums->inclusive : sums->exclusive;

	out[0] = values_convert(choice->metric, sums->total);
	for (size_t i = 0; i < session->objects.count; i++)
		out[(i + 1) * stride] = values_convert(choice->metric, values[i]);
}

static void fill_objects(const struct tally *tally, struct table *table, struct plain_rows *rows,
			 const uint32_t *object_of, const bool *first)
{
	const struct session *session = tally->session;
	struct object_sums sums = {
		.exclusive = xcalloc(session->objects.count, sizeof(uint64_t)),
		.inclusive = xcalloc(session->objects.count, sizeof(uint64_t)),
	};

	for (size_t i = 0; i < table->column_count; i++) {
		const struct metric_choice *choice = &table->columns[i].choice;

		if (choice->metric->is_static)
			continue;
		sum_objects(tally, choice->metric, object_of, first, &sums);
		take_objects(session, &sums, choice, rows->values + i, table->column_count);
	}
	if (!table->sort.metric->is_static) {
		sum_objects(tally, table->sort.metric, object_of, first, &sums);
		take_objects(session, &sums, &table->sort, rows->sort, 1);
	}
	sum_objects(tally, &values_any, object_of, first, &sums);
	for (size_t i = 0; i < session->objects.count; i++) {
		rows->names[i + 1] = session->objects.items[i].name;
		rows->objects[i + 1] = i == OBJECT_UNKNOWN ? NULL : session->objects.items[i].path;
		rows->empty[i + 1] = !sums.inclusive[i];
	}
	free(sums.exclusive);
	free(sums.inclusive);
}

static void fill_objects_table(struct tally *tally, const struct query *query, const void *arg,
			       struct table *table)
{
	struct session *session = tally->session;

	(void)arg;

	uint32_t *object_of = xmalloc(session->functions.count * sizeof(*object_of));
	struct plain_rows rows;

	for (size_t i = 0; i < session->functions.count; i++)
		object_of[i] = session->functions.items[i].object;
	/* the root is no load object's: it must not hide the first <Unknown> */
	object_of[FUNCTION_TOTAL] = (uint32_t)session->objects.count;

	bool *first = tree_first_of_group(tally->shape->tree, object_of,
					  (uint32_t)session->objects.count + 1);

	table_init(table, query, COLUMNS_NO_STATIC);
	table->title = "Load Objects";
	rows_init(&rows, table, session->objects.count + 1);
	fill_objects(tally, table, &rows, object_of, first);
	rows_finish(&rows, query, table);
	free(first);
	free(object_of);
}

void view_objects(struct session *session, const struct query *query, struct table *table)
{
	view_run(session, query,
		 &(struct view){
			 .fill = fill_objects_table, .identity = ROWS_BY_ID, .order = ORDER_LIST},
		 table);
}
