/* SPDX-License-Identifier: Apache-2.0 */
/* One lock: how, by whom, and where it was waited for. */
#include "analysis/index/index_group.h"
#include "analysis/kinds/lock_holders.h"
#include "analysis/kinds/lock_owners.h"
#include "analysis/kinds/lock_spans.h"
#include "analysis/tree/stack_set.h"
#include "analysis/views/locks.h"

#include <stdlib.h>
#include <string.h>

struct pair {
	const char *waiter, *holder; /* holder NULL: not known */
	struct lock_sums sums;
};

struct stack {
	struct lock_place place;
	struct lock_sums sums;
};

struct focus {
	const struct lock *lock; /* of a scan before this one */
	struct arena *arena;
	struct lock_sums types[LOCK_TYPES];
	VEC(struct pair) pairs;
	VEC(struct stack) stacks;
	struct lock_owners owners;
	struct lock_holders meanwhile;
	VEC(struct lock_request) requests;
	uint64_t lock_ns;	    /* waited for what a thread may hold, with the clock on */
	struct hash_map waiters;    /* process << 32 | thread → a number from 0 */
	struct hash_map holders;    /* the same by id of the process, or a tid that no thread had */
	struct hash_map pair_keys;  /* waiter << 32 | holder */
	struct hash_map stack_keys; /* process << 32 | node */
};

/* As in the list of threads. */
static const char *thread_name(const struct session *session, struct arena *arena, size_t process,
			       uint64_t number)
{
	return index_thread_label(session, arena, (uint64_t)(process + 1) << 32 | number);
}

/* A lock may be held by a thread of another process. */
static const char *holder_name(const struct lock_scan *scan, struct arena *arena, uint64_t tid,
			       const struct lock_hold *hold)
{
	if (!tid)
		return NULL;
	if (hold->process)
		return thread_name(scan->session, arena, hold->process_number, hold->thread);
	return arena_printf(arena, "tid %llu", (unsigned long long)tid);
}

static uint64_t holder_key(uint64_t tid, const struct lock_hold *hold)
{
	return hold->process ? (uint64_t)(hold->process_number + 1) << 32 | hold->thread : tid;
}

/* Numbers keys in the order in which they come. */
static uint32_t number_of(struct hash_map *map, uint64_t key)
{
	return hash_map_put(map, key, (uint32_t)map->count);
}

static void add_request(struct focus *focus, const struct lock_scan *scan, uint64_t object,
			const struct lock_hold *hold)
{
	if (scan->process->profile.event_count)
		focus->lock_ns += hold->end_ns - hold->begin_ns;
	*vec_push(&focus->requests) = (struct lock_request){.process_number = scan->process_number,
							    .object = object,
							    .waiter = 1,
							    .hold = *hold};
}

static void add_pair(struct focus *focus, const struct lock_scan *scan,
		     const struct lock_event *event, const struct event_run *run, size_t row)
{
	uint64_t end_ns = event_times(run)[row], begin_ns = end_ns - event->waited_ns;
	uint64_t waiter =
		number_of(&focus->waiters, (uint64_t)scan->process_number << 32 | run->thread);
	struct lock_hold hold;
	uint64_t holder;
	uint32_t index;

	lock_owners_find(&focus->owners, scan->session, event->owner, begin_ns / 1000, &hold);
	holder = number_of(&focus->holders, holder_key(event->owner, &hold));
	index = number_of(&focus->pair_keys, waiter << 32 | holder);
	if (index == focus->pairs.count) {
		struct pair *pair = vec_push(&focus->pairs);

		pair->waiter =
			thread_name(scan->session, focus->arena, scan->process_number, run->thread);
		pair->holder = holder_name(scan, focus->arena, event->owner, &hold);
	}
	lock_sums_add(&focus->pairs.items[index].sums, event);
	if (!lock_is_held(event->type))
		return;
	hold.begin_ns = begin_ns;
	hold.end_ns = end_ns;
	add_request(focus, scan, event->object, &hold);
}

static void add_stack(struct focus *focus, const struct lock_scan *scan,
		      const struct lock_event *event, const struct event_run *run, size_t row)
{
	uint32_t node = event_stacks(run)[row];
	uint32_t index = number_of(&focus->stack_keys, (uint64_t)scan->process_number << 32 | node);

	if (index == focus->stacks.count)
		*vec_push(&focus->stacks) =
			(struct stack){.place = {scan->experiment, scan->process, node}};
	lock_sums_add(&focus->stacks.items[index].sums, event);
}

