/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace files (format/kinds.h) as columns.
 *
 * Rows lie in the order of the file: those of one thread by time, threads in pieces.
 */
#ifndef HELIO_EXPERIMENT_TRACE_H
#define HELIO_EXPERIMENT_TRACE_H

#include "base/arena.h"
#include "base/memory.h"
#include "experiment/block.h"
#include "experiment/rows.h"

struct stack_tree;

/* A column that hwcounters has beside its fields: the NUMA node of the address + 1; 0: unknown. */
enum { COUNTER_NODE = COUNTER_FIELDS };

/* Rows in a run that are of one thread. */
struct trace_run {
	size_t first, count;
	uint64_t thread; /* number as recorded */
};

/* A thread let go of a lock that others waited for. */
struct trace_release {
	uint64_t time_ns, thread, object;
};

struct experiment_trace {
	bool present;
	bool damaged;
	/*
	 * ROW_TIME: ns since the founder's start, of the event's end; ROW_STACK: node of the stack
	 * tree, after trace_bind; ROW_CPU: or PROFILE_NO_CPU; ROW_TYPE and ROW_FIELD + …: by the
	 * kind's list
	 */
	struct rows rows;
	VEC(struct trace_run) runs;
	VEC(struct trace_release) releases; /* of synctrace, in order of the file */
	VEC(const char *) texts;	    /* by number; NULL: not there */
	uint64_t dropped;
	struct block_counts counts;
};

/* Reads one file; a missing one leaves `present` false and is not reported. Texts lie in the arena.
 */
void experiment_trace_read(struct experiment_trace *trace, enum trace_kind kind,
			   struct arena *arena, const struct read_context *context);
void experiment_trace_fini(struct experiment_trace *trace);
/* How many events there are in it, of which no more than a block's are in memory at a time. */
uint64_t experiment_trace_count(enum trace_kind kind, const struct read_context *context);
/* An event of another source than our own files; texts are the caller's to add. */
struct trace_event {
	uint64_t thread, time_ns;
	uint32_t stack; /* node of the stack tree */
	uint16_t cpu;
	uint8_t type;
	uint64_t field[TRACE_FIELDS_MAX];
};

/* Adds it as the last row, while the rows are open; those of one thread come by time. */
void experiment_trace_add(struct experiment_trace *trace, enum trace_kind kind,
			  const struct trace_event *event);
/* The rows of a kind, none so far. */
void experiment_trace_init(struct experiment_trace *trace, enum trace_kind kind);
/* As experiment_profile_bind. */
void experiment_trace_bind(struct experiment_trace *trace, struct stack_tree *stacks,
			   const struct read_context *context);
static inline uint64_t trace_time(const struct experiment_trace *trace, size_t row)
{
	return rows_get(&trace->rows, ROW_TIME, row);
}

static inline uint32_t trace_stack(const struct experiment_trace *trace, size_t row)
{
	return (uint32_t)rows_get(&trace->rows, ROW_STACK, row);
}

static inline unsigned trace_type(const struct experiment_trace *trace, size_t row)
{
	return (unsigned)rows_get(&trace->rows, ROW_TYPE, row);
}

static inline uint64_t trace_field(const struct experiment_trace *trace, unsigned field, size_t row)
{
	return rows_get(&trace->rows, ROW_FIELD + field, row);
}

#endif
