/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The waits for one thread are a function of time, how much has been waited for it in all up
 * to a moment, which two sorted lists with running sums give; an event of its clock
 * explains what that function grew by meanwhile.
 *
 * A wait's event of the clock comes when it ends or goes on, so it is the time just before.  CPU
 * time is the time before its event, back to the one before it, without the waits in between.
 */
#include "analysis/kinds/lock_holders.h"

#include "analysis/session/events.h"

#include <stdlib.h>

/* When some waits began or ended; those before it, and the sum of their moments. */
struct moment {
	uint64_t ns, waits;
	uint64_t waits_before, sum_before;
};

/* In order, with one more at the end. */
struct moments {
	struct moment *items;
	size_t count;
};

/* A clock event of the holder. */
struct holder_event {
	uint64_t time_ns, weight_ns;
	size_t order; /* in the file */
	uint32_t node;
	bool is_cpu;
	bool is_wait; /* for something else than a processor: its stack is that of the wait */
};

/* Time in which the holder waited itself. */
struct gap {
	uint64_t begin_ns, end_ns;
};

/* The waits for one thread, and the clock events that are compared with them. */
struct blaming {
	struct lock_holders *holders;
	const struct lock_hold *hold; /* all of them, in order of their ends */
	struct moments begins, ends;
	struct hash_map nodes; /* → index in `blames`, of this process */
	VEC(struct holder_event) events;
	VEC(struct gap) gaps;		 /* in order */
	size_t gaps_used;		 /* before the last event of CPU time */
	uint64_t cpu_ns;		 /* … which was then */
	const struct holder_event *wait; /* the last event, if it is a wait */
};

