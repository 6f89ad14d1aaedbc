/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events themselves, a page at a time.  They are walked over twice: first to know how many each
 * thread has of each kind, then to take those whose numbers are on the page.  So a page needs no
 * more memory than its own events, and each event has one number whatever the page is.
 */
#include "analysis/metric/metric_values.h"
#include "analysis/session/symbols.h"
#include "analysis/tree/stack_paths.h"
#include "analysis/views/table_rows.h"
#include "analysis/views/timeline_walk.h"

#include <stdlib.h>

enum { EVENTS_MOST = 1 << 16 };

/* An event of the page, as far as it is found by the walk. */
struct found_event {
	struct timed_event event;
	size_t process; /* of session->scanned */
	uint32_t lane;
};

struct making {
	struct tally *tally;
	const struct query *query;
	struct lanes lanes;
	struct timeline_range range;
	uint64_t (*next)[TIMELINE_KINDS]; /* by lane: the number of its next event of each kind */
	uint64_t total, first;
	struct found_event *found; /* by number less the first; NULL: they are only counted */
	size_t count;
	size_t process;
};

/* ---- which there are ---- */

static bool is_in(const struct timeline_range *range, const struct timed_event *event)
{
	if (event->end_ns >= range->begin_ns && event->end_ns < range->end_ns)
		return true;
	return event->begin_ns < range->end_ns && event->end_ns > range->begin_ns;
}

static void visit(const struct timed_event *event, void *arg)
{
	struct making *making = arg;
	const struct session_process *process =
		&making->tally->session->scanned.items[making->process];
	uint32_t lane = lanes_at(&making->lanes, process, event->thread);
	uint64_t number;

	if (lane == HASH_NONE || !is_in(&making->range, event))
		return;
	if (!making->found) {
		making->lanes.lanes.items[lane].events[event->kind]++;
		return;
	}
	number = making->next[lane][event->kind]++;
	if (number >= making->first && number - making->first < making->count)
		making->found[number - making->first] =
			(struct found_event){*event, making->process, lane};
}

static void walk_all(struct making *making)
{
	const struct session *session = making->tally->session;

	for (making->process = 0; making->process < session->scanned.count; making->process++)
		timeline_walk(making->tally, &session->scanned.items[making->process], visit,
			      making);
}

static void number_events(struct making *making)
{
	size_t lanes = making->lanes.lanes.count;

	making->next = xcalloc(lanes + 1, sizeof(*making->next));
	for (size_t lane = 0; lane < lanes; lane++)
		for (int kind = 0; kind < TIMELINE_KINDS; kind++) {
			making->next[lane][kind] = making->total;
			making->total += making->lanes.lanes.items[lane].events[kind];
		}
}

/* Work that was cancelled in between may have found less than was counted. */
static void find_page(struct making *making, uint64_t first, size_t most)
{
	uint64_t left;

	walk_all(making);
	number_events(making);
	making->first = first < making->total ? first : making->total;
	left = making->total - making->first;
	most = most && most < EVENTS_MOST ? most : EVENTS_MOST;
	making->count = left < most ? (size_t)left : most;
	making->found = xcalloc(making->count + 1, sizeof(*making->found));
	if (making->count)
		walk_all(making);
	for (size_t i = 0; i < making->count; i++)
		if (!making->found[i].event.rows)
			making->count = i;
}

/* ---- what they are ---- */

static const char *type_name(const struct timed_event *event)
{
	const struct format_kind *kind;

	if (event->kind == EVENTS_CLOCK)
		return event->type < PROFILE_STATES ? timeline_states[event->type] : "";
	kind = &format_kinds[event->kind - EVENTS_TRACE];
	return event->type < kind->named_types ? kind->type_names[event->type] : "";
}

