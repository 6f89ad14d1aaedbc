/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines of threads whose every event is known, and of random ones against sums made slowly. */
#include "analysis/session/functions.h"
#include "analysis/session/session.h"
#include "analysis/session/session_state.h"
#include "analysis/views/timeline_cells.h"
#include "analysis/views/view_functions.h"
#include "base/memory.h"
#include "experiment_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Functions of 256 bytes, see stub_object.c. */
#define MAPS                                                                                       \
	MAP_START "<event kind=\"map\" epoch=\"0\" vaddr=\"0x10000\" size=\"0x2000\" "             \
		  "bias=\"0x10000\" name=\"/lib/a.so\" buildid=\"01\"/>\n" MAP_END
#define PC(n)	       (0x10000 + (n)*256 + 7)
#define COUNTED(array) (array), sizeof(array) / sizeof(*(array))

enum { NODES = 5, MS = 1000 /* in us */ };
static const struct written_node nodes[NODES] = {
	{0, PC(0)}, {1, PC(1)}, {1, PC(2)}, {2, PC(3)}, {0, PC(4)}};

static struct session *open_events(const struct written_event *events, size_t count,
				   struct query *query)
{
	char *path = make_experiment("t.er");
	struct diag_list diags = {0};
	struct session *session;

	write_clock_experiment(path, MAPS, nodes, NODES, events, count);
	assert_int_equal(session_open(&path, 1, NULL, &session, &diags), STATUS_OK);
	remove_experiment(path);
	free(path);
	query_init(query, session);
	query->name_style = NAME_SHORT;
	diag_fini(&diags);
	return session;
}

/* ns of a moment after the threads' begin. */
static uint64_t at_ms(uint64_t ms)
{
	return 1000 + ms * 1000000;
}

/*
 * Thread 1: 100 ms of a_1, 250 ms of sleep in a_2, then 100 ms that end at once: 60 of waiting for
 * a processor in a_3 and 40 of a_1.  Thread 2: 500 ms at a lock in a_4.
 */
static const struct written_event known[] = {
	{1, 2, FORMAT_STATE_USER, 10 * MS, 9},
	{1, 3, FORMAT_STATE_SLEEP, 250 * MS, 0},
	{1, 4, FORMAT_STATE_WAIT_CPU, 60 * MS, 0},
	{1, 2, FORMAT_STATE_USER | AT_ONCE, 40 * MS, 0},
	{2, 5, FORMAT_STATE_USER_LOCK, 500 * MS, 0},
};

static void assert_cell(const struct timeline *timeline, size_t lane, size_t cell, unsigned state,
			uint64_t ms, uint32_t events, const char *function)
{
	const struct timeline_cell *at = &timeline->cells[lane * timeline->cell_count + cell];

	assert_int_equal(at->state_us[state], ms * MS);
	assert_int_equal(at->events[TIMELINE_CLOCK], events);
	if (!function)
		assert_int_equal(at->function, CODE_NONE);
	else
		assert_string_equal(timeline->functions[at->function].name, function);
}

static void test_cells_have_their_part(void **state)
{
	struct query query;
	struct session *session = open_events(COUNTED(known), &query);
	struct timeline timeline;

	(void)state;
	view_timeline(session, &query, (struct timeline_range){at_ms(0), at_ms(500)}, 10,
		      &timeline);
	assert_int_equal(timeline.cell_ns, 50000000);
	assert_int_equal(timeline.cell_count, 10);
	assert_int_equal(timeline.lane_count, 2);
	assert_string_equal(timeline.lanes[0].name, "Process 1, Thread 1 (tid 100)");
	assert_int_equal(timeline.lanes[1].thread, 2);
	assert_cell(&timeline, 0, 0, FORMAT_STATE_USER, 50, 4, "a.so_1");
	assert_cell(&timeline, 0, 1, FORMAT_STATE_USER, 50, 5, "a.so_1");
	assert_cell(&timeline, 0, 2, FORMAT_STATE_SLEEP, 50, 1, "a.so_2");
	for (size_t i = 3; i < 7; i++)
		assert_cell(&timeline, 0, i, FORMAT_STATE_SLEEP, 50, 0, "a.so_2");
	assert_cell(&timeline, 0, 7, FORMAT_STATE_WAIT_CPU, 50, 1, "a.so_3");
	assert_cell(&timeline, 0, 8, FORMAT_STATE_WAIT_CPU, 10, 1, "a.so_1");
	assert_cell(&timeline, 0, 8, FORMAT_STATE_USER, 40, 1, "a.so_1");
	assert_cell(&timeline, 0, 9, FORMAT_STATE_USER, 0, 1, NULL);
	for (size_t i = 0; i < 10; i++)
		assert_cell(&timeline, 1, i, FORMAT_STATE_USER_LOCK, 50, 0, "a.so_4");
	timeline_fini(&timeline);
	query_fini(&query);
	session_free(session);
}

