/* SPDX-License-Identifier: Apache-2.0 */
/* What all views do with the rows of a table: columns, names, order.  Private to this module. */
#ifndef HELIO_ANALYSIS_TABLE_ROWS_H
#define HELIO_ANALYSIS_TABLE_ROWS_H

#include "analysis/tree/tally.h"
#include "analysis/views/table.h"
#include "base/memory.h"

enum column_rule {
	COLUMNS_AS_ASKED,   /* exclusive and inclusive */
	COLUMNS_ATTRIBUTED, /* one attributed column per metric */
	COLUMNS_EXCLUSIVE,  /* one exclusive column per metric, no static but the name */
	COLUMNS_NO_STATIC,  /* exclusive and inclusive, no static but the name */
};
void table_init(struct table *table, const struct query *query, enum column_rule rule);
void table_set_rows(struct table *table, size_t count);
/* The first column of the metric, or SIZE_MAX: it has none. */
size_t table_column_of(const struct table *table, const struct metric *metric);
/* The flavour that the sort metric has in such a view. */
enum metric_flavor table_sort_flavor(const struct query *query, enum column_rule rule);

/* One thing to be ordered; `index` breaks ties. */
struct sort_key {
	union {
		double value;
		const char *text; /* when sorting by name */
	};
	uint32_t index;
};
/* What of the two the query sorts by. */
static inline struct sort_key sort_key_of(const struct query *query, double value, const char *text,
					  uint32_t index)
{
	struct sort_key key = {.index = index};

	if (query->sort.metric->unit == UNIT_TEXT)
		key.text = text;
	else
		key.value = value;
	return key;
}
void table_sort(struct sort_key *keys, size_t count, const struct query *query);

/* The first so many of a great number of keys, in the order of the query; `most` 0: all. */
struct first_keys {
	const struct query *query;
	size_t most;
	VEC(struct sort_key) keys;
};
void first_keys_add(struct first_keys *first, struct sort_key key);
/* Sorts what there is; its keys are the caller's to free. */
void first_keys_end(struct first_keys *first);

void table_set_object(struct table *table, struct row *row, const char *path);
void table_name_row(struct tally *tally, const struct query *query, struct table *table,
		    uint32_t function, struct row *row);

/*
 * The functions that any event touched, without <Total>, in the order of the
 * query; `sort` is its metric with a flavour that functions have.  The caller
 * frees the array.
 */
struct sort_key *functions_ordered(struct tally *tally, const struct query *query,
				   const struct metric_choice *sort, size_t *count);

#endif
