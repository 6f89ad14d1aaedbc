/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace files (format/trace.h) as columns: heaptrace, synctrace, iotrace, hwcounters.
 *
 * Rows lie in the order of the file: those of one thread by time, threads in pieces.
 */
#ifndef HELIO_EXPERIMENT_TRACE_H
#define HELIO_EXPERIMENT_TRACE_H

#include "base/arena.h"
#include "base/memory.h"
#include "experiment/block.h"
#include "format/trace.h"

struct stack_tree;

/* Rows in a run that are of one thread. */
struct trace_run {
	size_t first, count;
	uint64_t thread; /* number as recorded */
};

struct experiment_trace {
	bool present;
	bool damaged;
	size_t count;
	size_t capacity;
	uint64_t *time_ns;		   /* since the founder's start: the event's end */
	uint32_t *stack;		   /* node of the stack tree, after trace_bind */
	uint16_t *cpu;			   /* or PROFILE_NO_CPU */
	uint8_t *type;			   /* of the kind's list */
	uint64_t *field[TRACE_FIELDS_MAX]; /* by the kind's list */
	uint8_t *node; /* of TRACE_COUNTER: NUMA node of the address + 1; 0: unknown */
	VEC(struct trace_run) runs;
	VEC(const char *) texts; /* by number; NULL: not there */
	uint64_t dropped;
	struct block_counts counts;
};

/* Reads one file; a missing one leaves `present` false and is not reported. Texts lie in the arena.
 */
void experiment_trace_read(struct experiment_trace *trace, enum trace_kind kind,
			   struct arena *arena, const struct read_context *context);
void experiment_trace_fini(struct experiment_trace *trace);
/* An event of another source than our own files; texts are the caller's to add. */
struct trace_event {
	uint64_t thread, time_ns;
	uint32_t stack; /* node of the stack tree */
	uint16_t cpu;
	uint8_t type;
	uint64_t field[TRACE_FIELDS_MAX];
};

/* Adds it as the last row; those of one thread come by time. */
void experiment_trace_add(struct experiment_trace *trace, enum trace_kind kind,
			  const struct trace_event *event);
/* As experiment_profile_bind. */
void experiment_trace_bind(struct experiment_trace *trace, const struct stack_tree *stacks,
			   const struct read_context *context);
/* The text of a number, or NULL. */
const char *experiment_trace_text(const struct experiment_trace *trace, uint64_t number);

#endif
