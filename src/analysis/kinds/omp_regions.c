/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/omp_regions.h"

#include "analysis/session/functions.h"
#include "analysis/session/omp_names.h"
#include "analysis/session/scan.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/compare.h"
#include "analysis/views/table.h"
#include "analysis/views/table_rows.h"
#include "base/array.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Executions of one construct's function, in all processes. */
struct sums {
	uint32_t function;
	const char *name;
	uint64_t calls, threads;
	uint64_t took_ns, worked_ns;
	uint64_t whole_ns;   /* of its threads */
	uint64_t longest_ns; /* threads * what the longest of each worked; of tasks the longest */
};

/* What regions took within those of one row: all, those that are chosen, and of the latter those
 * of the same row. */
struct nested {
	uint64_t key; /* of the row */
	uint64_t all_ns, chosen_ns, same_ns;
};

struct counting {
	struct session *session;
	const struct query *query;
	enum format_omp_type type;
	pthread_mutex_t mutex;
	VEC(struct sums) rows;
	struct hash_map row_of; /* the session's number, or process and construct → row */
	VEC(struct nested) nested;
	struct hash_map nested_of; /* key of a row → place in nested */
	uint64_t nested_ns;	   /* of chosen regions in other rows' chosen ones */
};

static uint64_t less(uint64_t ns, uint64_t by)
{
	return ns > by ? ns - by : 0;
}

static uint64_t row_key(const struct session_process *process, uint64_t number)
{
	const struct omp_construct *construct = omp_construct_of(process, number);

	return construct ? construct->number : (uint64_t)process->id << 32 | (number & UINT32_MAX);
}

static struct sums *row_of(struct counting *counting, const struct session_process *process,
			   uint64_t number)
{
	const struct omp_construct *construct = omp_construct_of(process, number);
	uint64_t key = row_key(process, number);
	uint32_t fresh = (uint32_t)counting->rows.count;
	uint32_t row = hash_map_put(&counting->row_of, key, fresh);

	if (row == fresh)
		*vec_push(&counting->rows) = (struct sums){
			.function = construct ? construct->function : FUNCTION_UNKNOWN,
			.name = omp_construct_name(counting->session, process, number,
						   counting->query->name_style)};
	return &counting->rows.items[row];
}

static void add_event(struct counting *counting, const struct session_process *process,
		      const struct event_run *run, size_t row)
{
	uint64_t threads = event_field(run, OMP_THREADS)[row];
	uint64_t took_ns = event_field(run, OMP_DURATION)[row];
	uint64_t longest_ns = event_field(run, OMP_LONGEST)[row];
	struct sums *sums = row_of(counting, process, event_field(run, OMP_NUMBER)[row]);

	sums->calls += event_field(run, OMP_CALLS)[row];
	sums->threads = threads > sums->threads ? threads : sums->threads;
	sums->took_ns += took_ns;
	sums->worked_ns += event_field(run, OMP_WORKED)[row];
	sums->whole_ns += threads * took_ns;
	if (counting->type == OMP_REGION)
		sums->longest_ns += threads * longest_ns;
	else if (longest_ns > sums->longest_ns)
		sums->longest_ns = longest_ns;
}

/* A thread that encounters a region is in the one around it for as long: it is the inner one's
 * time. */
static void add_nested(struct counting *counting, const struct session_process *process,
		       const struct event_run *run, size_t row, bool is_chosen)
{
	uint64_t took_ns = event_field(run, OMP_DURATION)[row];
	uint64_t number = event_field(run, OMP_NUMBER)[row], outer = 0;
	uint32_t place, fresh = (uint32_t)counting->nested.count;
	uint64_t key;

	if (number < process->omp_construct_count)
		outer = omp_nearest(process, process->omp_constructs[number].parent, false);
	if (!outer)
		return;
	key = row_key(process, outer);
	place = hash_map_put(&counting->nested_of, key, fresh);
	if (place == fresh)
		*vec_push(&counting->nested) = (struct nested){.key = key};

	struct nested *nested = &counting->nested.items[place];

	nested->all_ns += took_ns;
	nested->chosen_ns += is_chosen ? took_ns : 0;
	nested->same_ns += is_chosen && key == row_key(process, number) ? took_ns : 0;
}

/* Takes from rows what is the time of others. */
static void settle_nested(struct counting *counting)
{
	for (size_t i = 0; i < counting->nested.count; i++) {
		const struct nested *nested = &counting->nested.items[i];
		uint32_t row = hash_map_get(&counting->row_of, nested->key);
		struct sums *sums = row == HASH_NONE ? NULL : &counting->rows.items[row];

		if (!sums)
			continue;
		sums->whole_ns = less(sums->whole_ns, nested->all_ns);
		sums->took_ns = less(sums->took_ns, nested->same_ns);
		counting->nested_ns += nested->chosen_ns - nested->same_ns;
	}
}