/* What each event counts for, by measure. */
static void measure(const struct making *making, struct measure_sums *sums)
{
	const struct session *session = making->tally->session;
	struct event_columns *columns = xmalloc(sizeof(*columns));

	sums->nodes = making->count + 1;
	for (uint32_t i = 0; i < making->count; i++) {
		const struct found_event *found = &making->found[i];
		const struct session_process *process = &session->scanned.items[found->process];
		struct event_run run = {.process = process->process,
					.kind = found->event.kind,
					.thread = found->event.thread,
					.rows = found->event.rows,
					.first = found->event.row,
					.count = 1};
		const struct measuring measuring = {
			.sums = sums,
			.places = &i,
			.first_thread = run.thread == process->first_thread,
			.counter = process->counters,
			.fate = process->process->heap.fate,
		};

		run = event_run_piece(&run, 0, columns);
		measure_run(&run, &measuring);
	}
	free(columns);
}

static void fill_values(const struct making *making, struct timeline_page *page)
{
	struct table *table = &page->table;
	struct measure_sums sums = {0};

	measure(making, &sums);
	table_init(table, making->query, COLUMNS_EXCLUSIVE);
	table->title = "Events";
	table_set_rows(table, making->count);
	for (size_t column = 0; column < table->column_count; column++) {
		const struct metric *metric = table->columns[column].choice.metric;

		for (size_t i = 0; !metric->is_static && i < making->count; i++)
			table->values[i * table->column_count + column] =
				values_convert(metric, values_at(&sums, i, metric));
	}
	measure_fini(&sums);
}

static void fill_stacks(struct making *making, struct timeline_page *page)
{
	uint32_t *stacks = xcalloc(making->count + 1, sizeof(*stacks));
	struct hash_map known = {0};
	struct stack_paths paths;
	size_t count = 0;

	stack_paths_init(&paths, making->tally, making->query);
	for (size_t i = 0; i < making->count; i++) {
		const struct found_event *found = &making->found[i];
		const struct session_process *process =
			&making->tally->session->scanned.items[found->process];
		uint32_t node = session_shown(process, making->tally->shape->whole->mode,
					      found->event.node);
		uint32_t stack = stack_paths_find(&paths, found->process, node);
		uint32_t number = hash_map_put(&known, stack, (uint32_t)count);

		if (number == count)
			stacks[count++] = stack;
		page->events[i].stack = number;
		page->table.rows[i].name =
			symbols_name(making->tally->session, stack_paths_leaf(&paths, stack),
				     making->query->name_style);
	}
	stack_paths_list(&paths, stacks, count, &page->frames);
	stack_paths_fini(&paths);
	hash_map_fini(&known);
	free(stacks);
}

static void fill_page(struct making *making, struct timeline_page *page)
{
	const struct lanes *lanes = &making->lanes;
	uint32_t *moved = xcalloc(lanes->lanes.count + 1, sizeof(*moved));

	fill_values(making, page);
	page->range = making->range;
	page->hosts = lanes_hosts(lanes, &page->table.arena);
	page->total = making->total;
	page->first = making->first;
	page->lanes = lanes_kept(lanes, making->tally->session, &page->table.arena, NULL, moved,
				 &page->lane_count);
	page->events = arena_array(&page->table.arena, struct timeline_event, making->count + 1);
	for (size_t i = 0; i < making->count; i++) {
		const struct found_event *found = &making->found[i];

		page->events[i] = (struct timeline_event){.lane = moved[found->lane],
							  .kind = found->event.kind,
							  .type = type_name(&found->event),
							  .begin_ns = found->event.begin_ns,
							  .end_ns = found->event.end_ns};
	}
	fill_stacks(making, page);
	free(moved);
}

void view_timeline_events(struct session *session, const struct query *query,
			  struct timeline_range range, uint64_t first, size_t most,
			  struct timeline_page *page)
{
	struct query together = *query;
	struct making making = {.query = &together};

	together.compare = COMPARE_OFF;
	*page = (struct timeline_page){0};
	making.tally = tally_of(session, &together);
	lanes_find(&making.lanes, making.tally, range.begin_ns);
	making.range = lanes_range(&making.lanes, range);
	find_page(&making, first, most);
	fill_page(&making, page);
	free(making.found);
	free(making.next);
	lanes_fini(&making.lanes);
	tally_release(making.tally);
}

void timeline_page_fini(struct timeline_page *page)
{
	table_fini(&page->table);
	frame_list_fini(&page->frames);
	*page = (struct timeline_page){0};
}
