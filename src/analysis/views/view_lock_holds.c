/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The holds of a part of the time, of the index of all.  Where there are more than rows are wanted,
 * those of a holder and lock that begin in one range of time are one row.
 */
#include "analysis/views/lock_holds.h"

#include "analysis/index/index_group.h"
#include "analysis/tree/tally.h"
#include "analysis/views/lock_holds_index.h"
#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

/* A row in the making: one hold, or several of a holder and lock. */
struct sum {
	const struct lock_holder *holder;
	struct span span;
	uint64_t holds, waits, waited_ns;
	uint32_t waiters[HOLD_WAITERS]; /* of the index */
};

struct choice {
	const struct lock_holds_index *index;
	uint64_t begin_ns, end_ns; /* on the line of the timeline; end 0: all of the time */
	VEC(struct sum) sums;
};

#define FOR_EACH_CHOSEN(i, choice, spans)                                                          \
	for (size_t i = spans_next(spans, 0, (choice)->begin_ns, (choice)->end_ns); i != SIZE_MAX; \
	     i = spans_next(spans, i + 1, (choice)->begin_ns, (choice)->end_ns))

static struct sum sum_of(const struct choice *choice, size_t i)
{
	const struct kept_hold *hold = &choice->index->holds.items[i];
	struct sum sum = {.holder = &choice->index->holders.items[hold->holder],
			  .span = choice->index->hold_spans.items.items[i],
			  .holds = 1,
			  .waits = hold->waits,
			  .waited_ns = hold->waited_ns};

	memcpy(sum.waiters, hold->waiters, sizeof(sum.waiters));
	return sum;
}

static void add_waiter(struct sum *sum, uint32_t waiter)
{
	size_t i = 0;

	while (i < HOLD_WAITERS && sum->waiters[i] && sum->waiters[i] != waiter)
		i++;
	if (i < HOLD_WAITERS)
		sum->waiters[i] = waiter;
}

static void merge(struct sum *sum, const struct sum *other)
{
	if (other->span.end_ns > sum->span.end_ns)
		sum->span.end_ns = other->span.end_ns;
	sum->holds += other->holds;
	sum->waits += other->waits;
	sum->waited_ns += other->waited_ns;
	for (size_t i = 0; i < HOLD_WAITERS && other->waiters[i]; i++)
		add_waiter(sum, other->waiters[i]);
}

static void count(const struct choice *choice, struct lock_holds *holds)
{
	const struct lock_holds_index *index = choice->index;

	FOR_EACH_CHOSEN(i, choice, &index->hold_spans)
	{
		holds->count++;
		holds->waited_ns += index->holds.items[i].waited_ns;
	}
	FOR_EACH_CHOSEN(i, choice, &index->unknown_spans)
	holds->unknown_ns += index->unknown_ns.items[i];
}

static void take_each(struct choice *choice)
{
	FOR_EACH_CHOSEN(i, choice, &choice->index->hold_spans)
	*vec_push(&choice->sums) = sum_of(choice, i);
}

/* The length of the time ranges that leave room for all pairs of holder and lock. */
static uint64_t range_length_for(const struct choice *choice, size_t most, uint64_t *first_ns)
{
	const struct lock_holds_index *index = choice->index;
	bool *is_met = xcalloc(index->holders.count + 1, sizeof(*is_met));
	uint64_t last_ns = 0;
	size_t holders = 0;

	*first_ns = UINT64_MAX;
	FOR_EACH_CHOSEN(i, choice, &index->hold_spans)
	{
		bool *met = &is_met[index->holds.items[i].holder];

		holders += !*met;
		*met = true;
		last_ns = index->hold_spans.items.items[i].begin_ns;
		*first_ns = *first_ns < last_ns ? *first_ns : last_ns;
	}
	free(is_met);
	return (last_ns - *first_ns) / (most > holders ? most / holders : 1) + 1;
}

