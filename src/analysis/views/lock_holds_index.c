/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each part of waits with a known holder is a piece; pieces of one holder and lock that overlap
 * are one hold, for whom several waited.
 */
#include "analysis/views/lock_holds_index.h"

#include "analysis/kinds/lock_owners.h"
#include "analysis/kinds/lock_spans.h"
#include "analysis/kinds/mpi_clocks.h"
#include "analysis/kinds/mpi_match.h"
#include "analysis/session/watch.h"
#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)HOLD_WAITERS == (int)LOCK_PART_WAITERS, "of a part all are taken");

/* Of a request, by its number. */
struct wait {
	uint64_t lock;	   /* number of the scan */
	uint64_t asked_ns; /* waited */
};

/* A hold in the making. */
struct hold {
	uint32_t process; /* id */
	uint32_t holder;  /* among those of the index */
	uint64_t thread, lock, begin_ns, end_ns, waits, waited_ns;
	uint64_t waiters[HOLD_WAITERS]; /* process << 32 | number; 0: no more */
};

struct finding {
	VEC(struct lock_request) requests;
	VEC(struct wait) waits;
	VEC(struct unknown_wait) unknown; /* nobody can be known of these */
	VEC(struct hold) holds;
	struct lock_owners owners;
	size_t parts; /* of the scan; where they change it begins anew */
};

/* ---- waits ---- */

/* Whether the one who holds a lock is known at the request, or may be later. */
static bool may_be_known(const struct lock_scan *scan, const struct event_run *run,
			 const struct lock_hold *hold)
{
	return hold->process || run->kind == EVENTS_TRACE + TRACE_OMP ||
	       scan->process->traces[TRACE_SYNC].releases.count > 0;
}

static void begin_anew(struct finding *finding, size_t parts)
{
	finding->parts = parts;
	finding->requests.count = 0;
	finding->waits.count = 0;
	finding->unknown.count = 0;
}

static void visit(struct lock_scan *scan, const struct lock_event *event,
		  const struct event_run *run, size_t row)
{
	struct finding *finding = scan->data;
	uint64_t end_ns = event_times(run)[row];
	uint64_t begin_ns = end_ns - event->waited_ns;
	struct lock_hold hold;

	if (finding->parts != scan->parts)
		begin_anew(finding, scan->parts);
	if (!event->waited_ns || !lock_is_held(event->type))
		return;
	lock_owners_find(&finding->owners, scan->session, event->owner, begin_ns / 1000, &hold);
	if (!may_be_known(scan, run, &hold)) {
		*vec_push(&finding->unknown) =
			(struct unknown_wait){.span = {begin_ns, end_ns},
					      .ns = event->waited_ns,
					      .process = scan->process_number};
		return;
	}
	hold.begin_ns = begin_ns;
	hold.end_ns = end_ns;
	scan->visited->is_kept = true;
	*vec_push(&finding->requests) = (struct lock_request){
		.process_number = scan->process_number,
		.object = event->object,
		.waiter = (uint64_t)(scan->process_number + 1) << 32 | run->thread,
		.hold = hold};
	*vec_push(&finding->waits) =
		(struct wait){.lock = scan->visited->number, .asked_ns = event->waited_ns};
}

/* What is left of those of which something is known. */
static void add_unknown(struct finding *finding)
{
	for (size_t i = 0; i < finding->waits.count; i++) {
		const struct lock_request *request = &finding->requests.items[i];
		uint64_t asked_ns = finding->waits.items[i].asked_ns;

		if (asked_ns > request->known_ns)
			*vec_push(&finding->unknown) = (struct unknown_wait){
				.span = {request->hold.begin_ns, request->hold.end_ns},
				.ns = asked_ns - request->known_ns,
				.process = request->process_number};
	}
}

/* ---- holds ---- */

static int same_holder(const struct hold *x, const struct hold *y)
{
	COMPARE(x->process, y->process);
	COMPARE(x->thread, y->thread);
	COMPARE(x->lock, y->lock);
	return 0;
}

static int by_holder(const void *a, const void *b)
{
	const struct hold *x = a, *y = b;
	int holder = same_holder(x, y);

	if (holder)
		return holder;
	COMPARE(x->begin_ns, y->begin_ns);
	COMPARE(x->waiters[0], y->waiters[0]);
	COMPARE(x->end_ns, y->end_ns);
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct hold *x = a, *y = b;

	COMPARE(x->begin_ns, y->begin_ns);
	return by_holder(a, b);
}