/* No event ends there, and yet it is known what the threads did. */
static void test_between_two_events(void **state)
{
	struct query query;
	struct session *session = open_events(COUNTED(known), &query);
	struct timeline timeline;
	struct timeline_page page;
	const struct timeline_range range = {at_ms(120), at_ms(180)};

	(void)state;
	view_timeline(session, &query, range, 3, &timeline);
	assert_int_equal(timeline.lane_count, 2);
	for (size_t i = 0; i < 3; i++) {
		assert_cell(&timeline, 0, i, FORMAT_STATE_SLEEP, 20, 0, "a.so_2");
		assert_cell(&timeline, 1, i, FORMAT_STATE_USER_LOCK, 20, 0, "a.so_4");
	}
	timeline_fini(&timeline);
	view_timeline_events(session, &query, range, 0, 0, &page);
	assert_int_equal(page.total, 2);
	assert_int_equal(page.events[0].begin_ns, at_ms(100));
	assert_int_equal(page.events[0].end_ns, at_ms(350));
	assert_string_equal(page.events[0].type, "sleep");
	assert_string_equal(page.events[1].type, "lock");
	timeline_page_fini(&page);
	query_fini(&query);
	session_free(session);
}

static void test_events_are_told_one_by_one(void **state)
{
	struct query query;
	struct session *session = open_events(COUNTED(known), &query);
	struct diag_list diags = {0};
	struct timeline_page page;

	(void)state;
	assert_int_equal(
		metric_list_parse(session, NULL, "e.user:e.wait:name", &query.metrics, &diags),
		STATUS_OK);
	view_timeline_events(session, &query, (struct timeline_range){0}, 11, 2, &page);
	assert_int_equal(page.total, 14);
	assert_int_equal(page.first, 11);
	assert_int_equal(page.table.row_count, 2);
	assert_int_equal(page.events[0].begin_ns, at_ms(350));
	assert_int_equal(page.events[0].end_ns, at_ms(410));
	assert_int_equal(page.events[1].begin_ns, at_ms(410));
	assert_int_equal(page.events[1].end_ns, at_ms(450));
	assert_string_equal(page.events[0].type, "wait");
	assert_float_equal(page.table.values[0], 0, 1e-9);
	assert_float_equal(page.table.values[1], 0.060, 1e-9);
	assert_float_equal(page.table.values[page.table.column_count], 0.040, 1e-9);
	assert_string_equal(page.table.rows[0].name, "a.so_3");

	const struct listed_stack *stack = &page.frames.stacks[page.events[0].stack];

	assert_int_equal(stack->depth, 3);
	assert_string_equal(page.frames.frames[stack->frames[1]].name, "a.so_1");
	timeline_page_fini(&page);
	view_timeline_events(session, &query, (struct timeline_range){0}, 20, 5, &page);
	assert_int_equal(page.table.row_count, 0);
	timeline_page_fini(&page);
	query_fini(&query);
	session_free(session);
}

/* More than there was time for, as in a damaged file: it counts where it ends, once. */
static void test_what_does_not_fit_counts_where_it_ends(void **state)
{
	static const struct written_event events[] = {
		{1, 2, FORMAT_STATE_USER, 10 * MS, 0},
		{1, 3, FORMAT_STATE_SLEEP, 10 * MS, 0},
		{1, 4, FORMAT_STATE_SYSTEM | AT_ONCE | TIMELESS, 40 * MS, 0},
	};
	struct query query;
	struct session *session = open_events(COUNTED(events), &query);
	struct timeline timeline;
	struct timeline_page page;

	(void)state;
	view_timeline(session, &query, (struct timeline_range){at_ms(0), at_ms(21)}, 21, &timeline);
	assert_cell(&timeline, 0, 9, FORMAT_STATE_USER, 1, 0, "a.so_1");
	assert_cell(&timeline, 0, 10, FORMAT_STATE_SLEEP, 1, 1, "a.so_2");
	assert_cell(&timeline, 0, 20, FORMAT_STATE_SYSTEM, 40, 2, "a.so_3");
	timeline_fini(&timeline);
	view_timeline_events(session, &query, (struct timeline_range){0}, 0, 0, &page);
	assert_int_equal(page.events[1].begin_ns, at_ms(10));
	assert_int_equal(page.events[2].begin_ns, at_ms(20));
	assert_int_equal(page.events[2].end_ns, at_ms(20));
	timeline_page_fini(&page);
	query_fini(&query);
	session_free(session);
}

