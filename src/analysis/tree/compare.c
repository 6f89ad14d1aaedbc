/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experiments in columns of their own, differences, ratios, and standard errors.
 *
 * Error.  Samples of a profile fall on functions like counts do: what is estimated from
 * events of the values w is off by sqrt(sum of w² · (1 - share of the whole)).  The whole itself
 * is not estimated: its error is 0, as is that of what is traced and not sampled.  Between
 * experiments the whole differs by itself, from run to run: there the share leaves nothing out.
 */
#include "analysis/tree/compare.h"

#include "analysis/metric/metric_values.h"
#include "analysis/views/table.h"
#include "base/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A table of the view for one experiment, and where its rows are. */
struct part {
	struct table table;
	struct hash_map rows; /* key → row */
};

struct comparison {
	struct session *session;
	const struct query *query;
	const struct view *view;
	struct table *table;
	size_t groups;		       /* columns of each metric */
	struct part *values, *squares; /* by group; squares NULL: no errors are wanted */
	uint64_t *keys;		       /* of the table's rows */
};

/* ---- rows by key ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	return hash_pair(a, b);
}

/* Two builds of a program lie in two places: the name of the load object's file tells. */
static uint64_t name_key(const struct row *row)
{
	const char *file = row_object(row) ? path_name(row_object(row)) : NULL;
	uint64_t object = file ? hash_text(file, strlen(file)) : 0;

	uint64_t of =
		row_qualifier(row) ? hash_text(row_qualifier(row), strlen(row_qualifier(row))) : 0;

	return mix(hash_text(row->name, strlen(row->name)), mix(object, of));
}

/* What the rows of each block have in common: the function that it is about. */
static uint64_t *block_keys(const struct table *table)
{
	uint32_t blocks = 0;

	for (size_t i = 0; i < table->row_count; i++)
		if (row_block(&table->rows[i]) >= blocks)
			blocks = row_block(&table->rows[i]) + 1;

	uint64_t *keys = xcalloc(blocks + 1, sizeof(*keys));

	for (size_t i = 0; i < table->row_count; i++)
		if (table->rows[i].mark == ROW_CENTER)
			keys[row_block(&table->rows[i])] =
				name_key(&table->rows[i]) ^ table->rows[i].id;
	return keys;
}

/* Keys that rows have, and for each first one the last that was made of it. */
struct used_keys {
	struct hash_map all, first; /* key → nothing; key → index in last */
	VEC(uint64_t) last;
};

/* Rows of one name, such as locks from two places in a function, are told apart by their order. */
static uint64_t unused_key(struct used_keys *used, uint64_t key)
{
	uint32_t index = hash_map_put(&used->first, key, (uint32_t)used->last.count);

	if (index == used->last.count)
		*vec_push(&used->last) = key;
	else
		key = mix(used->last.items[index], 1);
	while (hash_map_get(&used->all, key) != HASH_NONE)
		key = mix(key, 1);
	hash_map_put(&used->all, key, 0);
	used->last.items[index] = key;
	return key;
}

static void used_keys_fini(struct used_keys *used)
{
	hash_map_fini(&used->all);
	hash_map_fini(&used->first);
	vec_fini(&used->last);
}

/* Of all rows, the caller's to free. */
static uint64_t *row_keys(const struct table *table, enum row_identity identity)
{
	uint64_t *blocks = block_keys(table), *keys = xcalloc(table->row_count + 1, sizeof(*keys));
	VEC(uint64_t) path = {0};
	struct used_keys used = {0};

	for (size_t i = 0; i < table->row_count; i++) {
		const struct row *row = &table->rows[i];
		uint64_t own = identity == ROWS_BY_ID ? row->id : name_key(row);

		keys[i] = mix(mix(own, (uint64_t)row->mark), blocks[row_block(row)]);
		if (identity == ROWS_BY_NAME)
			keys[i] = unused_key(&used, keys[i]);
		if (identity != ROWS_BY_PATH)
			continue;
		if (row_depth(row))
			keys[i] = mix(keys[i], path.items[row_depth(row) - 1]);
		path.count = row_depth(row);
		*vec_push(&path) = keys[i];
	}
	vec_fini(&path);
	used_keys_fini(&used);
	free(blocks);
	return keys;
}

