/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads did, at a resolution.  Cells are whole ns long and begin at multiples of that, and
 * an event's time is dealt out by their borders in whole us: cells of twice the length have the
 * sums of two.
 */
#include "analysis/views/timeline_cells.h"

#include "analysis/kinds/mpi_match.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/shape.h"

#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 1 << 18 };

/* The time of a function in a cell. */
struct own_time {
	uint32_t cell, function;
	uint64_t us;
};

struct making {
	struct tally *tally;
	struct timeline_cells to;
	struct hash_map known;
	VEC(struct own_time) own;
	/* of the process that is walked */
	const struct session_process *process;
	const uint32_t *shown;
	uint64_t thread; /* of the last event … */
	uint32_t lane;	 /* … and where it is */
	const struct timed_event *event;
	uint64_t own_key; /* the last function in a cell … */
	uint32_t own_at;  /* … and its place */
};

static void add_own(struct making *making, uint32_t cell, uint32_t function, uint64_t us)
{
	uint64_t key = (uint64_t)cell << 32 | function;
	uint32_t fresh = (uint32_t)making->own.count;

	if (!fresh || making->own_key != key) {
		making->own_key = key;
		making->own_at = hash_map_put(&making->known, key, fresh);
		if (making->own_at == fresh)
			*vec_push(&making->own) = (struct own_time){cell, function, 0};
	}
	making->own.items[making->own_at].us += us;
}

/* Of the event in hand. */
static void add_time(void *arg, size_t cell, uint64_t us)
{
	struct making *making = arg;
	const struct timed_event *event = making->event;
	size_t at = making->lane * making->to.cell_count + cell;
	uint32_t node = making->shown[event->node];

	making->to.cells[at].state_us[event->type] += us;
	making->to.seen[making->lane] = true;
	if (us)
		add_own(making, (uint32_t)at,
			making->tally->shape->tree->nodes.items[node].function, us);
}

static uint32_t lane_of(struct making *making, const struct timed_event *event)
{
	uint64_t thread = event->thread;

	if (making->to.lanes.is_of_cpus)
		return making->lane = lanes_at_cpu(&making->to.lanes, event);
	if (making->thread != thread) {
		making->thread = thread;
		making->lane = lanes_at(&making->to.lanes, making->process, thread);
	}
	return making->lane;
}

static void add_event(const struct timed_event *event, void *arg)
{
	struct making *making = arg;
	const struct timeline_range *range = &making->to.range;
	bool ends_here = event->end_ns >= range->begin_ns && event->end_ns < range->end_ns;
	uint32_t lane = lane_of(making, event);

	if (lane == HASH_NONE ||
	    (making->to.lanes.is_of_cpus && timeline_is_off_cpu(event->kind, event->type)))
		return;
	if (ends_here) {
		size_t cell = lane * making->to.cell_count + cell_at(&making->to, event->end_ns);

		making->to.lanes.lanes.items[lane].events[event->kind]++;
		making->to.cells[cell].events[event->kind]++;
	}
	if (event->kind != EVENTS_CLOCK)
		return;
	making->event = event;
	if (event->end_ns - event->begin_ns == event->took_ns)
		cells_deal_out(&making->to, event->begin_ns, event->end_ns, add_time, making);
	else if (ends_here) /* it was before the experiment */
		add_time(making, cell_at(&making->to, event->end_ns), event->took_ns / 1000);
}

static void walk_all(struct making *making)
{
	struct session *session = making->tally->session;

	for (size_t i = 0; i < session->scanned.count; i++) {
		uint32_t *owned;

		making->process = &session->scanned.items[i];
		making->shown = shape_nodes(making->tally->shape, i, &owned);
		making->thread = UINT64_MAX; /* no thread's number */
		making->lane = HASH_NONE;
		timeline_walk(making->tally, making->process, add_event, making);
		free(owned);
	}
}

/*
 * Of several with as much the first one wins; on a processor, where threads come in any order, that
 * of the lowest number.
 */
static void choose_functions(struct making *making)
{
	size_t count = making->to.lanes.lanes.count * making->to.cell_count;
	uint64_t *most = xcalloc(count + 1, sizeof(*most));

	for (size_t i = 0; i < count; i++)
		making->to.cells[i].function = CODE_NONE;
	for (size_t i = 0; i < making->own.count; i++) {
		const struct own_time *own = &making->own.items[i];
		uint32_t *function = &making->to.cells[own->cell].function;

		if (own->us < most[own->cell] ||
		    (own->us == most[own->cell] &&
		     !(making->to.lanes.is_of_cpus && own->function < *function)))
			continue;
		most[own->cell] = own->us;
		*function = own->function;
	}
	free(most);
}