static void test_any_number_may_end_at_once(void **state)
{
	static const struct written_event events[] = {
		{1, 2, FORMAT_STATE_USER, 10 * MS, 0},
		{1, 3, FORMAT_STATE_SYSTEM | AT_ONCE | TIMELESS, 3, 9999},
	};
	struct query query;
	struct session *session = open_events(COUNTED(events), &query);
	struct timeline timeline;

	(void)state;
	view_timeline(session, &query, (struct timeline_range){0}, 1, &timeline);
	assert_int_equal(timeline.lanes[0].events[TIMELINE_CLOCK], 10001);
	assert_int_equal(timeline.cells[0].state_us[FORMAT_STATE_USER], 10 * MS);
	assert_int_equal(timeline.cells[0].state_us[FORMAT_STATE_SYSTEM], 30 * MS);
	timeline_fini(&timeline);
	query_fini(&query);
	session_free(session);
}

static void test_a_range_may_be_any(void **state)
{
	static const struct timeline_range ranges[] = {
		{0, UINT64_MAX}, {UINT64_MAX - 1, UINT64_MAX}, {UINT64_MAX, 0},
		{500001000, 0},	 {500001000, 500001001},
	};
	struct query query;
	struct session *session = open_events(COUNTED(known), &query);

	(void)state;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		struct timeline timeline;
		struct timeline_page page;

		view_timeline(session, &query, ranges[i], 0, &timeline);
		assert_true(timeline.cell_count > 0);
		timeline_fini(&timeline);
		view_timeline_events(session, &query, ranges[i], 0, 3, &page);
		assert_int_equal(page.table.row_count, i ? i > 2 : 3);
		timeline_page_fini(&page);
	}
	query_fini(&query);
	session_free(session);
}

/* ---- random threads ---- */

enum { THREADS = 3, EVENTS = 300, CELLS = 64 };

static uint64_t random_state;

static unsigned random_below(unsigned limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % limit;
}

static size_t make_events(struct written_event *events)
{
	size_t count = 0;

	for (unsigned thread = 1; thread <= THREADS; thread++)
		for (unsigned i = random_below(EVENTS); i--;) {
			unsigned group = 1 + random_below(4);

			for (unsigned k = 0; k < group; k++)
				events[count++] = (struct written_event){
					.thread = thread,
					.stack = 1 + random_below(NODES),
					.state = random_below(10) | (k ? AT_ONCE : 0),
					.us = random_below(10) ? random_below(9000)
							       : random_below(400000)};
		}
	return count;
}

/* What metrics say of the chosen events, us by state. */
static void totals_of(struct session *session, const struct query *query, uint64_t *us)
{
	for (size_t i = 0; i < FORMAT_STATE_COUNT; i++) {
		const struct metric *metric = NULL;
		double exclusive, inclusive, total;

		for (size_t k = 0; (metric = metric_catalogue(session, k)); k++)
			if (metric->states == 1u << i)
				break;
		assert_non_null(metric);
		view_function_values(session, query, FUNCTION_TOTAL, metric, &exclusive, &inclusive,
				     &total);
		us[i] = (uint64_t)(total * 1e6 + 0.5);
	}
}

static void assert_sums(const struct timeline *timeline, const uint64_t *us)
{
	uint64_t sums[FORMAT_STATE_COUNT] = {0};

	for (size_t i = 0; i < timeline->lane_count * timeline->cell_count; i++)
		for (size_t k = 0; k < FORMAT_STATE_COUNT; k++)
			sums[k] += timeline->cells[i].state_us[k];
	for (size_t k = 0; k < FORMAT_STATE_COUNT; k++)
		assert_int_equal(sums[k], us[k]);
}