static int compare_holds(const void *a, const void *b)
{
	const struct lock_hold *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static bool have_one_holder(const struct lock_hold *a, const struct lock_hold *b)
{
	return a->process == b->process && a->thread == b->thread;
}

static int compare_moments(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static void moments_init(struct moments *moments, const struct lock_hold *holds, size_t count,
			 bool ends)
{
	struct moment *items = xcalloc(count + 1, sizeof(*items));

	for (size_t i = 0; i < count; i++) {
		items[i].ns = ends ? holds[i].end_ns : holds[i].begin_ns;
		items[i].waits = holds[i].waits;
	}
	qsort(items, count, sizeof(*items), compare_moments);
	for (size_t i = 0; i < count; i++) {
		items[i + 1].waits_before = items[i].waits_before + items[i].waits;
		items[i + 1].sum_before = items[i].sum_before + items[i].ns * items[i].waits;
	}
	*moments = (struct moments){items, count};
}

static void moments_fini(struct moments *moments)
{
	free(moments->items);
}

/* How many of the moments were before this one. */
static size_t moments_before(const struct moments *moments, uint64_t ns)
{
	size_t low = 0, high = moments->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (moments->items[middle].ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The sum of what has passed since each begin or end before this one. */
static uint64_t passed_since(const struct moments *moments, uint64_t ns)
{
	const struct moment *next = &moments->items[moments_before(moments, ns)];

	return ns * next->waits_before - next->sum_before;
}

static uint64_t waited_until(const struct blaming *blaming, uint64_t ns)
{
	return passed_since(&blaming->begins, ns) - passed_since(&blaming->ends, ns);
}

static void blame(struct blaming *blaming, uint32_t node, uint64_t ns)
{
	struct lock_holders *holders = blaming->holders;
	uint32_t fresh = (uint32_t)holders->blames.count;
	uint32_t index = hash_map_put(&blaming->nodes, node, fresh);

	if (index == fresh)
		*vec_push(&holders->blames) = (struct lock_blame){
			.place = {blaming->hold->experiment, blaming->hold->process, node}};
	holders->blames.items[index].ns += ns;
	holders->ns += ns;
}

/* How much was waited in a hold between two moments. */
static uint64_t overlap(const struct lock_hold *hold, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t from_ns = hold->begin_ns > begin_ns ? hold->begin_ns : begin_ns;
	uint64_t to_ns = hold->end_ns < end_ns ? hold->end_ns : end_ns;

	return to_ns > from_ns ? (to_ns - from_ns) * hold->waits : 0;
}

/*
 * How much was waited between two moments in the waits that an event lies in.  Of those that were
 * over before it, it does not say what the holder did: it has let go since.  With 0: of all.
 */
static uint64_t waited_within(const struct blaming *blaming, uint64_t begin_ns, uint64_t end_ns,
			      uint64_t event_ns)
{
	const struct moments *ends = &blaming->ends;

	if (end_ns <= begin_ns)
		return 0;
	uint64_t waited = waited_until(blaming, end_ns) - waited_until(blaming, begin_ns);

	for (size_t i = moments_before(ends, begin_ns + 1); i < ends->count; i++) {
		if (ends->items[i].ns >= event_ns)
			break;
		waited -= overlap(&blaming->hold[i], begin_ns, end_ns);
	}
	return waited;
}

/*
 * The monitor sees a wait at one look and another one at the next, and not when the first was over.
 * Where the holder let go in between, it was in the first one until then, if that was seen while it
 * had the lock.  Returns how much of what was waited between two moments that explains.
 */
static uint64_t blame_wait_before(struct blaming *blaming, uint64_t begin_ns, uint64_t end_ns)
{
	const struct moments *ends = &blaming->ends;
	const struct holder_event *wait = blaming->wait;
	uint64_t waited = 0;

	for (size_t i = moments_before(ends, begin_ns + 1); wait && i < ends->count; i++) {
		const struct lock_hold *hold = &blaming->hold[i];

		if (hold->end_ns >= end_ns)
			break;
		if (hold->is_released && hold->begin_ns < wait->time_ns)
			waited += overlap(hold, begin_ns, end_ns);
	}
	if (waited)
		blame(blaming, wait->node, waited);
	return waited;
}

static void visit(const struct event_run *run, void *arg)
{
	struct blaming *blaming = arg;

	if (run->thread != blaming->hold->thread)
		return;

	const uint64_t *times = event_times(run), *weights = event_field(run, PROFILE_WEIGHT);
	const uint64_t *states = event_column(run, ROW_TYPE);
	const uint32_t *stacks = event_stacks(run);

	for (size_t row = 0; row < run->count; row++)
		*vec_push(&blaming->events) = (struct holder_event){
			.time_ns = times[row],
			.weight_ns = weights[row] * 1000,
			.order = blaming->events.count,
			.node = stacks[row],
			.is_cpu = states[row] == FORMAT_STATE_USER ||
				  states[row] == FORMAT_STATE_SYSTEM ||
				  states[row] == FORMAT_STATE_TRAP ||
				  states[row] == PROFILE_STATE_CPU,
			.is_wait = states[row] == FORMAT_STATE_SLEEP ||
				   states[row] == FORMAT_STATE_USER_LOCK ||
				   states[row] == FORMAT_STATE_DATA_FAULT ||
				   states[row] == FORMAT_STATE_STOPPED,
		};
}

/* In order of time; of one moment the waits first, the last one of the file before others. */
static int compare_events(const void *a, const void *b)
{
	const struct holder_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->is_cpu != y->is_cpu)
		return x->is_cpu ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Two waits of one moment lie one before the other: the delay that is written first came last. */
static void blame_wait(struct blaming *blaming, const struct holder_event *event, uint64_t floor_ns,
		       uint64_t *free_until_ns)
{
	uint64_t end_ns = *free_until_ns < event->time_ns ? *free_until_ns : event->time_ns;
	uint64_t begin_ns = end_ns > event->weight_ns ? end_ns - event->weight_ns : 0;

	/* Older waits that it brings along: when they were is not known. */
	begin_ns = begin_ns > floor_ns ? begin_ns : floor_ns < end_ns ? floor_ns : end_ns;
	uint64_t waited =
		waited_within(blaming, begin_ns, end_ns, event->is_wait ? 0 : event->time_ns);

	if (event->is_wait)
		waited -= blame_wait_before(blaming, begin_ns, end_ns);
	*free_until_ns = begin_ns;
	*vec_push(&blaming->gaps) = (struct gap){begin_ns, end_ns};
	if (waited)
		blame(blaming, event->node, waited);
}

static void blame_cpu(struct blaming *blaming, const struct holder_event *event)
{
	uint64_t left_ns = event->weight_ns, at_ns = event->time_ns, waited = 0;

	for (size_t i = blaming->gaps.count; left_ns; i--) {
		const struct gap *gap = i > blaming->gaps_used ? &blaming->gaps.items[i - 1] : NULL;
		uint64_t begin_ns = gap ? gap->end_ns : blaming->cpu_ns;
		uint64_t part_ns = at_ns > begin_ns ? at_ns - begin_ns : 0;

		if (part_ns > left_ns)
			part_ns = left_ns;
		waited += waited_within(blaming, at_ns - part_ns, at_ns, event->time_ns);
		left_ns -= part_ns;
		if (!gap)
			break;
		at_ns = gap->begin_ns < at_ns ? gap->begin_ns : at_ns;
	}
	blaming->gaps_used = blaming->gaps.count;
	blaming->cpu_ns = event->time_ns;
	if (waited)
		blame(blaming, event->node, waited);
}

static int compare_gaps(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* Of one moment's events: the wait that came last, unless the holder ran or was queued since. */
static const struct holder_event *last_wait(const struct holder_event *events, size_t count)
{
	return events[0].is_wait && !events[count - 1].is_cpu ? &events[0] : NULL;
}

/* The events of one moment: first what the holder waited for, from the last one to the first. */
static void blame_moment(struct blaming *blaming, const struct holder_event *events, size_t count)
{
	size_t first = blaming->gaps.count;
	uint64_t free_until_ns = UINT64_MAX;
	uint64_t floor_ns = first ? blaming->gaps.items[first - 1].end_ns : 0;

	floor_ns = floor_ns > blaming->cpu_ns ? floor_ns : blaming->cpu_ns;

	for (size_t i = 0; i < count; i++)
		if (!events[i].is_cpu)
			blame_wait(blaming, &events[i], floor_ns, &free_until_ns);
	if (blaming->gaps.count > first + 1)
		qsort(&blaming->gaps.items[first], blaming->gaps.count - first, sizeof(struct gap),
		      compare_gaps);
	for (size_t i = 0; i < count; i++)
		if (events[i].is_cpu)
			blame_cpu(blaming, &events[i]);
	blaming->wait = last_wait(events, count);
}

static void blame_all(struct blaming *blaming)
{
	const struct holder_event *events = blaming->events.items;
	size_t count = blaming->events.count;

	if (count)
		qsort(blaming->events.items, count, sizeof(*events), compare_events);
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first + 1;
		     next < count && events[next].time_ns == events[first].time_ns;)
			next++;
		blame_moment(blaming, &events[first], next - first);
	}
}

static void find_of_thread(struct lock_holders *holders, const struct lock_hold *holds,
			   size_t count)
{
	struct blaming blaming = {.holders = holders, .hold = holds};

	moments_init(&blaming.begins, holds, count, false);
	moments_init(&blaming.ends, holds, count, true);
	events_for_each_piece(holds->process, EVENTS_CLOCK, visit, &blaming);
	blame_all(&blaming);
	vec_fini(&blaming.events);
	vec_fini(&blaming.gaps);
	moments_fini(&blaming.begins);
	moments_fini(&blaming.ends);
	hash_map_fini(&blaming.nodes);
}

static int compare_blames(const void *a, const void *b)
{
	const struct lock_blame *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->place.node < y->place.node ? -1 : x->place.node > y->place.node;
}

void lock_holders_find(struct lock_holders *holders)
{
	const struct lock_hold *holds = holders->holds.items;
	size_t count = holders->holds.count;

	if (!count)
		return;
	qsort(holders->holds.items, count, sizeof(*holds), compare_holds);
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first + 1;
		     next < count && have_one_holder(&holds[first], &holds[next]);)
			next++;
		find_of_thread(holders, &holds[first], next - first);
	}
	if (holders->blames.count)
		qsort(holders->blames.items, holders->blames.count, sizeof(struct lock_blame),
		      compare_blames);
}

void lock_holders_fini(struct lock_holders *holders)
{
	vec_fini(&holders->holds);
	vec_fini(&holders->blames);
}
