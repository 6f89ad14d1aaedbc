/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and descriptors.  Each event has the number of its row (io_rows.h), whatever filters
 * choose; the events are counted with their rows in the place of stacks.
 */
#include "analysis/kinds/io_metrics.h"
#include "analysis/kinds/io_rows.h"
#include "analysis/metric/metric_values.h"
#include "analysis/session/scan.h"
#include "analysis/tree/compare.h"
#include "analysis/views/io.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"

#include <stdlib.h>
#include <string.h>

struct grouping {
	const struct tally *tally;
	const struct io_rows *rows;
	struct measure_sums sums;
};

/* What a thread of the scan works on. */
struct counting {
	const uint32_t *rows; /* by row of the process's trace */
	struct measure_sums sums;
};

static void count_piece(const struct scan_piece *piece, void *state)
{
	struct counting *counting = state;
	struct measuring measuring = piece->measuring;

	if (piece->run->kind != (enum event_kind)(EVENTS_TRACE + TRACE_IO))
		return;
	measuring.places = counting->rows + piece->run->first;
	measuring.sums = &counting->sums;
	measure_run(piece->run, &measuring);
}

static void count_process(struct grouping *grouping, const struct session_process *process)
{
	size_t threads = scan_threads();
	const uint32_t *rows = grouping->rows->of[process->id - 1];
	struct counting *states = xcalloc(threads, sizeof(*states));
	void **pointers = xcalloc(threads, sizeof(*pointers));

	for (size_t i = 0; i < threads; i++) {
		states[i] =
			(struct counting){.rows = rows, .sums = {.nodes = grouping->sums.nodes}};
		pointers[i] = &states[i];
	}
	scan_process(grouping->tally, process, count_piece, pointers);
	for (size_t i = 0; i < threads; i++)
		measure_fold(&grouping->sums, &states[i].sums, NULL);
	free(pointers);
	free(states);
}

static double value_of(const struct grouping *grouping, const struct metric *metric, size_t row)
{
	const uint64_t *of = metric->is_static ? NULL : grouping->sums.of[metric->measure];

	return of ? values_convert(metric, of[row]) : 0;
}

/* Row 0 is the sum of the others. */
static void sum_up(struct measure_sums *sums)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		for (size_t row = 1; sums->of[i] && row < sums->nodes; row++)
			sums->of[i][0] += sums->of[i][row];
}

static bool is_empty(const struct grouping *grouping, size_t row)
{
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (grouping->sums.of[i] && grouping->sums.of[i][row])
			return false;
	return true;
}

static void fill_table(const struct grouping *grouping, const struct query *query,
		       struct table *table)
{
	const struct io_row *rows = grouping->rows->rows.items;
	size_t count = grouping->rows->rows.count, shown = 0;
	struct sort_key *keys = xmalloc(count * sizeof(*keys));

	for (uint32_t i = 1; i < count; i++)
		if (!is_empty(grouping, i))
			keys[shown++] = sort_key_of(
				query, value_of(grouping, query->sort.metric, i), rows[i].title, i);
	table_sort(keys, shown, query);
	shown++;
	table_set_rows(table, query->limit && shown > query->limit ? query->limit : shown);
	for (size_t i = 0; i < table->row_count; i++) {
		uint32_t row = i ? keys[i - 1].index : 0;

		table->rows[i].name = rows[row].title;
		table->rows[i].id = row;
		for (size_t k = 0; k < table->column_count; k++)
			table->values[i * table->column_count + k] =
				value_of(grouping, table->columns[k].choice.metric, row);
	}
	memcpy(table->base, table->values, table->column_count * sizeof(double));
	free(keys);
}

static void fill(struct tally *tally, const struct query *query, enum io_row_kind kind,
		 struct table *table)
{
	struct session *session = tally->session;
	struct query of_io = io_query(session, query);
	struct grouping grouping = {.tally = tally, .rows = io_rows_of(session, kind)};

	grouping.sums.nodes = grouping.rows->rows.count;
	for (size_t i = 0; i < session->scanned.count; i++)
		count_process(&grouping, &session->scanned.items[i]);
	sum_up(&grouping.sums);
	table_init(table, &of_io, COLUMNS_EXCLUSIVE);
	fill_table(&grouping, &of_io, table);
	vec_fini(&of_io.metrics);
	measure_fini(&grouping.sums);
}

static void fill_activity(struct tally *tally, const struct query *query, const void *arg,
			  struct table *table)
{
	(void)arg;
	fill(tally, query, IO_ROWS_FILES, table);
	table->title = "I/O Activity";
}

void view_io_activity(struct session *session, const struct query *query, struct table *table)
{
	view_run(session, query,
		 &(struct view){.fill = fill_activity, .identity = ROWS_BY_ID, .order = ORDER_LIST},
		 table);
}

static void fill_detail(struct tally *tally, const struct query *query, const void *arg,
			struct table *table)
{
	(void)arg;
	fill(tally, query, tally->shape->united ? IO_ROWS_COMPARED : IO_ROWS_OPENINGS, table);
	table->title = "I/O Activity by Descriptor";
}

void view_io_detail(struct session *session, const struct query *query, struct table *table)
{
	view_run(session, query,
		 &(struct view){.fill = fill_detail, .identity = ROWS_BY_ID, .order = ORDER_LIST},
		 table);
}
