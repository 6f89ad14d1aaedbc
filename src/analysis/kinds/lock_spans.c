/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grants and releases of a lock are put in order of time, for each process and address.  A
 * release is timed before it and a grant after it, so the holder before and the one after do not
 * overlap.  Where none is recorded, as in older experiments, nobody is known after a grant.
 */
#include "analysis/kinds/lock_spans.h"

#include "analysis/session/events.h"
#include "base/compare.h"

#include <errno.h>
#include <stdlib.h>

/* The holder changes: to `thread`, or to somebody who is not known. */
struct change {
	const struct process *process;
	uint64_t object, time_ns, thread;
	bool is_grant;
	bool is_known;
};

/* A time in which something was waited for: of all threads that did, one after the other. */
struct window {
	uint64_t object, begin_ns, end_ns;
};

struct spans {
	struct hash_map objects;    /* addresses of the locks */
	VEC(struct window) windows; /* in order of these and of time, without overlaps */
	VEC(const struct process *) processes;
	const struct process *process; /* in hand */
	VEC(struct change) changes;
	struct lock_holders *holders;
};

bool lock_is_held(unsigned type)
{
	return type == SYNC_MUTEX || type == SYNC_READ_LOCK || type == SYNC_WRITE_LOCK ||
	       type == SYNC_SPIN || (LOCK_TYPES_OPENMP >> type & 1);
}

/* The thread of a process that had the id then, or NULL. */
static const struct profile_thread *find_thread(const struct process *process, uint64_t tid,
						uint64_t time_us)
{
	for (size_t i = 0; i < process->profile.threads.count; i++) {
		const struct profile_thread *thread = &process->profile.threads.items[i];

		if (thread->tid == tid && thread->begin_us <= time_us && time_us <= thread->end_us)
			return thread;
	}
	return NULL;
}

bool lock_holder_find(const struct session *session, uint64_t tid, uint64_t time_us,
		      struct lock_hold *hold)
{
	uint32_t number = 0;

	for (size_t i = 0; tid && i < session->experiments.count; i++) {
		const struct experiment *experiment = session->experiments.items[i];

		for (size_t k = 0; k < experiment->processes.count; k++, number++) {
			const struct process *process = &experiment->processes.items[k];
			const struct profile_thread *thread = find_thread(process, tid, time_us);

			if (!thread)
				continue;
			*hold = (struct lock_hold){.experiment = experiment,
						   .process = process,
						   .process_number = number,
						   .thread = thread->number};
			return true;
		}
	}
	return false;
}

static void add_process(struct spans *spans, const struct process *process)
{
	for (size_t i = spans->processes.count; process && i; i--)
		if (spans->processes.items[i - 1] == process)
			return;
	if (process)
		*vec_push(&spans->processes) = process;
}

static int compare_windows(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	COMPARE(x->object, y->object);
	COMPARE(x->begin_ns, y->begin_ns);
	return 0;
}

/* Changes at other times than these nobody asks for: there are far more locks taken than waits. */
static void make_windows(struct spans *spans, const struct lock_request *requests, size_t count)
{
	struct window *items, *last = NULL;

	for (size_t i = 0; i < count; i++)
		*vec_push(&spans->windows) = (struct window){
			requests[i].object, requests[i].hold.begin_ns, requests[i].hold.end_ns};
	items = spans->windows.items;
	if (count)
		qsort(items, count, sizeof(*items), compare_windows);
	for (size_t i = 0; i < count; i++) {
		if (last && last->object == items[i].object && items[i].begin_ns < last->end_ns) {
			if (items[i].end_ns > last->end_ns)
				last->end_ns = items[i].end_ns;
			continue;
		}
		last = last ? last + 1 : items;
		*last = items[i];
	}
	spans->windows.count = last ? (size_t)(last - items) + 1 : 0;
}

