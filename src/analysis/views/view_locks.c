/* SPDX-License-Identifier: Apache-2.0 */
/* The list of locks. */
#include "analysis/kinds/lock_scan.h"
#include "analysis/tree/compare.h"
#include "analysis/views/locks.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"

#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_WAIT,
	COLUMN_COUNT,
	COLUMN_LONGEST,
	COLUMN_FAILED,
	COLUMN_WAITERS,
	COLUMN_HOLDERS,
	COLUMN_NAME,
	COLUMNS
};

static const struct metric columns[COLUMNS] = {
	[COLUMN_WAIT] = {.command = "sync", .title = "Sync Wait Time", .unit = UNIT_SECONDS},
	[COLUMN_COUNT] = {.command = "syncn", .title = "Sync Wait Count", .unit = UNIT_COUNT},
	[COLUMN_LONGEST] = {.command = "longest",
			    .title = "Longest Wait Time",
			    .unit = UNIT_SECONDS},
	[COLUMN_FAILED] = {.command = "failed", .title = "Failed Waits", .unit = UNIT_COUNT},
	[COLUMN_WAITERS] = {.command = "waiters", .title = "Waiting Threads", .unit = UNIT_COUNT},
	[COLUMN_HOLDERS] = {.command = "holders", .title = "Holding Threads", .unit = UNIT_COUNT},
	[COLUMN_NAME] = {.command = "name", .title = "Name", .unit = UNIT_TEXT},
};

static void init_columns(struct table *table)
{
	*table = (struct table){.title = "Locks", .column_count = COLUMNS};
	table->columns = arena_array(&table->arena, struct column, COLUMNS);
	table->base = arena_array(&table->arena, double, COLUMNS);
	for (size_t i = 0; i < COLUMNS; i++)
		table->columns[i].choice = (struct metric_choice){
			.metric = &columns[i], .visibility = VISIBLE_TIME | VISIBLE_VALUE};
	table->sort = table->columns[COLUMN_WAIT].choice;
}

static void fill_row(const struct lock *lock, double *values)
{
	values[COLUMN_WAIT] = (double)lock->sums.waited_ns / 1e9;
	values[COLUMN_COUNT] = (double)lock->sums.count;
	values[COLUMN_LONGEST] = (double)lock->sums.longest_ns / 1e9;
	values[COLUMN_FAILED] = (double)lock->sums.failed;
	values[COLUMN_WAITERS] = lock->waiters.count;
	values[COLUMN_HOLDERS] = lock->holders.count;
}

static void fill(struct tally *tally, const struct query *query, const void *arg,
		 struct table *table)
{
	struct lock_scan scan = {.most = query->limit};

	(void)arg;
	lock_scan_run(&scan, tally);
	init_columns(table);

	size_t count = scan.locks.count + 1;
	const struct lock **order = lock_scan_order(&scan);

	table_set_rows(table, query->limit && count > query->limit ? query->limit : count);
	table->rows[0].name = scan.total.name;
	fill_row(&scan.total, table->values);
	for (size_t i = 1; i < table->row_count; i++) {
		const struct lock *lock = order[i - 1];

		table->rows[i].name = lock_title(lock, &table->arena);
		table_set_object(table, &table->rows[i], lock->object);
		table->rows[i].id = (uint32_t)i;
		fill_row(lock, &table->values[i * COLUMNS]);
	}
	memcpy(table->base, table->values, COLUMNS * sizeof(double));
	free(order);
	lock_scan_fini(&scan);
}

size_t locks_find_omp(struct session *session, const struct query *query, double seconds,
		      size_t most, struct lock_finding *found)
{
	struct tally *tally = tally_of(session, query);
	struct lock_scan scan = {.most = most, .types = LOCK_TYPES_OPENMP};
	const struct lock **order;
	size_t count = 0;

	lock_scan_run(&scan, tally);
	order = lock_scan_order(&scan);
	for (size_t i = 0; i < scan.locks.count && count < most; i++) {
		const struct lock *lock = order[i];

		if ((double)lock->sums.waited_ns / 1e9 < seconds)
			continue;
		found[count++] = (struct lock_finding){
			.name = lock->name,
			.kind = lock_type_name((unsigned)__builtin_ctz(lock->types)),
			.count = lock->sums.count,
			.waiters = lock->waiters.count,
			.seconds = (double)lock->sums.waited_ns / 1e9};
	}
	free(order);
	lock_scan_fini(&scan);
	tally_release(tally);
	return count;
}

void view_locks(struct session *session, const struct query *query, struct table *table)
{
	struct query by_wait = *query;

	by_wait.sort = (struct metric_choice){.metric = &columns[COLUMN_WAIT]};
	by_wait.sort_reverse = false;
	view_run(session, &by_wait,
		 &(struct view){.fill = fill, .identity = ROWS_BY_NAME, .order = ORDER_LIST},
		 table);
}