/* In the timeline's memory, where they stay. */
static void set_cells(struct making *making, struct timeline *timeline, size_t cells)
{
	uint64_t length = making->to.range.end_ns - making->to.range.begin_ns;
	size_t lanes = making->to.lanes.lanes.count ? making->to.lanes.lanes.count : 1;
	size_t most = CELLS_MAX / lanes ? CELLS_MAX / lanes : 1;

	if (!cells || cells > most)
		cells = most;
	making->to.cell_ns = length / cells + (length % cells != 0);
	making->to.cell_count = length / making->to.cell_ns + (length % making->to.cell_ns != 0);
	making->to.cells =
		arena_array(&timeline->arena, struct timeline_cell, lanes * making->to.cell_count);
	making->to.seen = xcalloc(lanes, sizeof(*making->to.seen));
}

/* The function's place in the list: it is added where it is new. */
static uint32_t list_function(struct making *making, const struct query *query,
			      struct timeline *timeline, uint32_t function)
{
	struct session *session = making->tally->session;
	uint32_t fresh = (uint32_t)timeline->function_count;
	uint32_t place = hash_map_put(&making->known, function, fresh);
	uint32_t object = session->functions.items[function].object;

	if (place == fresh)
		timeline->functions[timeline->function_count++] = (struct timeline_function){
			.function = function,
			.name = symbols_name(session, function, query->name_style),
			.object = object == OBJECT_UNKNOWN ? NULL
							   : session->objects.items[object].path};
	return place;
}

/* A thread may have time in the range though no event of it ends there. */
static void take(struct making *making, const struct query *query, struct timeline *timeline)
{
	const struct lanes *lanes = &making->to.lanes;
	struct session *session = making->tally->session;
	uint32_t *moved = xcalloc(lanes->lanes.count + 1, sizeof(*moved));
	size_t cells;

	timeline->range = making->to.range;
	timeline->cell_ns = making->to.cell_ns;
	timeline->cell_count = making->to.cell_count;
	timeline->lanes = lanes_kept(lanes, session, &timeline->arena, making->to.seen, moved,
				     &timeline->lane_count);
	cells = timeline->lane_count * making->to.cell_count;
	timeline->cells = making->to.cells;
	for (size_t i = 0; i < lanes->lanes.count; i++)
		if (moved[i] != HASH_NONE && moved[i] != i)
			memcpy(&timeline->cells[moved[i] * making->to.cell_count],
			       &making->to.cells[i * making->to.cell_count],
			       making->to.cell_count * sizeof(*making->to.cells));
	timeline->functions = arena_array(
		&timeline->arena, struct timeline_function,
		cells < session->functions.count ? cells + 1 : session->functions.count);
	hash_map_clear(&making->known);
	for (size_t i = 0; i < cells; i++)
		if (timeline->cells[i].function != CODE_NONE)
			timeline->cells[i].function =
				list_function(making, query, timeline, timeline->cells[i].function);
	free(moved);
}

static bool overlaps(const struct timeline_range *range, const struct collection *one)
{
	return one->begin_ns < range->end_ns && one->end_ns >= range->begin_ns;
}

/* On the line. */
static struct collection placed(const struct collection *one, const struct clock_shift *shift)
{
	struct collection moved = *one;

	clock_shift_event(shift, &moved.begin_ns, &moved.end_ns);
	return moved;
}

/* One that began before the range is in its first cell. */
static size_t cell_of(const struct timeline *timeline, uint64_t begin_ns)
{
	uint64_t begin = timeline->range.begin_ns;

	return begin_ns > begin ? (begin_ns - begin) / timeline->cell_ns : 0;
}

/* One more of them. */
static void add_one(struct timeline_collection *last, const struct collections *all,
		    const struct collection *one)
{
	const struct collection_more *more = collections_more(all, one);
	const char *cause = collections_words(all, more->cause);
	const char *collector = collections_words(all, more->collector);
	uint64_t took_ns = one->end_ns - one->begin_ns;

	last->cause = !last->count || cause == last->cause ? cause : "";
	last->collector = !last->count || collector == last->collector ? collector : "";
	last->after = more->after;
	last->count++;
	last->end_ns = one->end_ns > last->end_ns ? one->end_ns : last->end_ns;
	last->took_ns += took_ns;
	last->longest_ns = took_ns > last->longest_ns ? took_ns : last->longest_ns;
}

static void add_collections(struct timeline *timeline, const struct session_process *process,
			    const struct clock_shift *shift)
{
	const struct collections *all = &process->process->profile.collections;
	size_t first = timeline->collection_count, count = 0, cell = SIZE_MAX;
	struct collection one;

	for (size_t i = 0; i < all->list.count; i++) {
		one = placed(&all->list.items[i], shift);
		count += overlaps(&timeline->range, &one);
	}
	for (size_t i = 0; i < all->list.count; i++) {
		struct timeline_collection *last;

		one = placed(&all->list.items[i], shift);
		if (!overlaps(&timeline->range, &one))
			continue;
		last = &timeline->collections[timeline->collection_count];
		if (count > timeline->cell_count && timeline->collection_count > first &&
		    cell_of(timeline, one.begin_ns) == cell)
			last--;
		else
			*last = (struct timeline_collection){
				.process = process->id,
				.thread = one.thread,
				.number = i + 1,
				.begin_ns = one.begin_ns,
				.before = collections_more(all, &one)->before};
		timeline->collection_count += !last->count;
		cell = cell_of(timeline, one.begin_ns);
		add_one(last, all, &one);
	}
}