static uint64_t lane_us(const struct timeline *timeline, size_t lane)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < timeline->cell_count; i++)
		for (size_t k = 0; k < PROFILE_STATES; k++)
			sum += timeline->cells[lane * timeline->cell_count + i].state_us[k];
	return sum;
}

/* Lane by lane what the list of threads says. */
static void assert_threads(struct session *session, const struct query *query,
			   const struct timeline *timeline)
{
	struct metric_choice total = {metric_find(session, "total"), FLAVOR_EXCLUSIVE,
				      VISIBLE_TIME};
	struct query of = query_of_choices(query, &total, 1, 0);
	struct table table;

	view_threads(session, &of, &table);
	for (size_t lane = 0; lane < timeline->lane_count; lane++) {
		uint64_t us = 0;

		for (size_t row = 1; row < table.row_count; row++)
			if (!strcmp(table.rows[row].name, timeline->lanes[lane].name))
				us = (uint64_t)(table.values[row * table.column_count] * 1e6 + 0.5);
		assert_int_equal(lane_us(timeline, lane), us);
	}
	table_fini(&table);
}

/* Of twice as many cells two have what one of these has. */
static void assert_finer(const struct timeline *coarse, const struct timeline *fine)
{
	assert_int_equal(fine->cell_ns * 2, coarse->cell_ns);
	assert_int_equal(fine->lane_count, coarse->lane_count);
	for (size_t lane = 0; lane < coarse->lane_count; lane++)
		for (size_t i = 0; i < coarse->cell_count; i++) {
			const struct timeline_cell *one =
				&coarse->cells[lane * coarse->cell_count + i];
			const struct timeline_cell *two =
				&fine->cells[lane * fine->cell_count + 2 * i];

			for (size_t k = 0; k < PROFILE_STATES; k++)
				assert_int_equal(one->state_us[k],
						 two[0].state_us[k] + two[1].state_us[k]);
			assert_int_equal(one->events[TIMELINE_CLOCK],
					 two[0].events[TIMELINE_CLOCK] +
						 two[1].events[TIMELINE_CLOCK]);
		}
}

/* Every us of every event by itself: the state in a cell, and the function with the most. */
static void assert_slowly(const struct timeline *timeline, const struct timeline_page *page)
{
	const struct timeline_cell *cells = timeline->cells;
	uint64_t *own = xcalloc(timeline->cell_count * 16, sizeof(*own));

	for (uint32_t lane = 0; lane < timeline->lane_count; lane++) {
		memset(own, 0, timeline->cell_count * 16 * sizeof(*own));
		for (size_t i = 0; i < page->table.row_count; i++) {
			const struct timeline_event *event = &page->events[i];
			unsigned function = 0;

			sscanf(page->table.rows[i].name, "a.so_%u", &function);
			for (uint64_t ns = event->begin_ns;
			     event->lane == lane && ns < event->end_ns; ns += 1000)
				own[(ns - timeline->range.begin_ns) / timeline->cell_ns * 16 +
				    function]++;
		}
		for (size_t i = 0; i < timeline->cell_count; i++) {
			const struct timeline_cell *cell = &cells[lane * timeline->cell_count + i];
			uint64_t most = 0, chosen = 0;

			for (unsigned k = 0; k < 16; k++) {
				char name[32];

				snprintf(name, sizeof(name), "a.so_%u", k);
				most = own[i * 16 + k] > most ? own[i * 16 + k] : most;
				if (cell->function != CODE_NONE &&
				    !strcmp(timeline->functions[cell->function].name, name))
					chosen = own[i * 16 + k];
			}
			assert_int_equal(chosen, most);
		}
	}
	free(own);
}

static void assert_pages(struct session *session, const struct query *query,
			 const struct timeline_page *whole)
{
	size_t seen = 0;

	while (seen < whole->total) {
		struct timeline_page page;

		view_timeline_events(session, query, whole->range, seen, 37, &page);
		assert_int_equal(page.total, whole->total);
		for (size_t i = 0; i < page.table.row_count; i++, seen++) {
			const struct timeline_event *event = &page.events[i];
			const struct timeline_event *same = &whole->events[seen];

			assert_int_equal(event->lane, same->lane);
			assert_int_equal(event->begin_ns, same->begin_ns);
			assert_int_equal(event->end_ns, same->end_ns);
			assert_string_equal(event->type, same->type);
			assert_string_equal(page.table.rows[i].name, whole->table.rows[seen].name);
			if (seen && same[-1].lane == same->lane)
				assert_true(same[-1].end_ns <= same->begin_ns);
		}
		assert_true(page.table.row_count > 0);
		timeline_page_fini(&page);
	}
}