static void visit(struct lock_scan *scan, const struct lock_event *event,
		  const struct event_run *run, size_t row)
{
	struct focus *focus = scan->data;

	lock_sums_add(&focus->types[event->type], event);
	add_pair(focus, scan, event, run, row);
	add_stack(focus, scan, event, run, row);
}

static struct lock_waits waits_of(const struct lock_sums *sums)
{
	return (struct lock_waits){.count = sums->count,
				   .failed = sums->failed,
				   .seconds = (double)sums->waited_ns / 1e9,
				   .longest = (double)sums->longest_ns / 1e9};
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = lock_sums_compare(&x->sums, &y->sums);

	return order ? order : strcmp(x->waiter, y->waiter);
}

static int compare_stacks(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;
	int order = lock_sums_compare(&x->sums, &y->sums);

	if (order || x->place.process == y->place.process)
		return order			       ? order
		       : x->place.node < y->place.node ? -1
						       : x->place.node > y->place.node;
	return x->place.process < y->place.process ? -1 : 1;
}

static bool within(const struct query *query, size_t count)
{
	return !query->limit || count < query->limit;
}

static void give_types(struct focus *focus, struct lock_detail *detail)
{
	for (unsigned type = 0; type < LOCK_TYPES; type++)
		if (focus->types[type].count)
			*vec_push(&detail->types) =
				(struct lock_type){.name = lock_type_name(type),
						   .waits = waits_of(&focus->types[type])};
}

static void give_pairs(struct focus *focus, const struct query *query, struct lock_detail *detail)
{
	if (focus->pairs.count)
		qsort(focus->pairs.items, focus->pairs.count, sizeof(struct pair), compare_pairs);
	for (size_t i = 0; i < focus->pairs.count && within(query, i); i++) {
		const struct pair *pair = &focus->pairs.items[i];

		*vec_push(&detail->pairs) = (struct lock_pair){.waiter = pair->waiter,
							       .holder = pair->holder,
							       .waits = waits_of(&pair->sums)};
	}
}

static struct lock_stack give_maker(struct session *session, const struct query *query,
				    const struct lock_place *place, struct arena *arena)
{
	struct stack_set set = {
		.session = session, .style = query->name_style, .mode = query->mode};
	struct lock_stack out = {0};
	uint32_t row = stack_set_add(&set, place->experiment, place->process, place->node);

	out.frames = stack_set_frames(&set, row, arena, &out.depth);
	stack_set_fini(&set);
	return out;
}

/* Sums of a row of a set of stacks. */
struct row_sums {
	uint32_t row;
	struct lock_sums sums;
};
struct row_sums_list {
	struct row_sums *items; /* by row, until they are sorted */
	size_t count, capacity;
};

static void add_to_row(struct row_sums_list *list, struct stack_set *set,
		       const struct lock_place *place, const struct lock_sums *sums)
{
	uint32_t row = stack_set_add(set, place->experiment, place->process, place->node);

	if (row == list->count)
		*vec_push(list) = (struct row_sums){.row = row};
	lock_sums_merge(&list->items[row].sums, sums);
}

/* Those that were met first come first: they are met in order. */
static int compare_row_sums(const void *a, const void *b)
{
	const struct row_sums *x = a, *y = b;
	int order = lock_sums_compare(&x->sums, &y->sums);

	return order ? order : x->row < y->row ? -1 : x->row > y->row;
}

static void sort_rows(struct row_sums_list *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_row_sums);
}

static void give_stacks(struct session *session, struct focus *focus, const struct query *query,
			struct lock_detail *detail)
{
	struct stack_set set = {
		.session = session, .style = query->name_style, .mode = query->mode};
	struct row_sums_list rows = {0};

	if (focus->stacks.count)
		qsort(focus->stacks.items, focus->stacks.count, sizeof(struct stack),
		      compare_stacks);
	for (size_t i = 0; i < focus->stacks.count; i++)
		add_to_row(&rows, &set, &focus->stacks.items[i].place,
			   &focus->stacks.items[i].sums);
	sort_rows(&rows);
	for (size_t i = 0; i < rows.count && within(query, i); i++) {
		struct lock_stack *out = vec_push(&detail->stacks);

		*out = (struct lock_stack){.waits = waits_of(&rows.items[i].sums)};
		out->frames =
			stack_set_frames(&set, rows.items[i].row, &detail->arena, &out->depth);
	}
	vec_fini(&rows);
	stack_set_fini(&set);
}

