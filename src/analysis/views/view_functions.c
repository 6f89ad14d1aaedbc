/* SPDX-License-Identifier: Apache-2.0 */
/* The function list. */
#include "analysis/views/view_functions.h"

#include "analysis/metric/metric_values.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/compare.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"

#include <stdlib.h>

static double function_value(struct tally *tally, uint32_t function,
			     const struct metric_choice *choice)
{
	double exclusive, inclusive, total;

	values_of_function(tally, function, choice->metric, &exclusive, &inclusive, &total);
	return choice->flavor == FLAVOR_INCLUSIVE ? inclusive : exclusive;
}

struct sort_key *functions_ordered(struct tally *tally, const struct query *query,
				   const struct metric_choice *sort, size_t *count)
{
	struct session *session = tally->session;
	const struct function_sums *any = values_of_functions(tally, &values_any);
	struct sort_key *keys = xmalloc(session->functions.count * sizeof(*keys));

	*count = 0;
	for (uint32_t i = FUNCTION_TOTAL + 1; i < any->count; i++) {
		if (!any->inclusive[i])
			continue;

		struct sort_key *key = &keys[(*count)++];

		*key = (struct sort_key){.index = i};
		if (sort->metric->unit == UNIT_TEXT)
			key->text = symbols_name(session, i, query->name_style);
		else
			key->value = function_value(tally, i, sort);
	}
	table_sort(keys, *count, query);
	return keys;
}

static void fill_row(struct tally *tally, const struct query *query, struct table *table,
		     size_t index, uint32_t function)
{
	struct row *row = &table->rows[index];

	row->id = function;
	table_name_row(tally, query, table, function, row);
	for (size_t column = 0; column < table->column_count; column++)
		table->values[index * table->column_count + column] =
			function_value(tally, function, &table->columns[column].choice);
}

static void fill_functions(struct tally *tally, const struct query *query, const void *arg,
			   struct table *table)
{
	size_t count;

	(void)arg;
	table_init(table, query, COLUMNS_AS_ASKED);

	struct sort_key *keys = functions_ordered(tally, query, &table->sort, &count);
	size_t rows = count + 1;

	if (query->limit && rows > query->limit)
		rows = query->limit;
	table->title = "Functions";
	table_set_rows(table, rows);
	fill_row(tally, query, table, 0, FUNCTION_TOTAL);
	for (size_t i = 1; i < rows; i++)
		fill_row(tally, query, table, i, keys[i - 1].index);
	for (size_t column = 0; column < table->column_count; column++)
		table->base[column] = table->values[column];
	free(keys);
}

void view_functions(struct session *session, const struct query *query, struct table *table)
{
	view_run(
		session, query,
		&(struct view){.fill = fill_functions, .identity = ROWS_BY_ID, .order = ORDER_LIST},
		table);
}

void view_function_values(struct session *session, const struct query *query, uint32_t function,
			  const struct metric *metric, double *exclusive, double *inclusive,
			  double *total)
{
	struct tally *tally = tally_of(session, query);

	values_of_function(tally, function, metric, exclusive, inclusive, total);
	tally_release(tally);
}