/* ---- the tables of experiments ---- */

static void part_init(struct comparison *comparison, struct part *part, uint32_t group,
		      bool squares)
{
	struct query query = *comparison->query;
	struct tally *tally = tally_part(comparison->session, &query, group, squares);

	query.limit = 0;
	comparison->view->fill(tally, &query, comparison->view->whole, &part->table);
	tally_release(tally);

	uint64_t *keys = row_keys(&part->table, comparison->view->identity);

	for (uint32_t i = 0; i < part->table.row_count; i++)
		hash_map_put(&part->rows, keys[i], i);
	free(keys);
}

static void part_fini(struct part *part)
{
	table_fini(&part->table);
	hash_map_fini(&part->rows);
}

static double part_value(const struct part *part, uint64_t key, size_t column)
{
	uint32_t row = hash_map_get(&part->rows, key);

	return row == HASH_NONE ? 0 : part->table.values[row * part->table.column_count + column];
}

/* ---- cells ---- */

struct cell {
	double value, error;
};

static struct cell cell_of(const struct comparison *comparison, size_t group, size_t row,
			   size_t column)
{
	const struct part *part = &comparison->values[group];
	const struct metric *metric = part->table.columns[column].choice.metric;
	struct cell cell = {.value = part_value(part, comparison->keys[row], column)};
	double whole = part->table.base[column], squares;

	if (!comparison->squares || metric->is_static || metric->unit == UNIT_RATIO)
		return cell;
	squares = part_value(&comparison->squares[group], comparison->keys[row], column) *
		  values_convert(metric, 1);
	if (squares > 0 && whole > 0)
		cell.error = sqrt(squares *
				  (comparison->groups > 1 ? 1 : fmax(0, 1 - cell.value / whole)));
	return cell;
}

/* Against the first experiment. */
static struct cell difference(struct cell base, struct cell cell)
{
	return (struct cell){cell.value - base.value, hypot(cell.error, base.error)};
}

static struct cell ratio(struct cell base, struct cell cell)
{
	struct cell result = {.value = cell.value == base.value ? 1 : cell.value / base.value};

	if (base.value != 0 && cell.value != 0)
		result.error = fabs(result.value) *
			       hypot(cell.error / cell.value, base.error / base.value);
	return result;
}

static void fill_cell(const struct comparison *comparison, size_t row, size_t index, size_t column)
{
	struct table *table = comparison->table;
	const struct column *to = &table->columns[index];
	size_t group = to->group ? to->group - 1 : 0, at = row * table->column_count + index;
	struct cell cell = cell_of(comparison, group, row, column);

	if (to->form == COLUMN_DIFFERENCE)
		cell = difference(cell_of(comparison, 0, row, column), cell);
	else if (to->form == COLUMN_RATIO)
		cell = ratio(cell_of(comparison, 0, row, column), cell);
	table->values[at] = cell.value;
	if (table->errors)
		table->errors[at] = cell.error;
}

/* ---- the table ---- */

/* Lists of differences and quotients are in the order of the differences. */
static bool by_change(const struct comparison *comparison)
{
	return comparison->view->order != ORDER_FIXED && comparison->groups > 1 &&
	       comparison->query->compare != COMPARE_ON &&
	       !comparison->query->sort.metric->is_static;
}

/* Whether a row that each experiment has by itself is several times in the list of all of them. */
static bool has_doubles(const struct comparison *comparison)
{
	return comparison->groups > 1 && comparison->view->identity == ROWS_BY_NAME &&
	       comparison->view->order == ORDER_LIST;
}

/* The limit is that of rows that are kept, in their order. */
static bool is_cut_later(const struct comparison *comparison)
{
	return by_change(comparison) || has_doubles(comparison);
}

static bool is_compared(const struct metric_choice *choice)
{
	return choice->metric->unit != UNIT_TEXT && !choice->metric->is_static;
}

