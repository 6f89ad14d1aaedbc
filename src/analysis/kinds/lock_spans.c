/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grants and releases of a lock are put in order of time, for each process and address.  A
 * release is timed before it and a grant after it, so the holder before and the one after do not
 * overlap.  Where none is recorded, as in older experiments, nobody is known after a grant.
 */
#include "analysis/kinds/lock_spans.h"

#include "analysis/kinds/lock_waiters.h"
#include "analysis/session/events.h"
#include "base/compare.h"

#include <errno.h>
#include <stdlib.h>

/* The holder changes: to `thread`, or to somebody who is not known. */
struct change {
	uint64_t object, time_ns, thread;
	uint32_t process; /* number */
	bool is_grant;
	bool is_known;
};

/* A time in which something was waited for: of all threads that did, one after the other. */
struct window {
	uint64_t object, begin_ns, end_ns;
};

/* The first or the last change within a wait. */
struct edge {
	uint32_t change, request;
};

struct spans {
	const struct session *session;
	struct lock_request *requests;
	void (*add)(void *arg, const struct lock_part *part);
	void *arg;
	struct hash_map objects;    /* addresses of the locks */
	VEC(struct window) windows; /* in order of these and of time, without overlaps */
	VEC(uint32_t) process_numbers;
	struct hash_map known_processes;
	uint32_t process; /* number of the one in hand */
	VEC(struct change) changes;
	VEC(struct edge) begins, ends; /* of waits with changes, by these */
	struct lock_waiters waiters;
};

static const struct process *process_of(const struct spans *spans, uint32_t number)
{
	return spans->session->scanned.items[number].process;
}

bool lock_is_held(unsigned type)
{
	return type == SYNC_MUTEX || type == SYNC_READ_LOCK || type == SYNC_WRITE_LOCK ||
	       type == SYNC_SPIN || (LOCK_TYPES_OPENMP >> type & 1);
}

static void add_process(struct spans *spans, uint32_t number)
{
	uint32_t fresh = (uint32_t)spans->process_numbers.count;

	if (hash_map_put(&spans->known_processes, number, fresh) == fresh)
		*vec_push(&spans->process_numbers) = number;
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
			process_of(spans, spans->process)->traces[TRACE_SYNC].releases.count > 0;

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
	const struct experiment_trace *trace =
		&process_of(spans, spans->process)->traces[TRACE_SYNC];

	for (size_t i = 0; i < trace->releases.count; i++) {
		const struct trace_release *release = &trace->releases.items[i];

		if (is_waited_for(spans, release->object, release->time_ns))
			*vec_push(&spans->changes) = (struct change){.process = spans->process,
								     .object = release->object,
								     .time_ns = release->time_ns};
	}
}

static int compare_keys(const struct change *a, uint32_t process, uint64_t object, uint64_t time_ns)
{
	COMPARE(a->process, process);
	COMPARE(a->object, object);
	COMPARE(a->time_ns, time_ns);
	return 0;
}

/* Of one moment the release first. */
static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	int order = compare_keys(x, y->process, y->object, y->time_ns);

	return order ? order : (int)x->is_grant - (int)y->is_grant;
}

/* Of one moment the last one counts. */
static void sort_changes(struct spans *spans)
{
	struct change *items = spans->changes.items;
	size_t count = spans->changes.count, kept = 0;

	if (count)
		qsort(items, count, sizeof(*items), compare_changes);
	for (size_t i = 0; i < count; i++) {
		kept += i && compare_keys(&items[i], items[kept].process, items[kept].object,
					  items[kept].time_ns);
		items[kept] = items[i];
	}
	spans->changes.count = count ? kept + 1 : 0;
}

/* How many changes come up to a time of an object, with those of objects before it. */
static size_t changes_up_to(const struct spans *spans, uint32_t process, uint64_t object,
			    uint64_t time_ns)
{
	size_t low = 0, high = spans->changes.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare_keys(&spans->changes.items[middle], process, object, time_ns) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first change in (begin_ns, end_ns); NULL: none. */
static const struct change *next_change(const struct spans *spans, uint32_t process,
					uint64_t object, uint64_t begin_ns, uint64_t end_ns)
{
	size_t next = changes_up_to(spans, process, object, begin_ns);
	const struct change *change;

	if (next == spans->changes.count)
		return NULL;
	change = &spans->changes.items[next];
	return change->process == process && change->object == object && change->time_ns < end_ns
		       ? change
		       : NULL;
}

/* Returns how long it is. */
static uint64_t add_part(const struct spans *spans, struct lock_part *part, uint64_t begin_ns,
			 uint64_t end_ns, bool is_released)
{
	if (!part->hold.process || end_ns <= begin_ns)
		return 0;
	part->hold.begin_ns = begin_ns;
	part->hold.end_ns = end_ns;
	part->hold.is_released = is_released;
	spans->add(spans->arg, part);
	return end_ns - begin_ns;
}

/* ---- until the first change ---- */

/* Adds the part of the holder at the request. */
static void add_first(struct spans *spans, size_t number)
{
	struct lock_request *request = &spans->requests[number];
	struct lock_part part = {
		.hold = request->hold, .request = number, .waiters = {request->waiter}};
	uint64_t begin_ns = request->hold.begin_ns, end_ns = request->hold.end_ns;
	const struct change *next, *there = NULL;

	part.hold.waits = 1;
	request->known_ns = 0;
	if (begin_ns >= end_ns)
		return;
	next = next_change(spans, request->process_number, request->object, begin_ns, end_ns);
	if (next) {
		size_t last =
			changes_up_to(spans, request->process_number, request->object, end_ns - 1);

		*vec_push(&spans->begins) =
			(struct edge){(uint32_t)(next - spans->changes.items), (uint32_t)number};
		*vec_push(&spans->ends) = (struct edge){(uint32_t)last - 1, (uint32_t)number};
		end_ns = next->time_ns;
	}
	/* a holder in another process may have it at the same address */
	if (part.hold.process && part.hold.process_number != request->process_number)
		there = next_change(spans, part.hold.process_number, request->object, begin_ns,
				    end_ns);
	request->known_ns =
		add_part(spans, &part, begin_ns, there ? there->time_ns : end_ns, next || there);
}

/* ---- from change to change ---- */

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	COMPARE(x->change, y->change);
	COMPARE(x->request, y->request);
	return 0;
}

