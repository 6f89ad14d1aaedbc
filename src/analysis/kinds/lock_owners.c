/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/lock_owners.h"

#include "base/compare.h"

#include <stdlib.h>

/* Lives of one id that have begun: their places in order of the session, the smallest first. */
struct heap {
	VEC(uint32_t) items;
};

static void heap_add(struct heap *heap, uint32_t life)
{
	size_t i = heap->items.count;

	vec_push(&heap->items);
	for (; i && heap->items.items[(i - 1) / 2] > life; i = (i - 1) / 2)
		heap->items.items[i] = heap->items.items[(i - 1) / 2];
	heap->items.items[i] = life;
}

static void heap_drop(struct heap *heap)
{
	uint32_t *items = heap->items.items;
	size_t count = --heap->items.count, i = 0;

	for (size_t k; (k = 2 * i + 1) < count; i = k) {
		k += k + 1 < count && items[k + 1] < items[k];
		if (items[k] >= items[count])
			break;
		items[i] = items[k];
	}
	items[i] = items[count];
}

/* ---- lives ---- */

struct lives {
	VEC(struct lock_owner) list; /* in order of the session */
	uint32_t *order;	     /* by id, then by begin */
};

static void add_process(struct lives *lives, const struct process *process, uint32_t number)
{
	for (size_t i = 0; i < process->profile.threads.count; i++) {
		const struct profile_thread *thread = &process->profile.threads.items[i];

		if (thread->tid && thread->begin_us <= thread->end_us)
			*vec_push(&lives->list) = (struct lock_owner){.begin_us = thread->begin_us,
								      .end_us = thread->end_us,
								      .tid = thread->tid,
								      .process = number,
								      .thread = (uint32_t)i};
	}
}

static int by_id(const void *a, const void *b, void *arg)
{
	const struct lock_owner *lives = arg;
	const struct lock_owner *x = &lives[*(const uint32_t *)a],
				*y = &lives[*(const uint32_t *)b];

	COMPARE(x->tid, y->tid);
	COMPARE(x->begin_us, y->begin_us);
	return 0;
}

static void sort(struct lives *lives)
{
	lives->order = xmalloc((lives->list.count + 1) * sizeof(*lives->order));
	for (size_t i = 0; i < lives->list.count; i++)
		lives->order[i] = (uint32_t)i;
	qsort_r(lives->order, lives->list.count, sizeof(*lives->order), by_id, lives->list.items);
}

/* Adds who had an id, of lives in order of their begins: the first of the session, each time. */
static void add_of_id(struct lock_owners *owners, const struct lock_owner *lives,
		      const uint32_t *order, size_t count)
{
	struct heap heap = {0};
	uint64_t at_us = 0;

	for (size_t i = 0; i < count || heap.items.count;) {
		if (!heap.items.count)
			at_us = lives[order[i]].begin_us;
		while (i < count && lives[order[i]].begin_us <= at_us)
			heap_add(&heap, order[i++]);
		while (heap.items.count && lives[heap.items.items[0]].end_us < at_us)
			heap_drop(&heap);
		if (!heap.items.count)
			continue;

		struct lock_owner owner = lives[heap.items.items[0]];

		owner.begin_us = at_us;
		if (i < count && lives[order[i]].begin_us <= owner.end_us)
			owner.end_us = lives[order[i]].begin_us - 1;
		*vec_push(&owners->list) = owner;
		at_us = owner.end_us + 1;
	}
	vec_fini(&heap.items);
}

static void make(struct lock_owners *owners, const struct session *session)
{
	struct lives lives = {0};

	owners->is_made = true;
	for (size_t i = 0; i < session->scanned.count; i++)
		add_process(&lives, session->scanned.items[i].process, (uint32_t)i);
	sort(&lives);
	for (size_t first = 0, next; first < lives.list.count; first = next) {
		uint32_t tid = lives.list.items[lives.order[first]].tid;

		for (next = first + 1;
		     next < lives.list.count && lives.list.items[lives.order[next]].tid == tid;)
			next++;
		add_of_id(owners, lives.list.items, &lives.order[first], next - first);
	}
	free(lives.order);
	vec_fini(&lives.list);
}

/* ---- looking up ---- */

/* The last of the id that begins by then, or NULL. */
static const struct lock_owner *last_by(const struct lock_owners *owners, uint64_t tid,
					uint64_t time_us)
{
	const struct lock_owner *items = owners->list.items;
	size_t low = 0, high = owners->list.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (items[middle].tid < tid ||
		    (items[middle].tid == tid && items[middle].begin_us <= time_us))
			low = middle + 1;
		else
			high = middle;
	}
	return low && items[low - 1].tid == tid ? &items[low - 1] : NULL;
}

bool lock_owners_find(struct lock_owners *owners, const struct session *session, uint64_t tid,
		      uint64_t time_us, struct lock_hold *hold)
{
	const struct lock_owner *owner;

	*hold = (struct lock_hold){0};
	if (!tid)
		return false;
	if (!owners->is_made)
		make(owners, session);
	owner = last_by(owners, tid, time_us);
	if (!owner || time_us > owner->end_us)
		return false;

	const struct session_process *process = &session->scanned.items[owner->process];

	hold->experiment = session->experiments.items[process->experiment];
	hold->process = process->process;
	hold->process_number = owner->process;
	hold->thread = process->process->profile.threads.items[owner->thread].number;
	return true;
}

void lock_owners_fini(struct lock_owners *owners)
{
	vec_fini(&owners->list);
}