static void count_piece(const struct scan_piece *piece, void *state)
{
	struct counting *counting = state;
	const struct event_run *run = piece->run;

	if (run->kind != EVENTS_TRACE + TRACE_OMP)
		return;
	pthread_mutex_lock(&counting->mutex);
	for (size_t row = 0; row < run->count; row++) {
		bool is_chosen = measure_is_chosen(&piece->measuring, row);

		if (event_column(run, ROW_TYPE)[row] != (uint64_t)counting->type)
			continue;
		if (counting->type == OMP_REGION)
			add_nested(counting, piece->process, run, row, is_chosen);
		if (is_chosen)
			add_event(counting, piece->process, run, row);
	}
	pthread_mutex_unlock(&counting->mutex);
}

static uint64_t lost_ns(const struct sums *sums)
{
	return less(sums->whole_ns, sums->worked_ns);
}

/* Not more than what is lost: clocks of several threads. */
static uint64_t unequal_ns(const struct sums *sums)
{
	uint64_t unequal = less(sums->longest_ns, sums->worked_ns);

	return unequal < lost_ns(sums) ? unequal : lost_ns(sums);
}

static int by_loss(const void *a, const void *b)
{
	const struct sums *x = a, *y = b;

	if (lost_ns(x) != lost_ns(y))
		return lost_ns(x) > lost_ns(y) ? -1 : 1;
	if (x->took_ns != y->took_ns)
		return x->took_ns > y->took_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_time(const void *a, const void *b)
{
	const struct sums *x = a, *y = b;

	if (x->took_ns != y->took_ns)
		return x->took_ns > y->took_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void count_all(struct counting *counting, struct tally *tally, const struct query *query,
		      enum format_omp_type type)
{
	size_t threads = scan_threads();
	void **states = xcalloc(threads, sizeof(*states));

	*counting = (struct counting){.session = tally->session, .query = query, .type = type};
	pthread_mutex_init(&counting->mutex, NULL);
	for (size_t i = 0; i < threads; i++)
		states[i] = counting;
	for (size_t i = 0; i < tally->session->scanned.count; i++)
		scan_process(tally, &tally->session->scanned.items[i], count_piece, states);
	free(states);
	settle_nested(counting);
	hash_map_fini(&counting->row_of);
	hash_map_fini(&counting->nested_of);
	vec_fini(&counting->nested);
	if (counting->rows.count)
		qsort(counting->rows.items, counting->rows.count, sizeof(struct sums),
		      type == OMP_REGION ? by_loss : by_time);
}

static void counting_fini(struct counting *counting)
{
	pthread_mutex_destroy(&counting->mutex);
	vec_fini(&counting->rows);
}

/* ---- tables ---- */

static const struct metric region_columns[] = {
	{.command = "duration", .title = "Duration", .unit = UNIT_SECONDS},
	{.command = "calls", .title = "Calls", .unit = UNIT_COUNT},
	{.command = "threads", .title = "Most Threads", .unit = UNIT_COUNT},
	{.command = "work", .title = "Work Time", .unit = UNIT_SECONDS},
	{.command = "lost", .title = "Lost Time", .unit = UNIT_SECONDS},
	{.command = "unequal", .title = "Lost by Unequal Work", .unit = UNIT_SECONDS},
	{.command = "name", .title = "Name", .unit = UNIT_TEXT},
};

static const struct metric task_columns[] = {
	{.command = "duration", .title = "Duration", .unit = UNIT_SECONDS},
	{.command = "calls", .title = "Tasks", .unit = UNIT_COUNT},
	{.command = "delay", .title = "Time from Creation to Begin", .unit = UNIT_SECONDS},
	{.command = "longest", .title = "Longest such Time", .unit = UNIT_SECONDS},
	{.command = "name", .title = "Name", .unit = UNIT_TEXT},
};

struct columns {
	const char *title;
	const struct metric *metrics;
	size_t count;
	enum format_omp_type type;
	void (*fill)(const struct sums *sums, double *values);
};

static void fill_region(const struct sums *sums, double *values)
{
	values[0] = (double)sums->took_ns / 1e9;
	values[1] = (double)sums->calls;
	values[2] = (double)sums->threads;
	values[3] = (double)sums->worked_ns / 1e9;
	values[4] = (double)lost_ns(sums) / 1e9;
	values[5] = (double)unequal_ns(sums) / 1e9;
}

static void fill_task(const struct sums *sums, double *values)
{
	values[0] = (double)sums->took_ns / 1e9;
	values[1] = (double)sums->calls;
	values[2] = (double)sums->worked_ns / 1e9;
	values[3] = (double)sums->longest_ns / 1e9;
}

static const struct columns of_regions = {"OpenMP regions", region_columns,
					  sizeof(region_columns) / sizeof(*region_columns),
					  OMP_REGION, fill_region};
static const struct columns of_tasks = {"OpenMP tasks", task_columns,
					sizeof(task_columns) / sizeof(*task_columns), OMP_TASKS,
					fill_task};

static void init_columns(struct table *table, const struct columns *columns)
{
	*table = (struct table){.title = columns->title, .column_count = columns->count};
	table->columns = arena_array(&table->arena, struct column, columns->count);
	table->base = arena_array(&table->arena, double, columns->count);
	for (size_t i = 0; i < columns->count; i++)
		table->columns[i].choice = (struct metric_choice){
			.metric = &columns->metrics[i], .visibility = VISIBLE_TIME | VISIBLE_VALUE};
	table->sort = table->columns[columns->type == OMP_REGION ? 4 : 0].choice;
}

static struct sums total_of(const struct counting *counting)
{
	struct sums total = {.name = "<Total>"};

	for (size_t i = 0; i < counting->rows.count; i++) {
		const struct sums *row = &counting->rows.items[i];

		total.calls += row->calls;
		total.threads = row->threads > total.threads ? row->threads : total.threads;
		total.took_ns += row->took_ns;
		total.worked_ns += row->worked_ns;
		total.whole_ns += row->whole_ns;
		if (counting->type == OMP_REGION)
			total.longest_ns += row->longest_ns;
		else if (row->longest_ns > total.longest_ns)
			total.longest_ns = row->longest_ns;
	}
	total.took_ns = less(total.took_ns, counting->nested_ns);
	return total;
}

static void fill(struct tally *tally, const struct query *query, const void *arg,
		 struct table *table)
{
	const struct columns *columns = arg;
	struct counting counting;

	count_all(&counting, tally, query, columns->type);
	init_columns(table, columns);

	const struct sums total = total_of(&counting);
	size_t count = counting.rows.count + 1;

	table_set_rows(table, query->limit && count > query->limit ? query->limit : count);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct sums *row = i ? &counting.rows.items[i - 1] : &total;

		table->rows[i].name = row->name;
		table->rows[i].id = i ? row->function : FUNCTION_TOTAL;
		columns->fill(row, &table->values[i * columns->count]);
	}
	memcpy(table->base, table->values, columns->count * sizeof(double));
	counting_fini(&counting);
}

static void view(struct session *session, const struct query *query, const struct columns *columns,
		 struct table *table)
{
	struct query in_order = *query;

	in_order.sort = (struct metric_choice){
		.metric = &columns->metrics[columns->type == OMP_REGION ? 4 : 0]};
	in_order.sort_reverse = false;
	view_run(session, &in_order,
		 &(struct view){.fill = fill,
				.arg = columns,
				.whole = columns,
				.identity = ROWS_BY_NAME,
				.order = ORDER_LIST},
		 table);
}

void view_omp_regions(struct session *session, const struct query *query, struct table *table)
{
	view(session, query, &of_regions, table);
}

void view_omp_tasks(struct session *session, const struct query *query, struct table *table)
{
	view(session, query, &of_tasks, table);
}

/* ---- judgement ---- */

static bool is_crowded(const struct session *session, uint64_t threads)
{
	const struct process_info *first = session_process(session, 0);

	return first && first->cpus && threads > first->cpus;
}

/* Less is not worth a change: of the region's threads' time, and of the time of all regions. */
static const double least_share = 0.1, least_part = 0.02;

size_t omp_find_lossy(struct session *session, const struct query *query, size_t most,
		      struct omp_finding *found)
{
	struct tally *tally = tally_of(session, query);
	struct counting counting;
	size_t count = 0;

	count_all(&counting, tally, query, OMP_REGION);

	const struct sums total = total_of(&counting);

	for (size_t i = 0; i < counting.rows.count && count < most; i++) {
		const struct sums *row = &counting.rows.items[i];
		double whole = (double)row->whole_ns, lost = (double)lost_ns(row);

		if (row->threads < 2 || lost < least_share * whole ||
		    lost < least_part * (double)total.whole_ns)
			continue;
		found[count++] =
			(struct omp_finding){.name = row->name,
					     .calls = row->calls,
					     .threads = row->threads,
					     .seconds = (double)row->took_ns / 1e9,
					     .lost = lost / whole,
					     .unequal = (double)unequal_ns(row) / whole,
					     .is_crowded = is_crowded(session, row->threads)};
	}
	counting_fini(&counting);
	tally_release(tally);
	return count;
}
