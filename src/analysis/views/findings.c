/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/views/findings.h"

#include "analysis/session/functions.h"
#include "analysis/session/session.h"
#include "analysis/session/session_state.h"
#include "analysis/views/totals.h"
#include "analysis/views/view_call_tree.h"
#include "analysis/views/view_functions.h"
#include "base/array.h"
#include "base/memory.h"
#include "experiment/unrecorded.h"

#include <stdlib.h>
#include <string.h>

/* A caller whose callee has more than this part of its value only passes it on. */
static const double passed_on = 0.98;

double findings_inclusive(struct session *session, const struct query *query, uint32_t function,
			  const struct metric *metric)
{
	double exclusive, inclusive, total;

	view_function_values(session, query, function, metric, &exclusive, &inclusive, &total);
	return inclusive;
}

static bool has_total(struct session *session, const struct query *query,
		      const struct metric *metric)
{
	return metric && metric_available(session, metric) &&
	       view_total(session, query, metric) > 0;
}

const struct metric *findings_metric(struct session *session, const struct query *query)
{
	const struct metric *cpu = metric_find(session, "totalcpu");
	const struct metric *sorted = tree_part_metric(query);

	if (has_total(session, query, cpu))
		return cpu;
	for (size_t i = 0; i < query->metrics.count && !has_total(session, query, sorted); i++)
		if (has_total(session, query, query->metrics.items[i].metric))
			return query->metrics.items[i].metric;
	return sorted;
}

/* The metric, exclusive and inclusive, as all there is. */
static struct query hot_query(const struct query *query, const struct metric *metric,
			      struct metric_choice choices[2], enum metric_flavor sort)
{
	choices[0] = (struct metric_choice){metric, FLAVOR_EXCLUSIVE, VISIBLE_VALUE};
	choices[1] = (struct metric_choice){metric, FLAVOR_INCLUSIVE, VISIBLE_VALUE};
	return query_of_choices(query, choices, 2, sort == FLAVOR_INCLUSIVE);
}

static bool is_unrecorded(const char *name)
{
	return !strncmp(name, UNRECORDED_PREFIX, strlen(UNRECORDED_PREFIX));
}

size_t findings_hottest(const struct table *functions)
{
	for (size_t i = 1; i < functions->row_count; i++) {
		if (functions->values[i * functions->column_count] <= 0)
			return 0;
		if (functions->rows[i].id >= FUNCTION_FIRST_REAL &&
		    !is_unrecorded(functions->rows[i].name))
			return i;
	}
	return 0;
}

/* Of the column: into a list that is in order, where there is room in it. */
static size_t insert_row(const struct table *table, size_t column, size_t row, size_t *rows,
			 size_t count, size_t most)
{
	double value = table->values[row * table->column_count + column];
	size_t place = count;

	if (value <= 0)
		return count;
	for (; place && table->values[rows[place - 1] * table->column_count + column] < value;
	     place--)
		if (place < most)
			rows[place] = rows[place - 1];
	if (place >= most)
		return count;
	rows[place] = row;
	return count + (count < most);
}

size_t findings_hottest_rows(const struct table *table, size_t *column, size_t *rows, size_t most)
{
	size_t count = 0;

	for (*column = 0; *column < table->column_count; ++*column)
		if (!table->columns[*column].choice.metric->is_static)
			break;
	for (size_t row = 0; *column < table->column_count && row < table->row_count; row++)
		count = insert_row(table, *column, row, rows, count, most);
	return count;
}

/* ---- the main path ---- */

static double path_value(const struct table *table, size_t row)
{
	return table->values[row * table->column_count];
}

void view_main_path(struct session *session, const struct query *query, const struct metric *metric,
		    struct main_path *path)
{
	const struct tree_part part = {.hottest = true, .percent = FINDINGS_LEAST_PERCENT};
	struct metric_choice choices[2];
	struct query hot = hot_query(query, metric, choices, FLAVOR_INCLUSIVE);
	const struct table *table = &path->table;
	uint32_t level = 1;

	*path = (struct main_path){0};
	view_call_tree(session, &hot, &part, &path->table);
	path->rows = xcalloc(table->row_count + 1, sizeof(*path->rows));
	for (size_t i = 1; i < table->row_count; i++) {
		bool follows =
			i + 1 < table->row_count && row_depth(&table->rows[i + 1]) == level + 1;

		if (row_depth(&table->rows[i]) != level)
			continue;
		level++;
		if (follows && path_value(table, i + 1) > passed_on * path_value(table, i))
			path->skipped++;
		else
			path->rows[path->count++] = i;
	}
}

double main_path_value(const struct main_path *path, size_t step)
{
	return path_value(&path->table, path->rows[step]);
}

void main_path_fini(struct main_path *path)
{
	free(path->rows);
	table_fini(&path->table);
}

/* ---- what is not known ---- */

double findings_unnamed(struct session *session, const struct query *query,
			const struct metric *metric)
{
	struct metric_choice choices[2];
	struct query hot = hot_query(query, metric, choices, FLAVOR_EXCLUSIVE);
	struct table table;
	double sum = 0;

	hot.name_soname = false;
	view_functions(session, &hot, &table);
	for (size_t i = 1; i < table.row_count; i++)
		if (strstr(table.rows[i].name, "-- no functions found") ||
		    !strncmp(table.rows[i].name, "<static>@", 9))
			sum += path_value(&table, i);
	table_fini(&table);
	return sum;
}

