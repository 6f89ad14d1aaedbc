/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/session/events.h"

#include <stdlib.h>

static void visit_clock(const struct process *process,
			void (*visit)(const struct event_run *run, void *arg), void *arg)
{
	const struct experiment_profile *profile = &process->profile;

	for (size_t i = 0; i < profile->segments.count; i++) {
		const struct profile_segment *segment = &profile->segments.items[i];
		struct event_run run = {
			.process = process,
			.kind = EVENTS_CLOCK,
			.thread = profile->threads.items[segment->thread].number,
			.rows = &profile->rows,
			.first = segment->first,
			.count = segment->count,
		};

		visit(&run, arg);
	}
}

static void visit_trace(const struct process *process, enum event_kind kind,
			void (*visit)(const struct event_run *run, void *arg), void *arg)
{
	const struct experiment_trace *trace = &process->traces[kind - EVENTS_TRACE];

	for (size_t i = 0; i < trace->runs.count; i++) {
		const struct trace_run *part = &trace->runs.items[i];
		struct event_run run = {
			.process = process,
			.kind = kind,
			.thread = part->thread,
			.rows = &trace->rows,
			.first = part->first,
			.count = part->count,
		};

		visit(&run, arg);
	}
}

void events_for_each_run(const struct process *process, enum event_kind kind,
			 void (*visit)(const struct event_run *run, void *arg), void *arg)
{
	if (kind == EVENTS_CLOCK)
		visit_clock(process, visit, arg);
	else
		visit_trace(process, kind, visit, arg);
}

struct cutting {
	struct event_columns *columns;
	void (*visit)(const struct event_run *piece, void *arg);
	void *arg;
};

static void cut_run(const struct event_run *run, void *arg)
{
	const struct cutting *cutting = arg;

	for (size_t row = 0; row < run->count;) {
		struct event_run piece = event_run_piece(run, row, cutting->columns);

		cutting->visit(&piece, cutting->arg);
		row += piece.count;
	}
}

void events_for_each_piece(const struct process *process, enum event_kind kind,
			   void (*visit)(const struct event_run *piece, void *arg), void *arg)
{
	struct cutting cutting = {xmalloc(sizeof(*cutting.columns)), visit, arg};

	events_for_each_run(process, kind, cut_run, &cutting);
	free(cutting.columns);
}

struct event_run event_run_part(const struct event_run *run, size_t first, size_t count)
{
	struct event_run part = *run;

	part.first += first;
	part.count = count;
	part.columns = NULL;
	return part;
}

struct event_run event_run_piece(const struct event_run *run, size_t first,
				 struct event_columns *columns)
{
	size_t in_page = ROWS_PAGE - (run->first + first) % ROWS_PAGE, left = run->count - first;
	struct event_run piece = event_run_part(run, first, left < in_page ? left : in_page);

	columns->read = 0;
	piece.columns = columns;
	return piece;
}

void event_columns_read(const struct event_run *piece, unsigned column)
{
	struct event_columns *columns = piece->columns;
	uint64_t *of = columns->of[column];

	columns->read |= 1u << column;
	if (column == ROW_STACK) {
		rows_read_u32(piece->rows, column, piece->first, piece->count, columns->stack);
		return;
	}
	rows_read(piece->rows, column, piece->first, piece->count, of);
	if (column != ROW_TIME || piece->kind != EVENTS_CLOCK)
		return;
	for (size_t i = 0; i < piece->count; i++)
		of[i] *= 1000;
}
