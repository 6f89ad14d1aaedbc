/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as views and filters see them: runs of one process, one kind and one thread, as
 * columns.  Private to this room.
 */
#ifndef HELIO_ANALYSIS_EVENTS_H
#define HELIO_ANALYSIS_EVENTS_H

#include "experiment/experiment.h"

/* Clock profiling, then the traces: EVENTS_TRACE + enum trace_kind. */
enum event_kind { EVENTS_CLOCK, EVENTS_TRACE, EVENTS_KINDS = EVENTS_TRACE + TRACE_KINDS };

struct event_run {
	const struct process *process;
	enum event_kind kind;
	uint64_t thread; /* its number */
	size_t first;	 /* row of the trace, 0 for clock events */
	size_t count;
	const uint32_t *stack; /* node of the process's stacks */
	const uint16_t *cpu;   /* or PROFILE_NO_CPU */
	const uint8_t *type;   /* enum format_state, or of the trace's list */
	/* clock events */
	uint64_t base_us;
	const uint32_t *time_us; /* after base_us */
	const uint32_t *weight;	 /* µs */
	/* trace events */
	const uint64_t *time_ns;
	const uint64_t *field[TRACE_FIELDS_MAX];
};

/* Calls visit for all runs of a kind, in the order of the file. */
void events_for_each_run(const struct process *process, enum event_kind kind,
			 void (*visit)(const struct event_run *run, void *arg), void *arg);

/* Rows of a run as a run. */
struct event_run event_run_part(const struct event_run *run, size_t first, size_t count);

/* The end of an event, ns since the founder's start. */
static inline uint64_t event_time_ns(const struct event_run *run, size_t row)
{
	return run->time_ns ? run->time_ns[row] : (run->base_us + run->time_us[row]) * 1000;
}

#endif
