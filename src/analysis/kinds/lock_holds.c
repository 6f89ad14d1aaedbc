/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each part of a wait with a known holder is a piece; pieces of one holder and lock that overlap
 * are one hold, for whom several waited.  Where there are more holds than rows are wanted, those of
 * a holder and lock that begin in one stretch of time are one row.
 */
#include "analysis/kinds/lock_holds.h"

#include "analysis/index/index_group.h"
#include "analysis/kinds/lock_spans.h"
#include "analysis/kinds/mpi_clocks.h"
#include "analysis/kinds/mpi_match.h"
#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

/* Of a request, by its number. */
struct wait {
	uint32_t process; /* id */
	uint64_t thread;
	uint64_t lock; /* number of the scan */
};

/* A row in the making. */
struct hold {
	uint32_t process;
	uint64_t thread, lock, begin_ns, end_ns, holds, waits, waited_ns;
	uint64_t waiters[HOLD_WAITERS]; /* process << 32 | number; 0: no more */
};

/* Who had a thread id, when it was last looked for. */
struct known {
	struct lock_hold hold;		     /* process NULL: nobody */
	const struct profile_thread *thread; /* the same */
};

struct finding {
	uint64_t begin_ns, end_ns; /* of the range, on the line of the timeline */
	const struct mpi_clocks *clocks;
	VEC(struct lock_request) requests;
	VEC(struct wait) waits;
	VEC(struct hold) holds;
	VEC(struct known) known;
	struct hash_map known_ids; /* thread id → index in `known` */
	uint64_t asked_ns;	   /* waited for what threads hold */
	size_t parts;		   /* of the scan; where they change it begins anew */
};

/* ---- waits ---- */

static bool had_id(const struct known *known, uint64_t time_us)
{
	return !known->thread ||
	       (known->thread->begin_us <= time_us && time_us <= known->thread->end_us);
}

static struct lock_hold find_holder(struct finding *finding, const struct session *session,
				    uint64_t tid, uint64_t time_us)
{
	uint32_t fresh = (uint32_t)finding->known.count;
	uint32_t index = hash_map_put(&finding->known_ids, tid, fresh);
	struct known *known;

	if (index == fresh)
		vec_push(&finding->known);
	else if (had_id(&finding->known.items[index], time_us))
		return finding->known.items[index].hold;
	known = &finding->known.items[index];
	*known = (struct known){0};
	if (lock_holder_find(session, tid, time_us, &known->hold))
		known->thread =
			profile_find_thread(&known->hold.process->profile, known->hold.thread);
	return known->hold;
}

/* Of times of a process, by its index. */
static bool overlaps(const struct finding *finding, size_t process, uint64_t begin_ns,
		     uint64_t end_ns)
{
	clock_shift_event(&finding->clocks->of[process].shift, &begin_ns, &end_ns);
	return end_ns >= finding->begin_ns && (!finding->end_ns || begin_ns < finding->end_ns);
}

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
	finding->asked_ns = 0;
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
	if (!event->waited_ns || !lock_is_held(event->type) ||
	    !overlaps(finding, scan->process_number, begin_ns, end_ns))
		return;
	finding->asked_ns += event->waited_ns;
	hold = find_holder(finding, scan->session, event->owner, begin_ns / 1000);
	if (!may_be_known(scan, run, &hold))
		return;
	hold.begin_ns = begin_ns;
	hold.end_ns = end_ns;
	scan->visited->is_kept = true;
	*vec_push(&finding->requests) =
		(struct lock_request){.experiment = scan->experiment,
				      .process = scan->process,
				      .process_number = scan->process_number,
				      .object = event->object,
				      .hold = hold};
	*vec_push(&finding->waits) = (struct wait){.process = scan->process_number + 1,
						   .thread = run->thread,
						   .lock = scan->visited->number};
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

static int by_wait(const void *a, const void *b)
{
	const struct hold *x = a, *y = b;

	COMPARE(y->waited_ns, x->waited_ns);
	return by_begin(a, b);
}

static void sort(struct finding *finding, int (*order)(const void *, const void *))
{
	if (finding->holds.count)
		qsort(finding->holds.items, finding->holds.count, sizeof(struct hold), order);
}