static enum column_form form_of(const struct comparison *comparison, size_t group)
{
	if (!group || comparison->query->compare == COMPARE_ON)
		return COLUMN_VALUE;
	return comparison->query->compare == COMPARE_DELTA ? COLUMN_DIFFERENCE : COLUMN_RATIO;
}

static bool is_recorded(const struct comparison *comparison, const struct column *column,
			size_t group)
{
	return metric_available_in(comparison->session, column->choice.metric, group);
}

static void set_column(const struct comparison *comparison, struct column *to,
		       const struct column *from, size_t group)
{
	*to = *from;
	if (comparison->groups == 1 || !is_compared(&from->choice))
		return;
	to->group = (uint32_t)group + 1;
	to->form = form_of(comparison, group);
	to->label = session_group_name(comparison->session, group);
	to->not_recorded = !is_recorded(comparison, from, group) ||
			   (to->form != COLUMN_VALUE && !is_recorded(comparison, from, 0));
	if (to->form != COLUMN_VALUE) /* shares of something that is no part */
		to->choice.visibility = (to->choice.visibility & ~(unsigned)VISIBLE_PERCENT) |
					VISIBLE_TIME | VISIBLE_VALUE;
}

/* The new columns; of[i]: which one of the view's each is.  The caller frees it. */
static size_t *spread_columns(struct comparison *comparison)
{
	struct table *table = comparison->table;
	size_t count = table->column_count * comparison->groups, used = 0;
	struct column *columns = arena_array(&table->arena, struct column, count + 1);
	size_t *of = xcalloc(count + 1, sizeof(*of));

	for (size_t i = 0; i < table->column_count; i++) {
		size_t copies = is_compared(&table->columns[i].choice) ? comparison->groups : 1;

		for (size_t group = 0; group < copies; group++) {
			set_column(comparison, &columns[used], &table->columns[i], group);
			of[used++] = i;
		}
	}
	table->columns = columns;
	table->column_count = used;
	return of;
}

/* What 100 % is: of a group its own whole, of the row's block in its own table. */
static void spread_bases(struct comparison *comparison, const size_t *of, size_t old_count)
{
	struct table *table = comparison->table;
	double *old = table->block_base;
	uint32_t blocks = 0;

	table->base = arena_array(&table->arena, double, table->column_count + 1);
	for (size_t i = 0; i < table->column_count; i++) {
		uint32_t group = table->columns[i].group;

		table->base[i] = comparison->values[group ? group - 1 : 0].table.base[of[i]];
	}
	if (!old || comparison->groups == 1)
		return;
	for (size_t row = 0; row < table->row_count; row++)
		if (row_block(&table->rows[row]) >= blocks)
			blocks = row_block(&table->rows[row]) + 1;
	table->block_base = arena_array(&table->arena, double, (blocks + 1) * table->column_count);
	for (size_t row = 0; row < table->row_count; row++)
		for (size_t i = 0; i < table->column_count; i++) {
			uint32_t group = table->columns[i].group;
			const struct part *part = &comparison->values[group ? group - 1 : 0];
			uint32_t at = hash_map_get(&part->rows, comparison->keys[row]);

			if (at != HASH_NONE && part->table.block_base)
				table->block_base[row_block(&table->rows[row]) *
							  table->column_count +
						  i] =
					part->table.block_base[row_block(&part->table.rows[at]) *
								       old_count +
							       of[i]];
		}
}

/* ---- order ---- */

/* The column of the sort metric in the last group, or SIZE_MAX: it is not shown. */
static size_t changing_column(const struct table *table, size_t groups)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].group == groups &&
		    table->columns[i].choice.metric == table->sort.metric &&
		    table->columns[i].choice.flavor == table->sort.flavor)
			return i;
	return SIZE_MAX;
}

/* By how much the last experiment differs from the first in a row. */
static double change_of(const struct comparison *comparison, size_t row, size_t column)
{
	size_t last = comparison->groups - 1;

	return cell_of(comparison, last, row, column).value -
	       cell_of(comparison, 0, row, column).value;
}