static void check_filter(struct session *session, struct query *query)
{
	struct diag_list diags = {0};
	struct timeline timeline;
	uint64_t us[FORMAT_STATE_COUNT];
	char text[96];

	snprintf(text, sizeof(text), "TSTAMP >= %u000000 && TSTAMP < %u000000", random_below(200),
		 200 + random_below(900));
	assert_int_equal(query_filter(query, session, text, &diags), STATUS_OK);
	view_timeline(session, query, (struct timeline_range){0}, CELLS, &timeline);
	totals_of(session, query, us);
	assert_sums(&timeline, us);
	assert_threads(session, query, &timeline);
	timeline_fini(&timeline);
}

static void check_seed(uint64_t seed)
{
	static struct written_event events[THREADS * EVENTS * 4];
	const struct timeline_range range = {1000, 0};
	struct timeline coarse, fine;
	struct timeline_page page;
	struct session *session;
	struct query query;
	uint64_t us[FORMAT_STATE_COUNT], counted = 0;

	random_state = seed;
	events[0] = (struct written_event){1, 1, FORMAT_STATE_USER, 64, 0};
	session = open_events(events, 1 + make_events(events + 1), &query);
	view_timeline(session, &query, range, CELLS / 2, &coarse);
	/* cells of whole us, of which two are one of these */
	struct timeline_range same = {1000, 1000 + (coarse.cell_ns / 2000 + 1) * 2000 *
							    coarse.cell_count};

	timeline_fini(&coarse);
	view_timeline(session, &query, same, CELLS / 2, &coarse);
	view_timeline(session, &query, same, CELLS, &fine);
	totals_of(session, &query, us);
	assert_sums(&coarse, us);
	assert_sums(&fine, us);
	assert_threads(session, &query, &coarse);
	assert_finer(&coarse, &fine);
	view_timeline_events(session, &query, same, 0, 0, &page);
	for (size_t i = 0; i < fine.lane_count; i++)
		counted += fine.lanes[i].events[TIMELINE_CLOCK];
	assert_int_equal(page.total, counted);
	assert_int_equal(page.table.row_count, counted);
	assert_slowly(&fine, &page);
	assert_pages(session, &query, &page);
	timeline_page_fini(&page);
	timeline_fini(&coarse);
	timeline_fini(&fine);
	check_filter(session, &query);
	query_fini(&query);
	session_free(session);
}

static void test_sums_are_those_of_metrics(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		check_seed(seed);
}

/* ---- so many events that they are summed in blocks ---- */

enum { MANY = 18000, RANGES = 30 };

/* Groups of any size, also of more than are waited for, and what was before the experiment. */
static size_t make_many(struct written_event *events, unsigned threads, bool timeless)
{
	size_t count = 0;

	for (unsigned thread = 1; thread <= threads; thread++) {
		events[count++] = (struct written_event){thread, 1, FORMAT_STATE_USER, 64, 0};
		for (unsigned i = 0; i < MANY; i++)
			events[count++] = (struct written_event){
				.thread = thread,
				.stack = 1 + random_below(NODES),
				.state = random_below(10) | (random_below(3) ? 0 : AT_ONCE) |
					 (timeless && !random_below(9) ? TIMELESS : 0) |
					 (random_below(200) ? 0 : ON_CPU * (1 + random_below(3))),
				.us = random_below(100) ? random_below(900) : random_below(400000)};
		if (timeless)
			events[count++] = (struct written_event){
				thread, 2, FORMAT_STATE_SYSTEM | AT_ONCE | TIMELESS, 3, 9999};
	}
	return count;
}

static uint64_t random_wide(uint64_t limit)
{
	return ((uint64_t)random_below(1 << 30) << 20 | random_below(1 << 20)) % limit;
}

/* Where blocks begin and end, for ranges that do too. */
struct borders {
	VEC(uint64_t) at;
};

static void find_borders(struct session *session, const struct query *query,
			 struct borders *borders)
{
	struct tally *tally = tally_of(session, query);
	const struct timeline_index *index = timeline_index_of(tally);

