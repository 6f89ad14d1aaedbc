/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/events.h"

static void visit_clock(const struct process *process,
			void (*visit)(const struct event_run *run, void *arg), void *arg)
{
	const struct experiment_profile *profile = &process->profile;

	for (size_t i = 0; i < profile->segments.count; i++) {
		const struct profile_segment *segment = &profile->segments.items[i];
		const struct profile_slab *slab = &profile->slabs.items[segment->slab];
		struct event_run run = {
			.process = process,
			.kind = EVENTS_CLOCK,
			.thread = profile->threads.items[segment->thread].number,
			.count = segment->count,
			.stack = slab->stack + segment->first,
			.cpu = slab->cpu + segment->first,
			.type = slab->state + segment->first,
			.base_us = segment->base_us,
			.time_us = slab->time + segment->first,
			.weight = slab->weight + segment->first,
		};

		visit(&run, arg);
	}
}

static void visit_trace(const struct process *process, enum event_kind kind,
			void (*visit)(const struct event_run *run, void *arg), void *arg)
{
	const struct experiment_trace *trace = &process->traces[kind - EVENTS_TRACE];
	unsigned fields = format_traces[kind - EVENTS_TRACE].fields;

	for (size_t i = 0; i < trace->runs.count; i++) {
		const struct trace_run *part = &trace->runs.items[i];
		struct event_run run = {
			.process = process,
			.kind = kind,
			.thread = part->thread,
			.first = part->first,
			.count = part->count,
			.stack = trace->stack + part->first,
			.cpu = trace->cpu + part->first,
			.type = trace->type + part->first,
			.time_ns = trace->time_ns + part->first,
		};

		for (unsigned field = 0; field < fields; field++)
			run.field[field] = trace->field[field] + part->first;
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

struct event_run event_run_part(const struct event_run *run, size_t first, size_t count)
{
	struct event_run part = *run;

	part.first += first;
	part.count = count;
	part.stack += first;
	part.cpu += first;
	part.type += first;
	if (run->kind == EVENTS_CLOCK) {
		part.time_us += first;
		part.weight += first;
		return part;
	}
	part.time_ns += first;
	for (unsigned field = 0; field < format_traces[run->kind - EVENTS_TRACE].fields; field++)
		part.field[field] += first;
	return part;
}
