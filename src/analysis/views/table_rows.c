/* SPDX-License-Identifier: Apache-2.0 */
/* What all views have in common: columns from the query, order, names. */
#include "analysis/views/table.h"

#include "analysis/session/symbols.h"
#include "analysis/tree/shape.h"
#include "analysis/tree/tally.h"
#include "analysis/views/table_rows.h"

#include <stdlib.h>
#include <string.h>

static enum metric_flavor column_flavor(const struct metric_choice *choice, enum column_rule rule)
{
	if (choice->metric->is_static)
		return FLAVOR_STATIC;
	if (rule == COLUMNS_ATTRIBUTED)
		return FLAVOR_ATTRIBUTED;
	return rule == COLUMNS_EXCLUSIVE ? FLAVOR_EXCLUSIVE : choice->flavor;
}

/* Whether a view of this kind has a column for a choice of the user's. */
static bool column_fits(const struct metric_choice *choice, enum column_rule rule)
{
	if (choice->visibility & VISIBLE_HIDDEN)
		return false;
	if (choice->metric->is_static)
		return choice->metric->unit == UNIT_TEXT || rule == COLUMNS_AS_ASKED ||
		       rule == COLUMNS_ATTRIBUTED;
	return choice->flavor != FLAVOR_ATTRIBUTED || rule == COLUMNS_ATTRIBUTED;
}

static void add_column(struct table *table, const struct metric_choice *choice,
		       enum metric_flavor flavor)
{
	for (size_t i = 0; i < table->column_count; i++) {
		struct metric_choice *old = &table->columns[i].choice;

		if (old->metric == choice->metric && old->flavor == flavor) {
			old->visibility |= choice->visibility;
			return;
		}
	}
	table->columns[table->column_count].choice = *choice;
	table->columns[table->column_count++].choice.flavor = flavor;
}

enum metric_flavor table_sort_flavor(const struct query *query, enum column_rule rule)
{
	enum metric_flavor flavor = column_flavor(&query->sort, rule);

	return flavor == FLAVOR_ATTRIBUTED && rule != COLUMNS_ATTRIBUTED ? FLAVOR_INCLUSIVE
									 : flavor;
}

void table_init(struct table *table, const struct query *query, enum column_rule rule)
{
	*table = (struct table){0};
	table->columns = arena_array(&table->arena, struct column, query->metrics.count + 1);
	for (size_t i = 0; i < query->metrics.count; i++)
		if (column_fits(&query->metrics.items[i], rule))
			add_column(table, &query->metrics.items[i],
				   column_flavor(&query->metrics.items[i], rule));
	table->base = arena_array(&table->arena, double, table->column_count);
	table->sort = query->sort;
	table->sort.flavor = table_sort_flavor(query, rule);
}

void table_set_rows(struct table *table, size_t count)
{
	enum { MANY = 1 << 18 };

	if (count > MANY)
		memory_give_back();
	table->row_count = count;
	table->rows = arena_array(&table->arena, struct row, count);
	table->values = arena_array(&table->arena, double, count * table->column_count);
}

size_t table_column_of(const struct table *table, const struct metric *metric)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].choice.metric == metric)
			return i;
	return SIZE_MAX;
}

void table_fini(struct table *table)
{
	struct arena arena = table->arena;

	*table = (struct table){0};
	arena_fini(&arena);
}

static int by_index(const struct sort_key *x, const struct sort_key *y)
{
	return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_values(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return by_index(x, y);
}

static int compare_values_reverse(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return by_index(x, y);
}

static int compare_texts(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : by_index(x, y);
}

static int compare_texts_reverse(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	int order = strcmp(y->text, x->text);

	return order ? order : by_index(x, y);
}

/* Numbers from the largest, names and addresses from the first; `reverse` turns that round. */
void table_sort(struct sort_key *keys, size_t count, const struct query *query)
{
	bool ascending = query->sort_reverse != (query->sort.metric->unit == UNIT_ADDRESS);

	if (count < 2)
		return;
	if (query->sort.metric->unit == UNIT_TEXT)
		qsort(keys, count, sizeof(*keys),
		      query->sort_reverse ? compare_texts_reverse : compare_texts);
	else
		qsort(keys, count, sizeof(*keys),
		      ascending ? compare_values_reverse : compare_values);
}

void first_keys_end(struct first_keys *first)
{
	table_sort(first->keys.items, first->keys.count, first->query);
	if (first->most && first->keys.count > first->most)
		first->keys.count = first->most;
}

/* Sorted whenever there are twice as many, or some thousands more: each time half of them goes. */
void first_keys_add(struct first_keys *first, struct sort_key key)
{
	enum { ROOM_LEAST = 4096 };

	if (first->most && first->keys.count >= 2 * first->most + ROOM_LEAST)
		first_keys_end(first);
	*vec_push(&first->keys) = key;
}

void table_set_object(struct table *table, struct row *row, const char *path)
{
	struct row_origin *origin = path ? arena_new(&table->arena, struct row_origin) : NULL;

	if (origin)
		origin->object = path;
	row->origin = origin;
}

/* What all rows of a function have. */
struct row_label {
	const char *name;
	struct row_origin origin;
};

static struct row_label *make_label(struct tally *tally, const struct query *query,
				    struct table *table, uint32_t function)
{
	struct row_label *label = arena_new(&table->arena, struct row_label);
	struct session *session = tally->session;
	uint32_t number = session->functions.items[function].object;
	const struct load_object *object =
		number == OBJECT_UNKNOWN ? NULL : &session->objects.items[number];

	label->name = symbols_name(session, function, query->name_style);
	label->origin.object = object ? object->path : NULL;
	label->origin.of = shape_namesake(tally->shape, function, query->name_soname);
	if (query->name_soname && object)
		label->name = arena_printf(&table->arena, "%s [%s]", label->name, object->name);
	return label;
}

void table_name_row(struct tally *tally, const struct query *query, struct table *table,
		    uint32_t function, struct row *row)
{
	if (!table->labels)
		table->labels = arena_array(&table->arena, struct row_label *,
					    tally->session->functions.count);

	struct row_label **label = &table->labels[function];

	if (!*label)
		*label = make_label(tally, query, table, function);
	row->name = (*label)->name;
	row->origin = &(*label)->origin;
}