/* Of the processes whose threads are shown, whatever other filters there are: as in gcevents. */
static void find_collections(const struct tally *tally, const struct mpi_clocks *clocks,
			     struct timeline *timeline)
{
	const struct session *session = tally->session;
	size_t most = 0;

	for (size_t i = 0; i < session->scanned.count; i++) {
		size_t own = session->scanned.items[i].process->profile.collections.list.count;

		most += own < timeline->cell_count + 1 ? own : timeline->cell_count + 1;
	}
	timeline->has_collections = most > 0;
	timeline->collections = arena_array(&timeline->arena, struct timeline_collection, most + 1);
	for (size_t i = 0; i < session->scanned.count; i++)
		if (tally_looks_at(tally, &session->scanned.items[i]))
			add_collections(timeline, &session->scanned.items[i], &clocks->of[i].shift);
}

/* Of all events: where there is no index, and in tests. */
static void make_directly(struct making *making, struct timeline *timeline,
			  struct timeline_range range, size_t cells)
{
	if (timeline->is_of_cpus)
		lanes_find_cpus(&making->to.lanes, making->tally);
	else
		lanes_find(&making->to.lanes, making->tally, range.begin_ns);
	making->to.range = lanes_range(&making->to.lanes, range);
	set_cells(making, timeline, cells);
	walk_all(making);
	choose_functions(making);
}

static void make_by_index(struct making *making, struct timeline *timeline,
			  const struct timeline_index *index, struct timeline_range range,
			  size_t cells)
{
	struct session *session = making->tally->session;

	making->to.lanes.clocks = mpi_clocks_of(session);
	if (timeline->is_of_cpus)
		cells_lanes_of_cpus(&making->to, index);
	else
		cells_lanes(&making->to, index, session, range.begin_ns);
	making->to.range = lanes_range(&making->to.lanes, range);
	set_cells(making, timeline, cells);
	(timeline->is_of_cpus ? cells_fill_of_cpus : cells_fill)(&making->to, index, session);
}

/* Of threads or processors. */
enum way { BY_INDEX, DIRECTLY, CPUS_BY_INDEX, CPUS_DIRECTLY };

static const struct timeline_index *index_for(struct tally *tally, enum way way)
{
	return way == BY_INDEX	      ? timeline_index_of(tally)
	       : way == CPUS_BY_INDEX ? timeline_index_of_cpus(tally)
				      : NULL;
}

static void make(struct session *session, const struct query *query, enum way way,
		 struct timeline_range range, size_t cells, struct timeline *timeline)
{
	struct query together = *query;
	struct making making = {0};
	const struct timeline_index *index;

	together.compare = COMPARE_OFF;
	*timeline = (struct timeline){.is_of_cpus = way >= CPUS_BY_INDEX};
	making.tally = tally_of(session, &together);
	index = index_for(making.tally, way);
	if (index)
		make_by_index(&making, timeline, index, range, cells);
	else
		make_directly(&making, timeline, range, cells);
	take(&making, &together, timeline);
	find_collections(making.tally, making.to.lanes.clocks, timeline);
	timeline->hosts = lanes_hosts(&making.to.lanes, &timeline->arena);
	hash_map_fini(&making.known);
	vec_fini(&making.own);
	free(making.to.seen);
	lanes_fini(&making.to.lanes);
	tally_release(making.tally);
}

void view_timeline(struct session *session, const struct query *query, struct timeline_range range,
		   size_t cells, struct timeline *timeline)
{
	make(session, query, BY_INDEX, range, cells, timeline);
}

void view_timeline_directly(struct session *session, const struct query *query,
			    struct timeline_range range, size_t cells, struct timeline *timeline)
{
	make(session, query, DIRECTLY, range, cells, timeline);
}

void view_timeline_cpus(struct session *session, const struct query *query,
			struct timeline_range range, size_t cells, struct timeline *timeline)
{
	make(session, query, CPUS_BY_INDEX, range, cells, timeline);
}

void view_timeline_cpus_directly(struct session *session, const struct query *query,
				 struct timeline_range range, size_t cells,
				 struct timeline *timeline)
{
	make(session, query, CPUS_DIRECTLY, range, cells, timeline);
}

void timeline_fini(struct timeline *timeline)
{
	struct arena arena = timeline->arena;

	*timeline = (struct timeline){0};
	arena_fini(&arena);
}