/* What grew most comes first, after <Total>. of: as of spread_columns(). */
static void order_by_change(struct comparison *comparison, const size_t *of)
{
	struct table *table = comparison->table;
	size_t column = changing_column(table, comparison->groups);

	if (column == SIZE_MAX || table->row_count < 2 || table->columns[column].not_recorded)
		return;
	double *change = xcalloc(table->row_count, sizeof(*change));

	for (size_t row = 1; row < table->row_count; row++)
		change[row] = change_of(comparison, row, of[column]);
	if (comparison->view->order == ORDER_TREE)
		compare_order_tree(table, change, comparison->query);
	else
		compare_order_list(table, change, comparison->query);
	free(change);
}

static bool is_in_some_part(const struct comparison *comparison, uint64_t key)
{
	for (size_t i = 0; i < comparison->groups; i++)
		if (hash_map_get(&comparison->values[i].rows, key) != HASH_NONE)
			return true;
	return false;
}

/* The first of them has the values of all. */
static void drop_doubles(struct comparison *comparison)
{
	struct table *table = comparison->table;
	size_t kept = 0;

	if (!has_doubles(comparison))
		return;
	for (size_t row = 0; row < table->row_count; row++) {
		if (!is_in_some_part(comparison, comparison->keys[row]))
			continue;
		comparison->keys[kept] = comparison->keys[row];
		table->rows[kept++] = table->rows[row];
	}
	table->row_count = kept;
}

static void fill_comparison(struct comparison *comparison)
{
	struct table *table = comparison->table;
	size_t old_count = table->column_count, cells;
	size_t *of = spread_columns(comparison);

	comparison->keys = row_keys(table, comparison->view->identity);
	drop_doubles(comparison);
	cells = table->row_count * table->column_count;
	table->values = arena_array(&table->arena, double, cells + 1);
	if (comparison->squares)
		table->errors = arena_array(&table->arena, double, cells + 1);
	for (size_t row = 0; row < table->row_count; row++)
		for (size_t i = 0; i < table->column_count; i++)
			fill_cell(comparison, row, i, of[i]);
	spread_bases(comparison, of, old_count);
	if (by_change(comparison))
		order_by_change(comparison, of);
	free(comparison->keys);
	free(of);
}

static bool wants_errors(const struct query *query)
{
	for (size_t i = 0; i < query->metrics.count; i++)
		if (query->metrics.items[i].visibility & VISIBLE_ERROR)
			return true;
	return false;
}

static void make_parts(struct comparison *comparison, bool errors)
{
	size_t groups = comparison->groups;

	comparison->values = xcalloc(groups, sizeof(struct part));
	comparison->squares = errors ? xcalloc(groups, sizeof(struct part)) : NULL;
	for (size_t i = 0; i < groups; i++) {
		uint32_t group = groups > 1 ? (uint32_t)i + 1 : comparison->query->group;

		part_init(comparison, &comparison->values[i], group, false);
		if (errors)
			part_init(comparison, &comparison->squares[i], group, true);
	}
}

void view_run(struct session *session, const struct query *query, const struct view *view,
	      struct table *table)
{
	struct comparison comparison = {
		.session = session,
		.query = query,
		.view = view,
		.table = table,
		.groups = query->compare == COMPARE_OFF ? 1 : session_group_count(session),
	};
	bool errors = wants_errors(query);

	struct tally *tally = tally_of(session, query);
	struct query whole = *query;

	if (is_cut_later(&comparison))
		whole.limit = 0;
	view->fill(tally, &whole, view->arg, table);
	tally_release(tally);
	if ((comparison.groups == 1 && !errors) || !session->scanned.count)
		return; /* also where there are sums but no events: cache.h */
	make_parts(&comparison, errors);
	fill_comparison(&comparison);
	for (size_t i = 0; i < comparison.groups; i++) {
		part_fini(&comparison.values[i]);
		if (errors)
			part_fini(&comparison.squares[i]);
	}
	free(comparison.values);
	free(comparison.squares);
	if (query->limit && is_cut_later(&comparison) && table->row_count > query->limit)
		table->row_count = query->limit;
}