/* Each piece of a wait as a hold of its own. */
static void add_pieces(struct finding *finding)
{
	struct lock_holders found = {0};

	lock_spans_find(finding->requests.items, finding->requests.count, &found);
	for (size_t i = 0; i < found.holds.count; i++) {
		const struct lock_hold *piece = &found.holds.items[i];
		const struct wait *wait = &finding->waits.items[piece->request];

		*vec_push(&finding->holds) =
			(struct hold){.process = piece->process_number + 1,
				      .thread = piece->thread,
				      .lock = wait->lock,
				      .begin_ns = piece->begin_ns,
				      .end_ns = piece->end_ns,
				      .holds = 1,
				      .waits = 1,
				      .waited_ns = piece->end_ns - piece->begin_ns,
				      .waiters = {(uint64_t)wait->process << 32 | wait->thread}};
	}
	lock_holders_fini(&found);
}

static void add_waiter(struct hold *hold, uint64_t waiter)
{
	size_t i = 0;

	while (i < HOLD_WAITERS && hold->waiters[i] && hold->waiters[i] != waiter)
		i++;
	if (i < HOLD_WAITERS)
		hold->waiters[i] = waiter;
}

static void merge(struct hold *sum, const struct hold *other)
{
	sum->end_ns = other->end_ns > sum->end_ns ? other->end_ns : sum->end_ns;
	sum->holds += other->holds;
	sum->waits += other->waits;
	sum->waited_ns += other->waited_ns;
	for (size_t i = 0; i < HOLD_WAITERS && other->waiters[i]; i++)
		add_waiter(sum, other->waiters[i]);
}

/* Of pieces in order of holder and begin: those that overlap become one hold. */
static void join_pieces(struct finding *finding)
{
	struct hold *items = finding->holds.items, *hold = NULL;

	for (size_t i = 0; i < finding->holds.count; i++) {
		if (hold && !same_holder(hold, &items[i]) && items[i].begin_ns <= hold->end_ns) {
			merge(hold, &items[i]);
			hold->holds = 1;
			continue;
		}
		hold = hold ? hold + 1 : items;
		*hold = items[i];
	}
	finding->holds.count = hold ? (size_t)(hold - items) + 1 : 0;
}

static void keep_range(struct finding *finding, struct lock_holds *holds)
{
	size_t kept = 0;

	for (size_t i = 0; i < finding->holds.count; i++) {
		struct hold *hold = &finding->holds.items[i];

		finding->asked_ns -= hold->waited_ns;
		if (!overlaps(finding, hold->process - 1, hold->begin_ns, hold->end_ns))
			continue;
		clock_shift_event(&finding->clocks->of[hold->process - 1].shift, &hold->begin_ns,
				  &hold->end_ns);
		holds->waited_ns += hold->waited_ns;
		finding->holds.items[kept++] = *hold;
	}
	finding->holds.count = kept;
	holds->count = kept;
	holds->unknown_ns = finding->asked_ns;
}

/* The length of the stretches that leave room for all pairs of holder and lock. */
static uint64_t stretch_for(const struct finding *finding, size_t most, uint64_t *first_ns)
{
	const struct hold *items = finding->holds.items;
	uint64_t last_ns = 0;
	size_t pairs = 0;

	*first_ns = UINT64_MAX;
	for (size_t i = 0; i < finding->holds.count; i++) {
		pairs += !i || same_holder(&items[i], &items[i - 1]) != 0;
		*first_ns = items[i].begin_ns < *first_ns ? items[i].begin_ns : *first_ns;
		last_ns = items[i].begin_ns > last_ns ? items[i].begin_ns : last_ns;
	}
	return (last_ns - *first_ns) / (most > pairs ? most / pairs : 1) + 1;
}

