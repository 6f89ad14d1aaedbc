/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and descriptors.  Each event of a process gets the number of its row first, whatever
 * filters choose later; then the events are counted with their rows in the place of stacks.
 *
 * A descriptor's number is used again and again: an event belongs to the last opening of
 * its number that was over when it began.  Who has the number has it from that call.
 */
#include "analysis/compare.h"
#include "analysis/io.h"
#include "analysis/io_metrics.h"
#include "analysis/scan.h"

#include <stdlib.h>
#include <string.h>

#define NO_NAME "<Other I/O activity>"

/* A return of a call that made a descriptor. */
struct opening {
	uint64_t fd, time_ns;
};

struct opening_list {
	struct opening *items;
	size_t count, capacity;
};

struct grouping {
	struct session *session;
	struct arena *arena;
	bool by_descriptor;
	struct string_table names;
	struct hash_map known;	/* of what makes a row → row */
	VEC(const char *) rows; /* 0 is <Total> */
	struct measure_sums sums;
};

/* What a thread of the scan works on. */
struct counting {
	const uint32_t *rows; /* by row of the process's trace */
	struct measure_sums sums;
};

static int compare_openings(const void *a, const void *b)
{
	const struct opening *x = a, *y = b;

	if (x->fd != y->fd)
		return x->fd < y->fd ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static void find_openings(const struct experiment_trace *trace, struct opening_list *list)
{
	for (size_t i = 0; i < trace->count; i++)
		if (trace->type[i] == IO_OPEN && trace->field[IO_DESCRIPTOR][i])
			*vec_push(list) =
				(struct opening){trace->field[IO_DESCRIPTOR][i], trace->time_ns[i]};
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_openings);
}