static int by_span(const void *a, const void *b)
{
	const struct unknown_wait *x = a, *y = b;

	COMPARE(x->span.begin_ns, y->span.begin_ns);
	COMPARE(x->span.end_ns, y->span.end_ns);
	return 0;
}

static void sort(struct finding *finding, int (*order)(const void *, const void *))
{
	if (finding->holds.count)
		qsort(finding->holds.items, finding->holds.count, sizeof(struct hold), order);
}

static void add_waiter(struct hold *hold, uint64_t waiter)
{
	size_t i = 0;

	while (i < HOLD_WAITERS && hold->waiters[i] && hold->waiters[i] != waiter)
		i++;
	if (i < HOLD_WAITERS)
		hold->waiters[i] = waiter;
}

static void merge(struct hold *sum, const struct hold *piece)
{
	sum->end_ns = piece->end_ns > sum->end_ns ? piece->end_ns : sum->end_ns;
	sum->waits += piece->waits;
	sum->waited_ns += piece->waited_ns;
	for (size_t i = 0; i < HOLD_WAITERS && piece->waiters[i]; i++)
		add_waiter(sum, piece->waiters[i]);
}

/* Whether one is among the waiters, or would be none of the first as they come in order. */
static bool has_waiter(const struct hold *hold, uint64_t waiter)
{
	for (size_t i = 0; i < HOLD_WAITERS; i++)
		if (hold->waiters[i] == waiter)
			return true;
	return hold->waiters[HOLD_WAITERS - 1] && hold->waiters[HOLD_WAITERS - 1] < waiter;
}

/*
 * Each part of the waits as a hold of its own.  Those who end within one of several waits are added
 * to that at once: there are as many as waits.
 */
static void add_piece(void *arg, const struct lock_part *part)
{
	struct finding *finding = arg;
	const struct lock_hold *of = &part->hold;
	struct hold *last =
		finding->holds.count ? &finding->holds.items[finding->holds.count - 1] : NULL;
	struct hold hold = {.process = of->process_number + 1,
			    .thread = of->thread,
			    .lock = finding->waits.items[part->request].lock,
			    .begin_ns = of->begin_ns,
			    .end_ns = of->end_ns,
			    .waits = of->waits,
			    .waited_ns = (of->end_ns - of->begin_ns) * of->waits};

	memcpy(hold.waiters, part->waiters, sizeof(hold.waiters));
	if (last && !same_holder(last, &hold) && last->begin_ns == hold.begin_ns &&
	    !hold.waiters[1] && has_waiter(last, hold.waiters[0]))
		merge(last, &hold);
	else
		*vec_push(&finding->holds) = hold;
}

/* Of pieces in order of holder and begin: those that overlap become one hold. */
static void join_pieces(struct finding *finding)
{
	struct hold *items = finding->holds.items, *hold = NULL;

	for (size_t i = 0; i < finding->holds.count; i++) {
		if (hold && !same_holder(hold, &items[i]) && items[i].begin_ns <= hold->end_ns) {
			merge(hold, &items[i]);
			continue;
		}
		hold = hold ? hold + 1 : items;
		*hold = items[i];
	}
	finding->holds.count = hold ? (size_t)(hold - items) + 1 : 0;
}

static void put_on_line(struct finding *finding, const struct mpi_clocks *clocks)
{
	for (size_t i = 0; i < finding->holds.count; i++) {
		struct hold *hold = &finding->holds.items[i];

		clock_shift_event(&clocks->of[hold->process - 1].shift, &hold->begin_ns,
				  &hold->end_ns);
	}
	for (size_t i = 0; i < finding->unknown.count; i++) {
		struct unknown_wait *wait = &finding->unknown.items[i];

		clock_shift_event(&clocks->of[wait->process].shift, &wait->span.begin_ns,
				  &wait->span.end_ns);
	}
}

/* ---- the index ---- */

/* The index of a lock's title among those of `titles`, by the lock's number. */
static void give_titles(const struct lock_scan *scan, struct arena *arena, struct hash_map *numbers,
			const char **titles)
{
	for (size_t i = 0; i < scan->locks.count; i++) {
		uint32_t index = hash_map_get(numbers, scan->locks.items[i].number);

		if (index != HASH_NONE)
			titles[index] = lock_title(&scan->locks.items[i], arena);
	}
}