static void add_up(struct finding *finding, size_t most)
{
	struct hold *items = finding->holds.items, *sum = NULL;
	uint64_t first_ns, of_sum = 0, length_ns = stretch_for(finding, most, &first_ns);

	for (size_t i = 0; i < finding->holds.count; i++) {
		uint64_t stretch = (items[i].begin_ns - first_ns) / length_ns;

		if (sum && stretch == of_sum && !same_holder(sum, &items[i])) {
			merge(sum, &items[i]);
			continue;
		}
		sum = sum ? sum + 1 : items;
		*sum = items[i];
		of_sum = stretch;
	}
	finding->holds.count = (size_t)(sum - items) + 1;
}

static void leave_out(struct finding *finding, size_t most, struct lock_holds *holds)
{
	sort(finding, by_wait);
	for (size_t i = most; i < finding->holds.count; i++)
		holds->left_out += finding->holds.items[i].holds;
	finding->holds.count = most;
}

static void make_rows(struct finding *finding, size_t most, struct lock_holds *holds)
{
	add_pieces(finding);
	sort(finding, by_holder);
	join_pieces(finding);
	keep_range(finding, holds);
	if (finding->holds.count > most)
		add_up(finding, most);
	if (finding->holds.count > most)
		leave_out(finding, most, holds);
}

/* ---- names ---- */

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

static void name_row(struct session *session, struct arena *arena, const struct hold *hold,
		     struct lock_held *row)
{
	*row = (struct lock_held){
		.process = hold->process,
		.thread = hold->thread,
		.holder = index_thread_label(session, arena,
					     (uint64_t)hold->process << 32 | hold->thread),
		.begin_ns = hold->begin_ns,
		.end_ns = hold->end_ns,
		.holds = hold->holds,
		.waits = hold->waits,
		.waited_ns = hold->waited_ns};
	for (size_t i = 0; i < HOLD_WAITERS && hold->waiters[i]; i++)
		row->waiters[i] = index_thread_label(session, arena, hold->waiters[i]);
}

/* Numbers of locks are given as they come, by several threads: those are no order. */
static int compare_rows(const void *a, const void *b)
{
	const struct lock_held *x = a, *y = b;

	COMPARE(x->begin_ns, y->begin_ns);
	COMPARE(x->process, y->process);
	COMPARE(x->thread, y->thread);
	COMPARE(x->end_ns, y->end_ns);
	return strcmp(x->lock, y->lock);
}

static void name_rows(const struct finding *finding, const struct lock_scan *scan,
		      struct lock_holds *holds)
{
	struct hash_map numbers = {0};
	const char **titles;

	for (size_t i = 0; i < finding->holds.count; i++)
		hash_map_put(&numbers, finding->holds.items[i].lock, (uint32_t)numbers.count);
	titles = xcalloc(numbers.count + 1, sizeof(*titles));
	give_titles(scan, &holds->arena, &numbers, titles);
	for (size_t i = 0; i < finding->holds.count; i++) {
		const struct hold *hold = &finding->holds.items[i];
		struct lock_held *row = vec_push(&holds->list);

		name_row(scan->session, &holds->arena, hold, row);
		row->lock = titles[hash_map_get(&numbers, hold->lock)];
	}
	if (holds->list.count)
		qsort(holds->list.items, holds->list.count, sizeof(*holds->list.items),
		      compare_rows);
	free(titles);
	hash_map_fini(&numbers);
}

void view_lock_holds(struct session *session, const struct query *query, uint64_t begin_ns,
		     uint64_t end_ns, size_t most, struct lock_holds *holds)
{
	struct tally *tally = tally_of(session, query);
	struct finding finding = {
		.begin_ns = begin_ns, .end_ns = end_ns, .clocks = mpi_clocks_of(session)};
	struct lock_scan scan = {.visit = visit, .visits_all = true, .data = &finding, .most = 1};

	*holds = (struct lock_holds){0};
	lock_scan_run(&scan, tally);
	make_rows(&finding, most, holds);
	name_rows(&finding, &scan, holds);
	vec_fini(&finding.requests);
	vec_fini(&finding.waits);
	vec_fini(&finding.holds);
	vec_fini(&finding.known);
	hash_map_fini(&finding.known_ids);
	lock_scan_fini(&scan);
	tally_release(tally);
}

void lock_holds_fini(struct lock_holds *holds)
{
	vec_fini(&holds->list);
	arena_fini(&holds->arena);
}