/* The number of the last opening of the event's descriptor, from 1; 0: it was there before. */
static size_t opening_of(const struct opening_list *list, const struct experiment_trace *trace,
			 size_t event)
{
	uint64_t waited = trace->type[event] == IO_OPEN ? 0 : trace->field[IO_WAITED][event];
	uint64_t time = trace->time_ns[event], begin = time > waited ? time - waited : 0;
	struct opening key = {trace->field[IO_DESCRIPTOR][event], begin};
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_openings(&list->items[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && list->items[low - 1].fd == key.fd ? low : 0;
}

static uint32_t add_row(struct grouping *grouping, uint64_t key, const char *name)
{
	uint32_t fresh = (uint32_t)grouping->rows.count;
	uint32_t row = hash_map_put(&grouping->known, key, fresh);

	if (row == fresh)
		*vec_push(&grouping->rows) = name;
	return row;
}

static const char *detail_name(const struct grouping *grouping, const struct process_info *process,
			       const char *name, uint64_t fd)
{
	size_t number = grouping->rows.count;
	const char *where = grouping->session->processes.count > 1
				    ? arena_printf(grouping->arena, ", Process %u", process->id)
				    : "";

	return fd ? arena_printf(grouping->arena, "%s (IOVFD=%zu, FD=%llu%s)", name, number,
				 (unsigned long long)fd - 1, where)
		  : arena_printf(grouping->arena, "%s (IOVFD=%zu%s)", name, number, where);
}

/* The session's number of each name of a process, by the number of its text there. */
static uint32_t *names_of(struct grouping *grouping, const struct experiment_trace *trace)
{
	uint32_t *names = xmalloc((trace->texts.count + 1) * sizeof(*names));
	uint32_t none = string_table_add(&grouping->names, NO_NAME);

	for (size_t i = 0; i < trace->texts.count; i++) {
		const char *text = trace->texts.items[i];

		names[i] = text ? string_table_add(&grouping->names, text) : none;
	}
	names[trace->texts.count] = none;
	return names;
}

static uint32_t row_of_opening(struct grouping *grouping, const struct session_process *process,
			       uint32_t name, uint64_t fd, size_t opening)
{
	uint64_t key =
		hash_u64(hash_u64((uint64_t)process->id << 32 | name) ^ (fd << 32 ^ opening));
	uint32_t row = hash_map_get(&grouping->known, key);

	if (row != HASH_NONE)
		return row;
	return add_row(grouping, key,
		       detail_name(grouping, &grouping->session->processes.items[process->id - 1],
				   grouping->names.items[name], fd));
}

static void find_rows(struct grouping *grouping, const struct session_process *process,
		      const uint32_t *names, uint32_t *rows)
{
	const struct experiment_trace *trace = &process->process->traces[TRACE_IO];
	struct opening_list openings = {0};

	if (grouping->by_descriptor)
		find_openings(trace, &openings);
	for (size_t i = 0; i < trace->count; i++) {
		uint64_t text = trace->field[IO_NAME][i], fd = trace->field[IO_DESCRIPTOR][i];
		uint32_t name = names[text < trace->texts.count ? text : trace->texts.count];

		rows[i] = grouping->by_descriptor
				  ? row_of_opening(grouping, process, name, fd,
						   fd ? opening_of(&openings, trace, i) : 0)
				  : add_row(grouping, name, grouping->names.items[name]);
	}
	vec_fini(&openings);
}

static uint32_t *rows_of(struct grouping *grouping, const struct session_process *process)
{
	const struct experiment_trace *trace = &process->process->traces[TRACE_IO];
	uint32_t *rows = xmalloc((trace->count + 1) * sizeof(*rows));
	uint32_t *names = names_of(grouping, trace);

	find_rows(grouping, process, names, rows);
	free(names);
	return rows;
}

static void count_piece(const struct scan_piece *piece, void *state)
{
	struct counting *counting = state;
	struct measuring measuring = piece->measuring;
	struct event_run by_row = *piece->run;

	if (by_row.kind != (enum event_kind)(EVENTS_TRACE + TRACE_IO))
		return;
	by_row.stack = counting->rows + by_row.first;
	measuring.sums = &counting->sums;
	measure_run(&by_row, &measuring);
}

static void count_process(struct grouping *grouping, const struct session_process *process)
{
	size_t threads = scan_threads();
	uint32_t *rows = rows_of(grouping, process);
	struct counting *states = xcalloc(threads, sizeof(*states));
	void **pointers = xcalloc(threads, sizeof(*pointers));

	measure_grow(&grouping->sums, grouping->rows.count);
	for (size_t i = 0; i < threads; i++) {
		states[i] =
			(struct counting){.rows = rows, .sums = {.nodes = grouping->rows.count}};
		pointers[i] = &states[i];
	}
	scan_process(grouping->session, process, count_piece, pointers);
	for (size_t i = 0; i < threads; i++) {
		measure_fold(&grouping->sums, &states[i].sums, NULL);
		measure_fini(&states[i].sums);
	}
	free(pointers);
	free(states);
	free(rows);
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
	struct sort_key *keys = xmalloc(grouping->rows.count * sizeof(*keys));
	size_t shown = 0;

	for (uint32_t i = 1; i < grouping->rows.count; i++)
		if (!is_empty(grouping, i))
			keys[shown++] = (struct sort_key){value_of(grouping, query->sort.metric, i),
							  grouping->rows.items[i], i};
	table_sort(keys, shown, query);
	shown++;
	table_set_rows(table, query->limit && shown > query->limit ? query->limit : shown);
	for (size_t i = 0; i < table->row_count; i++) {
		uint32_t row = i ? keys[i - 1].index : 0;

		table->rows[i].name = arena_strdup(&table->arena, grouping->rows.items[row]);
		table->rows[i].id = row;
		for (size_t k = 0; k < table->column_count; k++)
			table->values[i * table->column_count + k] =
				value_of(grouping, table->columns[k].choice.metric, row);
	}
	memcpy(table->base, table->values, table->column_count * sizeof(double));
	free(keys);
}

static void view(struct session *session, const struct query *query, bool by_descriptor,
		 struct table *table)
{
	struct query of_io = io_query(session, query);
	struct arena arena = {0};
	struct grouping grouping = {
		.session = session, .arena = &arena, .by_descriptor = by_descriptor};

	*vec_push(&grouping.rows) = "<Total>";
	for (size_t i = 0; i < session->scanned.count; i++)
		count_process(&grouping, &session->scanned.items[i]);
	sum_up(&grouping.sums);
	table_init(table, &of_io, COLUMNS_EXCLUSIVE);
	fill_table(&grouping, &of_io, table);
	vec_fini(&of_io.metrics);
	measure_fini(&grouping.sums);
	hash_map_fini(&grouping.known);
	string_table_fini(&grouping.names);
	vec_fini(&grouping.rows);
	arena_fini(&arena);
}

static void fill_activity(struct session *session, const struct query *query, const void *arg,
			  struct table *table)
{
	(void)arg;
	view(session, query, false, table);
	table->title = "I/O Activity";
}

void view_io_activity(struct session *session, const struct query *query, struct table *table)
{
	view_run(session, query, &(struct view){.fill = fill_activity, .identity = ROWS_BY_NAME},
		 table);
}

void view_io_detail(struct session *session, const struct query *query, struct table *table)
{
	view(session, query, true, table);
	table->title = "I/O Activity by Descriptor";
}