static void add_up(struct choice *choice, size_t most)
{
	uint64_t first_ns, length_ns = range_length_for(choice, most, &first_ns);
	struct hash_map numbers = {0}; /* holder << 32 | range → sum */

	FOR_EACH_CHOSEN(i, choice, &choice->index->hold_spans)
	{
		uint64_t begin_ns = choice->index->hold_spans.items.items[i].begin_ns;
		uint64_t holder = choice->index->holds.items[i].holder;
		uint32_t fresh = (uint32_t)choice->sums.count;
		uint32_t number = hash_map_put(
			&numbers, holder << 32 | (begin_ns - first_ns) / length_ns, fresh);
		struct sum sum = sum_of(choice, i);

		if (number == fresh)
			*vec_push(&choice->sums) = sum;
		else
			merge(&choice->sums.items[number], &sum);
	}
	hash_map_fini(&numbers);
}

static int by_wait(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	COMPARE(y->waited_ns, x->waited_ns);
	COMPARE(x->span.begin_ns, y->span.begin_ns);
	COMPARE(x->holder->process, y->holder->process);
	COMPARE(x->holder->thread, y->holder->thread);
	return strcmp(x->holder->lock, y->holder->lock);
}

static void leave_out(struct choice *choice, size_t most, struct lock_holds *holds)
{
	qsort(choice->sums.items, choice->sums.count, sizeof(*choice->sums.items), by_wait);
	for (size_t i = most; i < choice->sums.count; i++)
		holds->left_out += choice->sums.items[i].holds;
	choice->sums.count = most;
}

/* ---- names ---- */

static void name_row(const struct choice *choice, struct session *session, struct arena *arena,
		     const struct sum *sum, struct lock_held *row)
{
	const struct lock_holder *holder = sum->holder;

	*row = (struct lock_held){
		.process = holder->process,
		.thread = holder->thread,
		.holder = index_thread_label(session, arena,
					     (uint64_t)holder->process << 32 | holder->thread),
		.lock = arena_strdup(arena, holder->lock),
		.begin_ns = sum->span.begin_ns,
		.end_ns = sum->span.end_ns,
		.holds = sum->holds,
		.waits = sum->waits,
		.waited_ns = sum->waited_ns};
	for (size_t i = 0; i < HOLD_WAITERS && sum->waiters[i]; i++)
		row->waiters[i] = index_thread_label(
			session, arena, choice->index->waiters.keys.items[sum->waiters[i] - 1]);
}

static int compare_rows(const void *a, const void *b)
{
	const struct lock_held *x = a, *y = b;

	COMPARE(x->begin_ns, y->begin_ns);
	COMPARE(x->process, y->process);
	COMPARE(x->thread, y->thread);
	COMPARE(x->end_ns, y->end_ns);
	return strcmp(x->lock, y->lock);
}

static void name_rows(const struct choice *choice, struct session *session,
		      struct lock_holds *holds)
{
	for (size_t i = 0; i < choice->sums.count; i++)
		name_row(choice, session, &holds->arena, &choice->sums.items[i],
			 vec_push(&holds->list));
	if (holds->list.count)
		qsort(holds->list.items, holds->list.count, sizeof(*holds->list.items),
		      compare_rows);
}

void view_lock_holds(struct session *session, const struct query *query, uint64_t begin_ns,
		     uint64_t end_ns, size_t most, struct lock_holds *holds)
{
	struct tally *tally = tally_of(session, query);
	struct choice choice = {
		.index = lock_holds_index_of(tally), .begin_ns = begin_ns, .end_ns = end_ns};

	*holds = (struct lock_holds){0};
	count(&choice, holds);
	if (holds->count > most)
		add_up(&choice, most);
	else
		take_each(&choice);
	if (choice.sums.count > most)
		leave_out(&choice, most, holds);
	name_rows(&choice, session, holds);
	vec_fini(&choice.sums);
	lock_holds_index_put(tally);
	tally_release(tally);
}

void lock_holds_fini(struct lock_holds *holds)
{
	vec_fini(&holds->list);
	arena_fini(&holds->arena);
}