/* Of holds in order of their holders. */
static void add_holders(struct lock_holds_index *index, const struct finding *finding,
			const struct lock_scan *scan)
{
	struct hold *items = finding->holds.items;
	struct hash_map numbers = {0};
	const char **titles;

	for (size_t i = 0; i < finding->holds.count; i++)
		hash_map_put(&numbers, items[i].lock, (uint32_t)numbers.count);
	titles = xcalloc(numbers.count + 1, sizeof(*titles));
	give_titles(scan, &index->arena, &numbers, titles);
	for (size_t i = 0; i < finding->holds.count; i++) {
		if (!i || same_holder(&items[i], &items[i - 1]))
			*vec_push(&index->holders) = (struct lock_holder){
				.process = items[i].process,
				.thread = items[i].thread,
				.lock = titles[hash_map_get(&numbers, items[i].lock)]};
		items[i].holder = (uint32_t)index->holders.count - 1;
	}
	free(titles);
	hash_map_fini(&numbers);
}

static void add_holds(struct lock_holds_index *index, const struct finding *finding)
{
	for (size_t i = 0; i < finding->holds.count; i++) {
		const struct hold *hold = &finding->holds.items[i];
		struct kept_hold *kept = vec_push(&index->holds);

		*kept = (struct kept_hold){.waited_ns = hold->waited_ns,
					   .holder = hold->holder,
					   .waits = (uint32_t)hold->waits};
		for (size_t k = 0; k < HOLD_WAITERS && hold->waiters[k]; k++)
			kept->waiters[k] = key_numbers_put(&index->waiters, hold->waiters[k]) + 1;
		spans_add(&index->hold_spans, (struct span){hold->begin_ns, hold->end_ns});
	}
	for (size_t i = 0; i < finding->unknown.count; i++) {
		*vec_push(&index->unknown_ns) = finding->unknown.items[i].ns;
		spans_add(&index->unknown_spans, finding->unknown.items[i].span);
	}
}

static void finding_fini(struct finding *finding)
{
	vec_fini(&finding->requests);
	vec_fini(&finding->waits);
	vec_fini(&finding->unknown);
	vec_fini(&finding->holds);
	lock_owners_fini(&finding->owners);
}

static size_t size_of(const struct lock_holds_index *index)
{
	return sizeof(*index) + index->arena.size + spans_size(&index->hold_spans) +
	       spans_size(&index->unknown_spans) +
	       index->holds.count * sizeof(*index->holds.items) +
	       index->unknown_ns.count * sizeof(*index->unknown_ns.items) +
	       index->holders.count * sizeof(*index->holders.items) +
	       index->waiters.keys.count * sizeof(uint64_t) * 2;
}

static struct lock_holds_index *make_index(struct tally *tally)
{
	struct lock_holds_index *index = xcalloc(1, sizeof(*index));
	struct finding finding = {0};
	struct lock_scan scan = {.visit = visit, .visits_all = true, .data = &finding, .most = 1};

	lock_scan_run(&scan, tally);
	lock_owners_fini(&finding.owners);
	lock_spans_find(tally->session, finding.requests.items, finding.requests.count, add_piece,
			&finding);
	add_unknown(&finding);
	vec_fini(&finding.requests); /* there may be millions: what is done with goes at once */
	vec_fini(&finding.waits);
	sort(&finding, by_holder);
	join_pieces(&finding);
	put_on_line(&finding, mpi_clocks_of(tally->session));
	add_holders(index, &finding, &scan);
	sort(&finding, by_begin);
	if (finding.unknown.count)
		qsort(finding.unknown.items, finding.unknown.count, sizeof(struct unknown_wait),
		      by_span);
	add_holds(index, &finding);
	index->size = size_of(index);
	finding_fini(&finding);
	lock_scan_fini(&scan);
	return index;
}

static void index_free(struct lock_holds_index *index)
{
	vec_fini(&index->holds);
	vec_fini(&index->unknown_ns);
	vec_fini(&index->holders);
	key_numbers_fini(&index->waiters);
	spans_fini(&index->hold_spans);
	spans_fini(&index->unknown_spans);
	arena_fini(&index->arena);
	free(index);
}

const struct lock_holds_index *lock_holds_index_of(struct tally *tally)
{
	if (!tally->lock_holds) {
		tally->lock_holds = make_index(tally);
		tally->lock_holds_size = tally->lock_holds->size;
		tally->free_lock_holds = index_free;
	}
	return tally->lock_holds;
}

void lock_holds_index_put(struct tally *tally)
{
	const struct watch *watch = tally->session->watch;

	if (!watch || !watch->cancelled)
		return;
	index_free(tally->lock_holds);
	tally->lock_holds = NULL;
	tally->lock_holds_size = 0;
}