/* Who has it from a change on, if that is known. */
static struct lock_part part_of(const struct spans *spans, const struct change *change)
{
	const struct session_process *process = &spans->session->scanned.items[change->process];

	return (struct lock_part){
		.hold = {.experiment = spans->session->experiments.items[process->experiment],
			 .process = change->is_known ? process->process : NULL,
			 .process_number = change->process,
			 .thread = change->thread,
			 .waits = 1}};
}

/*
 * Adds the parts from one change to the next: one of all that wait for longer than that, and the
 * last part of each wait that is over before.  `begins` and `ends` are moved on.  Returns how long
 * somebody is known to have had it.
 */
static uint64_t add_from(struct spans *spans, size_t number, size_t *begins, size_t *ends,
			 uint64_t known_ns)
{
	const struct change *change = &spans->changes.items[number];
	struct lock_part all = part_of(spans, change);
	uint64_t took_ns = 0;
	size_t end = *ends;

	for (; *begins < spans->begins.count && spans->begins.items[*begins].change == number;
	     ++*begins) {
		struct lock_request *request =
			&spans->requests[spans->begins.items[*begins].request];

		request->known_ns -= known_ns;
		lock_waiters_add(&spans->waiters, request->waiter);
	}
	while (end < spans->ends.count && spans->ends.items[end].change == number)
		end++;
	all.hold.waits = (uint32_t)(*begins - end); /* that have begun, and are not over */
	if (all.hold.waits) {
		all.request = spans->begins.items[*begins - 1].request;
		lock_waiters_first(&spans->waiters, all.waiters, LOCK_PART_WAITERS);
		took_ns = add_part(spans, &all, change->time_ns, change[1].time_ns, true);
	}
	for (; *ends < end; ++*ends) {
		struct lock_request *request = &spans->requests[spans->ends.items[*ends].request];
		struct lock_part last = part_of(spans, change);

		last.request = spans->ends.items[*ends].request;
		last.waiters[0] = request->waiter;
		request->known_ns += known_ns + add_part(spans, &last, change->time_ns,
							 request->hold.end_ns, false);
		lock_waiters_remove(&spans->waiters, request->waiter);
	}
	return took_ns;
}

static void add_others(struct spans *spans)
{
	size_t begins = 0, ends = 0;
	uint64_t known_ns = 0;

	if (!spans->begins.count)
		return;
	qsort(spans->begins.items, spans->begins.count, sizeof(struct edge), compare_edges);
	qsort(spans->ends.items, spans->ends.count, sizeof(struct edge), compare_edges);
	for (size_t i = 0; i < spans->begins.count; i++)
		lock_waiters_know(&spans->waiters,
				  spans->requests[spans->begins.items[i].request].waiter);
	lock_waiters_ready(&spans->waiters);
	for (size_t i = 0; i < spans->changes.count; i++)
		known_ns += add_from(spans, i, &begins, &ends, known_ns);
}

static void spans_free(struct spans *spans)
{
	hash_map_fini(&spans->objects);
	hash_map_fini(&spans->known_processes);
	vec_fini(&spans->windows);
	vec_fini(&spans->process_numbers);
	vec_fini(&spans->changes);
	vec_fini(&spans->begins);
	vec_fini(&spans->ends);
	lock_waiters_fini(&spans->waiters);
}

void lock_spans_find(const struct session *session, struct lock_request *requests, size_t count,
		     void (*add)(void *arg, const struct lock_part *part), void *arg)
{
	struct spans spans = {.session = session, .requests = requests, .add = add, .arg = arg};

	for (size_t i = 0; i < count; i++) {
		hash_map_put(&spans.objects, requests[i].object, 0);
		add_process(&spans, requests[i].process_number);
		if (requests[i].hold.process)
			add_process(&spans, requests[i].hold.process_number);
	}
	make_windows(&spans, requests, count);
	for (size_t i = 0; i < spans.process_numbers.count; i++) {
		const struct process *process;

		spans.process = spans.process_numbers.items[i];
		process = process_of(&spans, spans.process);
		events_for_each_piece(process, EVENTS_TRACE + TRACE_SYNC, add_grants, &spans);
		events_for_each_piece(process, EVENTS_TRACE + TRACE_OMP, add_grants, &spans);
		add_releases(&spans);
	}
	sort_changes(&spans);
	for (size_t i = 0; i < count; i++)
		add_first(&spans, i);
	add_others(&spans);
	spans_free(&spans);
}