/* Whether the object was waited for at a time, from before it to after it. */
static bool is_waited_for(const struct spans *spans, uint64_t object, uint64_t time_ns)
{
	const struct window *items = spans->windows.items;
	size_t low = 0, high = spans->windows.count;

	if (hash_map_get(&spans->objects, object) == HASH_NONE)
		return false;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (items[middle].object < object ||
		    (items[middle].object == object && items[middle].begin_ns < time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low && items[low - 1].object == object && time_ns < items[low - 1].end_ns;
}

static void add_grants(const struct event_run *run, void *arg)
{
	struct spans *spans = arg;
	const uint64_t *times = event_times(run);
	bool is_known = run->kind == EVENTS_TRACE + TRACE_OMP ||
			spans->process->traces[TRACE_SYNC].releases.count > 0;

	for (size_t row = 0; row < run->count; row++) {
		struct lock_event event;

		if (!lock_event_read(run, row, &event) || !lock_is_held(event.type) ||
		    (event.result && event.result != EOWNERDEAD) ||
		    !is_waited_for(spans, event.object, times[row]))
			continue;
		*vec_push(&spans->changes) = (struct change){
			.process = spans->process,
			.object = event.object,
			.time_ns = times[row],
			.thread = run->thread,
			.is_grant = true,
			/* a reader is one of several: not the one that is waited for */
			.is_known = is_known && event.type != SYNC_READ_LOCK};
	}
}

static void add_releases(struct spans *spans)
{
	const struct experiment_trace *trace = &spans->process->traces[TRACE_SYNC];

	for (size_t i = 0; i < trace->releases.count; i++) {
		const struct trace_release *release = &trace->releases.items[i];

		if (is_waited_for(spans, release->object, release->time_ns))
			*vec_push(&spans->changes) = (struct change){.process = spans->process,
								     .object = release->object,
								     .time_ns = release->time_ns};
	}
}

static int compare_keys(const struct change *a, const struct process *process, uint64_t object,
			uint64_t time_ns)
{
	if (a->process != process)
		return a->process < process ? -1 : 1;
	if (a->object != object)
		return a->object < object ? -1 : 1;
	return a->time_ns < time_ns ? -1 : a->time_ns > time_ns;
}

/* Of one moment the release first. */
static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	int order = compare_keys(x, y->process, y->object, y->time_ns);

	return order ? order : (int)x->is_grant - (int)y->is_grant;
}

/* The first change in (begin_ns, end_ns); of several at that time the last. NULL: none. */
static const struct change *next_change(const struct spans *spans, const struct process *process,
					uint64_t object, uint64_t begin_ns, uint64_t end_ns)
{
	size_t low = 0, high = spans->changes.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare_keys(&spans->changes.items[middle], process, object, begin_ns) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == spans->changes.count)
		return NULL;
	const struct change *next = &spans->changes.items[low];

	if (next->process != process || next->object != object || next->time_ns >= end_ns)
		return NULL;
	while (low + 1 < spans->changes.count &&
	       !compare_keys(next + 1, process, object, next->time_ns))
		low++, next++;
	return next;
}

static void add_span(struct spans *spans, const struct lock_hold *hold, uint64_t begin_ns,
		     uint64_t end_ns, bool is_released)
{
	if (!hold->process || end_ns <= begin_ns)
		return;
	struct lock_hold *span = vec_push(&spans->holders->holds);

	*span = *hold;
	span->begin_ns = begin_ns;
	span->end_ns = end_ns;
	span->is_released = is_released;
}

static void add_spans(struct spans *spans, const struct lock_request *request, size_t number)
{
	struct lock_hold hold = request->hold;
	uint64_t at_ns = hold.begin_ns, end_ns = hold.end_ns;

	hold.request = number;
	while (at_ns < end_ns) {
		const struct change *next =
			next_change(spans, request->process, request->object, at_ns, end_ns);
		uint64_t until_ns = next ? next->time_ns : end_ns;
		/* of a holder in another process, which may have it at the same address */
		const struct change *there =
			hold.process && hold.process != request->process
				? next_change(spans, hold.process, request->object, at_ns, until_ns)
				: NULL;

		add_span(spans, &hold, at_ns, there ? there->time_ns : until_ns, next || there);
		hold.process = NULL;
		if (next && next->is_known) {
			hold.experiment = request->experiment;
			hold.process = request->process;
			hold.process_number = request->process_number;
			hold.thread = next->thread;
		}
		at_ns = until_ns;
	}
}

void lock_spans_find(const struct lock_request *requests, size_t count,
		     struct lock_holders *holders)
{
	struct spans spans = {.holders = holders};

	for (size_t i = 0; i < count; i++) {
		hash_map_put(&spans.objects, requests[i].object, 0);
		add_process(&spans, requests[i].process);
		add_process(&spans, requests[i].hold.process);
	}
	make_windows(&spans, requests, count);
	for (size_t i = 0; i < spans.processes.count; i++) {
		spans.process = spans.processes.items[i];
		events_for_each_piece(spans.process, EVENTS_TRACE + TRACE_SYNC, add_grants, &spans);
		events_for_each_piece(spans.process, EVENTS_TRACE + TRACE_OMP, add_grants, &spans);
		add_releases(&spans);
	}
	if (spans.changes.count)
		qsort(spans.changes.items, spans.changes.count, sizeof(struct change),
		      compare_changes);
	for (size_t i = 0; i < count; i++)
		add_spans(&spans, &requests[i], i);
	hash_map_fini(&spans.objects);
	vec_fini(&spans.windows);
	vec_fini(&spans.processes);
	vec_fini(&spans.changes);
}
