/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/views/differences.h"

#include "analysis/session/session_state.h"
#include "analysis/views/view_functions.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SURE_ERRORS = 2, /* what is more than so many standard errors is no chance */
	COLUMNS = DIFFERENCES_NAME + 1,
};

struct change {
	size_t row;
	double value, error;
};

enum status differences_query(struct session *session, const char *metric, struct query *query,
			      struct diag_list *diags)
{
	char *spec = xasprintf("%s:name", metric);
	enum status status = metric_list_parse(session, NULL, spec, &query->metrics, diags);

	free(spec);
	query->compare = COMPARE_ON;
	if (status == STATUS_OK) {
		query->metrics.items[0].visibility |= VISIBLE_ERROR;
		query->sort = query->metrics.items[0];
	}
	if (query->metrics.count != 2 || query->metrics.items[0].metric->is_static)
		return STATUS_INVALID;
	return status;
}

static int by_size(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	double size = fabs(y->value) - fabs(x->value);

	return size ? size > 0 ? 1 : -1 : x->row < y->row ? -1 : x->row > y->row;
}

static bool is_chance(const struct change *change)
{
	return fabs(change->value) < SURE_ERRORS * change->error;
}

/* Of a function in the table of both: its first two columns. */
static struct change change_at(const struct table *both, size_t row)
{
	const double *value = &both->values[row * both->column_count];
	const double *error = &both->errors[row * both->column_count];

	return (struct change){row, value[1] - value[0], hypot(error[0], error[1])};
}

/* The functions whose change is to be shown, the largest first; the caller's to free. */
static struct change *find_changes(const struct table *both, size_t most, bool all, size_t *shown,
				   size_t *chance)
{
	struct change *changes = xcalloc(both->row_count + 1, sizeof(*changes));

	*shown = *chance = 0;
	for (size_t row = 1; row < both->row_count; row++) {
		struct change change = change_at(both, row);

		if (change.value == 0)
			continue;
		if (is_chance(&change) && !all)
			++*chance;
		else
			changes[(*shown)++] = change;
	}
	qsort(changes, *shown, sizeof(*changes), by_size);
	if (most && *shown + 1 > most)
		*shown = most - 1;
	return changes;
}

static void fill_row(struct table *table, size_t index, const struct table *both, size_t row)
{
	const double *from = &both->values[row * both->column_count];
	struct change change = change_at(both, row);
	double *to = &table->values[index * COLUMNS];

	table->rows[index] = both->rows[row];
	to[DIFFERENCES_BASE] = from[0];
	to[DIFFERENCES_NEW] = from[1];
	to[DIFFERENCES_CHANGE] = change.value;
	to[DIFFERENCES_RATIO] = from[0] == from[1] ? 1 : from[1] / from[0];
	table->errors[index * COLUMNS + DIFFERENCES_CHANGE] = change.error;
}

static void set_columns(struct table *table, const struct table *both)
{
	const struct metric_choice choice = both->columns[0].choice;

	table->column_count = COLUMNS;
	table->columns = arena_array(&table->arena, struct column, COLUMNS);
	table->columns[DIFFERENCES_BASE] = both->columns[0];
	table->columns[DIFFERENCES_NEW] = both->columns[1];
	table->columns[DIFFERENCES_BASE].choice.visibility = VISIBLE_TIME | VISIBLE_VALUE;
	table->columns[DIFFERENCES_NEW].choice.visibility = VISIBLE_TIME | VISIBLE_VALUE;
	table->columns[DIFFERENCES_CHANGE] =
		(struct column){.choice = choice, .form = COLUMN_DIFFERENCE, .label = "difference"};
	table->columns[DIFFERENCES_RATIO] = (struct column){
		.choice = choice, .group = 3, .form = COLUMN_RATIO, .label = "ratio"};
	table->columns[DIFFERENCES_RATIO].choice.visibility = VISIBLE_TIME | VISIBLE_VALUE;
	table->columns[DIFFERENCES_NAME] = both->columns[both->column_count - 1];
}

static void table_of_changes(struct table *table, const struct table *both,
			     const struct change *changes, size_t count)
{
	*table = (struct table){.title = "Differences", .sort = both->columns[0].choice};
	set_columns(table, both);
	table->row_count = count + 1;
	table->rows = arena_array(&table->arena, struct row, count + 1);
	table->values = arena_array(&table->arena, double, (count + 1) * COLUMNS);
	table->errors = arena_array(&table->arena, double, (count + 1) * COLUMNS);
	table->base = arena_array(&table->arena, double, COLUMNS);
	fill_row(table, 0, both, 0);
	for (size_t i = 0; i < count; i++)
		fill_row(table, i + 1, both, changes[i].row);
}

void view_differences(struct session *session, const struct query *query, size_t most, bool all,
		      struct differences *differences)
{
	struct change *changes;
	size_t shown;

	view_functions(session, query, &differences->both);
	changes = find_changes(&differences->both, most, all, &shown, &differences->chance);
	table_of_changes(&differences->changes, &differences->both, changes, shown);
	free(changes);
}

void differences_fini(struct differences *differences)
{
	table_fini(&differences->changes);
	table_fini(&differences->both);
}

struct growth differences_growth(const struct differences *differences, double limit_percent)
{
	const struct table *both = &differences->both;
	double base = both->values[0], now = both->values[1], change = now - base;
	double allowed = 1 + limit_percent / 100;
	double noise = SURE_ERRORS * hypot(both->errors[1], both->errors[0] * allowed);
	double percent = base ? 100 * change / base : change > 0 ? INFINITY : 0;

	return (struct growth){
		.percent = percent,
		.is_more = percent > limit_percent,
		.is_sure = now - base * allowed > noise,
		.sure_percent = limit_percent + 100 * noise / base,
	};
}