void view_unrecorded(struct session *session, const struct query *query,
		     const struct metric *metric, struct unrecorded_use *use)
{
	struct metric_choice choices[2];
	struct query hot = hot_query(query, metric, choices, FLAVOR_EXCLUSIVE);

	*use = (struct unrecorded_use){0};
	view_functions(session, &hot, &use->table);
	use->rows = xcalloc(use->table.row_count + 1, sizeof(*use->rows));
	for (size_t i = 1; i < use->table.row_count; i++) {
		if (!is_unrecorded(use->table.rows[i].name))
			continue;
		use->value += path_value(&use->table, i);
		use->rows[use->count++] = i;
	}
}

void unrecorded_use_fini(struct unrecorded_use *use)
{
	free(use->rows);
	table_fini(&use->table);
}

/* ---- what was not asked for ---- */

const char *process_setting(const struct process_info *process, const char *name)
{
	for (size_t i = 0; i < process->setting_count; i++)
		if (!strcmp(process->settings[i].name, name))
			return process->settings[i].value;
	return NULL;
}

bool process_has_no_clock(const struct process_info *process)
{
	return log_clock_is_off(process_setting(process, "clock"));
}

/* Paused at first, and never resumed. */
static bool is_never_resumed(const struct process_info *process)
{
	bool paused = process_setting(process, "begin_paused");

	for (size_t k = 0; k < process->event_count_log; k++)
		paused &= strcmp(process->events[k].kind, "resume") != 0;
	return paused;
}

static bool is_unrecorded_throughout(const struct session *session,
				     const struct process_info *founder)
{
	uint64_t recorded_ns = 0;

	for (size_t i = 0; i < session_process_count(session); i++) {
		const struct process_info *process = session_process(session, i);

		recorded_ns += process->founder == founder->id ? process->recorded_ns : 0;
	}
	return !recorded_ns && founder->family_end_ns > founder->start_ns;
}

double findings_paused_seconds(const struct session *session, const struct process_info *founder,
			       double *lives)
{
	uint64_t recorded_ns = 0, lives_ns = 0;

	for (size_t i = 0; i < session_process_count(session); i++) {
		const struct process_info *process = session_process(session, i);

		if (process->founder != founder->id || process->end_ns < process->start_ns)
			continue;
		uint64_t life_ns = process->end_ns - process->start_ns;

		lives_ns += life_ns;
		recorded_ns += process->recorded_ns < life_ns ? process->recorded_ns : life_ns;
	}
	*lives = (double)lives_ns / 1e9;
	return (double)(lives_ns - recorded_ns) / 1e9;
}

enum unasked findings_unasked(const struct session *session, const struct process_info *founder)
{
	if (is_never_resumed(founder))
		return UNASKED_PAUSED;
	if (is_unrecorded_throughout(session, founder))
		return UNASKED_OUTSIDE;
	return process_has_no_clock(founder) ? UNASKED_CLOCK : ASKED;
}

bool findings_has_messages(const struct session *session)
{
	for (size_t i = 0; i < session_process_count(session); i++) {
		const struct process_info *process = session_process(session, i);

		for (size_t k = 0; k < process->event_count_log; k++)
			if (!strcmp(process->events[k].kind, "warning") ||
			    !strcmp(process->events[k].kind, "error"))
				return true;
	}
	return false;
}

/* ---- waits ---- */

bool findings_idle_part(const struct idle_threads *idle, const struct metric *metric, double value,
			struct idle_part *part)
{
	bool is_lock = !strcmp(metric->command, "lock");

	*part = (struct idle_part){
		.is_lock = is_lock,
		.threads = is_lock ? idle->lock_threads : idle->sleep_threads,
		.seconds = is_lock ? idle->lock_seconds : idle->sleep_seconds,
	};
	part->others = value > part->seconds ? value - part->seconds : 0;
	return (is_lock || !strcmp(metric->command, "sleep")) && part->threads &&
	       totals_percent(part->seconds, value) >= FINDINGS_LEAST_PERCENT;
}

/* What of a wait is not that of idle threads. */
static double real_wait(struct session *session, const struct query *query,
			const struct idle_threads *idle, const struct metric *metric)
{
	double value = view_total(session, query, metric);

	if (!strcmp(metric->command, "lock"))
		value -= idle->lock_seconds;
	else if (!strcmp(metric->command, "sleep"))
		value -= idle->sleep_seconds;
	return value;
}

const struct metric *findings_main_wait(struct session *session, const struct query *query,
					const struct idle_threads *idle)
{
	static const char *const waits[] = {"sleep", "lock", "wait", "datapfault", "stop"};
	const struct metric *most = NULL;
	double least = view_total(session, query, metric_find(session, "total")) / 4;

	for (size_t i = 0; i < COUNT(waits); i++) {
		const struct metric *metric = metric_find(session, waits[i]);
		double value = real_wait(session, query, idle, metric);

		if (value > least) {
			least = value;
			most = metric;
		}
	}
	return most;
}