static void add_hold(void *arg, const struct lock_part *part)
{
	struct lock_holders *holders = arg;

	*vec_push(&holders->holds) = part->hold;
}

static void give_holders(struct session *session, struct focus *focus, const struct query *query,
			 struct lock_detail *detail)
{
	struct stack_set set = {
		.session = session, .style = query->name_style, .mode = query->mode};
	struct lock_holders *meanwhile = &focus->meanwhile;
	struct row_sums_list rows = {0};

	lock_spans_find(session, focus->requests.items, focus->requests.count, add_hold, meanwhile);
	lock_holders_find(meanwhile);
	detail->held_seconds = (double)meanwhile->ns / 1e9;
	detail->unknown_seconds =
		focus->lock_ns > meanwhile->ns ? (double)(focus->lock_ns - meanwhile->ns) / 1e9 : 0;
	for (size_t i = 0; i < meanwhile->blames.count; i++) {
		const struct lock_blame *blame = &meanwhile->blames.items[i];
		const struct lock_sums sums = {.waited_ns = blame->ns};

		add_to_row(&rows, &set, &blame->place, &sums);
	}
	sort_rows(&rows);
	for (size_t i = 0; i < rows.count && within(query, i); i++) {
		struct lock_stack *out = vec_push(&detail->holders);

		*out = (struct lock_stack){.waits.seconds =
						   (double)rows.items[i].sums.waited_ns / 1e9};
		out->frames =
			stack_set_frames(&set, rows.items[i].row, &detail->arena, &out->depth);
	}
	vec_fini(&rows);
	stack_set_fini(&set);
}

static void focus_fini(struct focus *focus)
{
	lock_owners_fini(&focus->owners);
	lock_holders_fini(&focus->meanwhile);
	vec_fini(&focus->requests);
	vec_fini(&focus->pairs);
	vec_fini(&focus->stacks);
	hash_map_fini(&focus->waiters);
	hash_map_fini(&focus->holders);
	hash_map_fini(&focus->pair_keys);
	hash_map_fini(&focus->stack_keys);
}

/* The place in the list that a text says, from 1 on; 0: none. */
static size_t place_of(const char *which)
{
	char *rest;
	unsigned long place = strtoul(which, &rest, 10);

	return *which && !*rest ? place : 0;
}

/* By its place in the list or by its name; NULL: there is none. */
static const struct lock *choose(const struct lock_scan *scan, const char *which)
{
	const struct lock **order = lock_scan_order(scan);
	const struct lock *found = NULL;
	struct arena arena = {0};
	size_t place = place_of(which);

	if (place && place <= scan->locks.count)
		found = order[place - 1];
	for (size_t i = 0; i < scan->locks.count && !found; i++)
		if (!strcmp(order[i]->name, which) || !strcmp(lock_title(order[i], &arena), which))
			found = order[i];
	arena_fini(&arena);
	free(order);
	return found;
}

bool view_lock(struct session *session, const struct query *query, const char *which,
	       struct lock_detail *detail)
{
	struct tally *tally = tally_of(session, query);
	struct lock_scan all = {.most = place_of(which) ? place_of(which) : 1, .which = which};
	struct focus focus = {.arena = &detail->arena};
	struct lock_scan closer = {.visit = visit, .data = &focus, .most = 1};

	*detail = (struct lock_detail){0};
	lock_scan_run(&all, tally);
	focus.lock = choose(&all, which);
	if (focus.lock) {
		closer.sought = focus.lock;
		closer.parts = all.parts;
		lock_scan_run(&closer, tally);
		detail->name = lock_title(focus.lock, &detail->arena);
		detail->object = focus.lock->object;
		detail->waits = waits_of(&focus.lock->sums);
		if (focus.lock->maker.process)
			detail->maker =
				give_maker(session, query, &focus.lock->maker, &detail->arena);
		give_types(&focus, detail);
		give_pairs(&focus, query, detail);
		give_stacks(session, &focus, query, detail);
		give_holders(session, &focus, query, detail);
		focus_fini(&focus);
		lock_scan_fini(&closer);
	}
	lock_scan_fini(&all);
	tally_release(tally);
	return detail->name;
}

void lock_detail_fini(struct lock_detail *detail)
{
	vec_fini(&detail->types);
	vec_fini(&detail->pairs);
	vec_fini(&detail->stacks);
	vec_fini(&detail->holders);
	arena_fini(&detail->arena);
}