	assert_non_null(index);
	for (size_t lane = 0; lane < index->lane_count; lane++) {
		const struct timed_level *level = index->lanes[lane].levels.items;

		assert_true(index->lanes[lane].levels.count > 1);
		for (size_t i = 0; i < level->blocks.count; i++) {
			*vec_push(&borders->at) = level->blocks.items[i].begin_ns;
			*vec_push(&borders->at) = level->blocks.items[i].end_ns;
		}
	}
	tally_release(tally);
}

static uint64_t random_moment(const struct borders *borders, uint64_t end_ns)
{
	uint64_t at = random_wide(end_ns);

	if (random_below(2))
		return at;
	at = borders->at.items[random_below((unsigned)borders->at.count)];
	return at < end_ns ? at + random_below(2) : end_ns;
}

static struct timeline_range random_range(const struct borders *borders, uint64_t end_ns)
{
	uint64_t a = random_moment(borders, end_ns), b = random_moment(borders, end_ns);
	struct timeline_range range = {a < b ? a : b, a < b ? b : a};

	if (!random_below(4))
		range = (struct timeline_range){range.begin_ns,
						range.begin_ns + random_wide(50000000)};
	return range;
}

static void assert_same(const struct timeline *a, const struct timeline *b)
{
	assert_int_equal(a->range.begin_ns, b->range.begin_ns);
	assert_int_equal(a->range.end_ns, b->range.end_ns);
	assert_int_equal(a->cell_ns, b->cell_ns);
	assert_int_equal(a->cell_count, b->cell_count);
	assert_int_equal(a->lane_count, b->lane_count);
	assert_int_equal(a->function_count, b->function_count);
	for (size_t i = 0; i < a->lane_count; i++) {
		assert_string_equal(a->lanes[i].name, b->lanes[i].name);
		assert_memory_equal(a->lanes[i].events, b->lanes[i].events,
				    sizeof(a->lanes[i].events));
	}
	for (size_t i = 0; i < a->function_count; i++)
		assert_string_equal(a->functions[i].name, b->functions[i].name);
	for (size_t i = 0; i < a->lane_count * a->cell_count; i++) {
		assert_memory_equal(a->cells[i].state_us, b->cells[i].state_us,
				    sizeof(a->cells[i].state_us));
		assert_memory_equal(a->cells[i].events, b->cells[i].events,
				    sizeof(a->cells[i].events));
		assert_int_equal(a->cells[i].function, b->cells[i].function);
	}
}

/* An index of processors, and some of its lists. */
static void assert_has_cpus(struct session *session, const struct query *query)
{
	struct tally *tally = tally_of(session, query);
	const struct timeline_index *index = timeline_index_of_cpus(tally);

	assert_non_null(index);
	assert_in_range(index->cpus.count, 3, 4);
	assert_true(index->lanes[0].own.count > 0);
	tally_release(tally);
}

static void check_ranges(struct session *session, const struct query *query, unsigned ranges)
{
	struct timeline whole, fast, slow;
	struct borders borders = {0};

	find_borders(session, query, &borders);
	assert_has_cpus(session, query);
	view_timeline(session, query, (struct timeline_range){0}, 1, &whole);
	for (unsigned i = 0; i < ranges; i++) {
		struct timeline_range range =
			i ? random_range(&borders, whole.range.end_ns) : (struct timeline_range){0};
		size_t cells = 1 + random_below(random_below(2) ? 20 : 3000);

		view_timeline(session, query, range, cells, &fast);
		view_timeline_directly(session, query, range, cells, &slow);
		assert_same(&fast, &slow);
		timeline_fini(&fast);
		timeline_fini(&slow);
		view_timeline_cpus(session, query, range, cells, &fast);
		view_timeline_cpus_directly(session, query, range, cells, &slow);
		assert_same(&fast, &slow);
		timeline_fini(&fast);
		timeline_fini(&slow);
	}
	timeline_fini(&whole);
	vec_fini(&borders.at);
}

