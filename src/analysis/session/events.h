/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as views and filters see them: runs of one process, one kind and one thread.  Private to
 * this module.
 */
#ifndef HELIO_ANALYSIS_EVENTS_H
#define HELIO_ANALYSIS_EVENTS_H

#include "experiment/experiment.h"

/* Clock profiling, then the traces: EVENTS_TRACE + enum trace_kind. */
enum event_kind { EVENTS_CLOCK, EVENTS_TRACE, EVENTS_KINDS = EVENTS_TRACE + TRACE_KINDS };

/* Room for the columns of a piece of a run: read when first asked for. */
struct event_columns {
	unsigned read; /* bit set of ROW_* */
	uint32_t stack[ROWS_PAGE];
	uint64_t of[ROW_COLUMNS_MAX][ROWS_PAGE];
};

struct event_run {
	const struct process *process;
	enum event_kind kind;
	uint64_t thread; /* its number */
	const struct rows *rows;
	size_t first, count;
	struct event_columns *columns; /* of a piece; NULL: none can be read */
};

/* Calls visit for all runs of a kind, in the order of the file. */
void events_for_each_run(const struct process *process, enum event_kind kind,
			 void (*visit)(const struct event_run *run, void *arg), void *arg);
/* The same for all pieces of all runs. */
void events_for_each_piece(const struct process *process, enum event_kind kind,
			   void (*visit)(const struct event_run *piece, void *arg), void *arg);
/* Rows of a run as a run. */
struct event_run event_run_part(const struct event_run *run, size_t first, size_t count);
/*
 * The piece that begins with this row of a run, at most ROWS_PAGE long, whose columns can be read.
 * It takes the place of the one that had the room before.
 */
struct event_run event_run_piece(const struct event_run *run, size_t first,
				 struct event_columns *columns);

void event_columns_read(const struct event_run *piece, unsigned column);

/* A column of a piece, by row: ROW_CPU, ROW_TYPE, … */
static inline const uint64_t *event_column(const struct event_run *piece, unsigned column)
{
	if (!(piece->columns->read >> column & 1))
		event_columns_read(piece, column);
	return piece->columns->of[column];
}

/* PROFILE_WEIGHT, HEAP_SIZE, … */
static inline const uint64_t *event_field(const struct event_run *piece, unsigned field)
{
	return event_column(piece, ROW_FIELD + field);
}

/* Nodes of the process's stacks. */
static inline const uint32_t *event_stacks(const struct event_run *piece)
{
	event_column(piece, ROW_STACK);
	return piece->columns->stack;
}

/* Their ends, ns since the founder's start. */
static inline const uint64_t *event_times(const struct event_run *piece)
{
	return event_column(piece, ROW_TIME);
}

/* How long an event took, ns; 0 where it took no time. */
static inline uint64_t event_duration(const struct event_run *piece, size_t row)
{
	unsigned duration;

	if (piece->kind == EVENTS_CLOCK)
		return event_field(piece, PROFILE_WEIGHT)[row] * 1000;
	duration = format_kinds[piece->kind - EVENTS_TRACE].duration;
	return duration ? event_field(piece, duration - 1)[row] : 0;
}

/* Of an event of I/O: how many requests it handed to an io_uring. */
static inline uint64_t io_requests(const struct event_run *run, size_t row)
{
	uint64_t type = event_column(run, ROW_TYPE)[row];

	return type == IO_WAIT || type == IO_SUBMIT ? event_field(run, IO_OFFSET)[row] : 0;
}

#endif
