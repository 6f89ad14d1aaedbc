/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The waits for one thread are a function of time, how much has been waited for it in all up
 * to a moment, which two sorted lists with running sums give; an event of its clock
 * explains what that function grew by meanwhile.
 */
#include "analysis/lock_holders.h"

#include "analysis/events.h"

#include <stdlib.h>

/* Moments in order, and the sum of those before each. */
struct moments {
	uint64_t *ns, *sums;
	size_t count;
};

/* The waits for one thread, and the clock events that are compared with them. */
struct blaming {
	struct lock_holders *holders;
	const struct lock_hold *hold; /* one of them */
	struct moments begins, ends;
	struct hash_map nodes; /* → index in `blames`, of this process */
	uint64_t until_ns;     /* what the events before account for */
};

/* An event that is later by so much than what was accounted for comes after a pause. */
enum { LAG_MAX_NS = 500000000 };

static int compare_holds(const void *a, const void *b)
{
	const struct lock_hold *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int compare_moments(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void moments_init(struct moments *moments, const struct lock_hold *holds, size_t count,
			 bool ends)
{
	moments->ns = xmalloc(count * sizeof(*moments->ns));
	moments->sums = xcalloc(count + 1, sizeof(*moments->sums));
	moments->count = count;
	for (size_t i = 0; i < count; i++)
		moments->ns[i] = ends ? holds[i].end_ns : holds[i].begin_ns;
	qsort(moments->ns, count, sizeof(*moments->ns), compare_moments);
	for (size_t i = 0; i < count; i++)
		moments->sums[i + 1] = moments->sums[i] + moments->ns[i];
}

static void moments_fini(struct moments *moments)
{
	free(moments->ns);
	free(moments->sums);
}

/* The sum of what has passed since each of the moments before this one. */
static uint64_t passed_since(const struct moments *moments, uint64_t ns)
{
	size_t low = 0, high = moments->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (moments->ns[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return ns * low - moments->sums[low];
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

/*
 * The events of a thread account for all of its time, but one may bring what others before it
 * have left over: each goes on where the one before it ended.
 */
static void visit(const struct event_run *run, void *arg)
{
	struct blaming *blaming = arg;

	if (run->thread != blaming->hold->thread)
		return;

	const uint64_t *times = event_times(run), *weights = event_field(run, PROFILE_WEIGHT);
	const uint32_t *stacks = event_stacks(run);

	for (size_t row = 0; row < run->count; row++) {
		uint64_t time_ns = times[row];
		uint64_t weight_ns = weights[row] * 1000;
		uint64_t begin_ns = blaming->until_ns;

		if (begin_ns + weight_ns + LAG_MAX_NS < time_ns)
			begin_ns = time_ns - weight_ns;
		if (begin_ns >= time_ns)
			continue;
		blaming->until_ns = begin_ns + weight_ns < time_ns ? begin_ns + weight_ns : time_ns;

		uint64_t waited =
			waited_until(blaming, blaming->until_ns) - waited_until(blaming, begin_ns);

		if (waited)
			blame(blaming, stacks[row], waited);
	}
}

static void find_of_thread(struct lock_holders *holders, const struct lock_hold *holds,
			   size_t count)
{
	struct blaming blaming = {.holders = holders, .hold = holds};

	moments_init(&blaming.begins, holds, count, false);
	moments_init(&blaming.ends, holds, count, true);
	events_for_each_piece(holds->process, EVENTS_CLOCK, visit, &blaming);
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
		for (next = first + 1; next < count && !compare_holds(&holds[first], &holds[next]);)
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