static void test_blocks_are_what_events_are(void **state)
{
	static struct written_event events[2 * (MANY + 2)];

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct diag_list diags = {0};
		struct session *session;
		struct query query;
		const char *threads = seed % 2 ? NULL : "2";

		if (threads)
			setenv("HELIO_THREADS", threads, 1);
		random_state = seed;
		session = open_events(events, make_many(events, 2, seed < 3), &query);
		check_ranges(session, &query, RANGES);
		assert_int_equal(
			query_filter(&query, session, "THRID == 1 || TSTAMP > 3000000000", &diags),
			STATUS_OK);
		check_ranges(session, &query, RANGES / 4);
		assert_int_equal(
			query_filter(&query, session, "FNAME(\"a.so_2\") SOME IN STACK", &diags),
			STATUS_OK);
		check_ranges(session, &query, RANGES / 4);
		query_fini(&query);
		session_free(session);
		unsetenv("HELIO_THREADS");
	}
}

/* What of an event lies in each cell, by the events' list. */
static void assert_by_list(const struct timeline *timeline, const struct timeline_page *page)
{
	const struct timeline_range *range = &timeline->range;
	uint64_t(*us)[PROFILE_STATES] =
		xcalloc(timeline->lane_count * timeline->cell_count, sizeof(*us));
	uint64_t(*own)[16] = xcalloc(timeline->lane_count * timeline->cell_count, sizeof(*own));

	for (size_t i = 0; i < page->table.row_count; i++) {
		const struct timeline_event *event = &page->events[i];
		unsigned function = 0, type = 0;

		sscanf(page->table.rows[i].name, "a.so_%u", &function);
		while (strcmp(timeline_states[type], event->type) != 0)
			type++;
		for (size_t cell = 0; cell < timeline->cell_count; cell++) {
			uint64_t first = range->begin_ns + cell * timeline->cell_ns;
			uint64_t end = first + timeline->cell_ns;
			size_t at = event->lane * timeline->cell_count + cell;

			end = end < range->end_ns ? end : range->end_ns;
			end = end < event->end_ns ? end : event->end_ns;
			first = first > event->begin_ns ? first : event->begin_ns;
			if (first >= end)
				continue;
			us[at][type] +=
				(end - event->begin_ns) / 1000 - (first - event->begin_ns) / 1000;
			own[at][function] +=
				(end - event->begin_ns) / 1000 - (first - event->begin_ns) / 1000;
		}
	}
	for (size_t i = 0; i < timeline->lane_count * timeline->cell_count; i++) {
		const struct timeline_cell *cell = &timeline->cells[i];
		unsigned function = 0;

		assert_memory_equal(cell->state_us, us[i], sizeof(us[i]));
		if (cell->function != CODE_NONE)
			sscanf(timeline->functions[cell->function].name, "a.so_%u", &function);
		for (unsigned k = 0; k < 16; k++)
			assert_true(own[i][k] <= own[i][function]);
	}
	free(us);
	free(own);
}

static void test_blocks_are_what_the_list_says(void **state)
{
	static struct written_event events[2 * (MANY + 2)];
	struct timeline_page page;
	struct timeline timeline;
	struct session *session;
	struct query query;

	(void)state;
	random_state = 7;
	session = open_events(events, make_many(events, 2, false), &query);
	view_timeline(session, &query, (struct timeline_range){0}, 1, &timeline);
	uint64_t end_ns = timeline.range.end_ns;
	struct borders borders = {0};

	find_borders(session, &query, &borders);
	timeline_fini(&timeline);
	for (unsigned i = 0; i < 8; i++) {
		struct timeline_range range =
			i ? random_range(&borders, end_ns) : (struct timeline_range){0};

		view_timeline(session, &query, range, 1 + random_below(60), &timeline);
		view_timeline_events(session, &query, timeline.range, 0, 0, &page);
		assert_int_equal(page.total, page.table.row_count);
		assert_by_list(&timeline, &page);
		timeline_page_fini(&page);
		timeline_fini(&timeline);
	}
	vec_fini(&borders.at);
	query_fini(&query);
	session_free(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells_have_their_part),
		cmocka_unit_test(test_between_two_events),
		cmocka_unit_test(test_events_are_told_one_by_one),
		cmocka_unit_test(test_what_does_not_fit_counts_where_it_ends),
		cmocka_unit_test(test_any_number_may_end_at_once),
		cmocka_unit_test(test_a_range_may_be_any),
		cmocka_unit_test(test_sums_are_those_of_metrics),
		cmocka_unit_test(test_blocks_are_what_events_are),
		cmocka_unit_test(test_blocks_are_what_the_list_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
