/* SPDX-License-Identifier: Apache-2.0 */
#include "present/timeline.h"

#include "analysis/session/functions.h"
#include "base/terminal.h"
#include "present/json_value.h"
#include "present/number.h"
#include "present/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* ---- text ---- */

enum { NO_STATE = PROFILE_STATES };

/* By state; then: no time is known. */
static const char letters[PROFILE_STATES + 1] = {
	[FORMAT_STATE_USER] = 'U',
	[FORMAT_STATE_SYSTEM] = 'S',
	[FORMAT_STATE_TRAP] = 't',
	[FORMAT_STATE_TEXT_FAULT] = 'x',
	[FORMAT_STATE_DATA_FAULT] = 'F',
	[FORMAT_STATE_KERNEL_FAULT] = 'K',
	[FORMAT_STATE_USER_LOCK] = 'L',
	[FORMAT_STATE_SLEEP] = '.',
	[FORMAT_STATE_WAIT_CPU] = 'w',
	[FORMAT_STATE_STOPPED] = 'Z',
	[NO_STATE] = 'C',
};

static int main_state(const struct timeline_cell *cell)
{
	int most = NO_STATE;

	for (int i = 0; i < PROFILE_STATES; i++)
		if (cell->state_us[i] &&
		    (most == NO_STATE || cell->state_us[i] > cell->state_us[most]))
			most = i;
	return most;
}

static bool has_events(const struct timeline_cell *cell)
{
	for (int i = 0; i < TIMELINE_KINDS; i++)
		if (cell->events[i])
			return true;
	return false;
}

static void put_lane(FILE *file, const struct timeline *timeline, size_t lane)
{
	const struct timeline_cell *cells = &timeline->cells[lane * timeline->cell_count];

	terminal_printf(file, "%s:", timeline->lanes[lane].name);
	for (int i = 0; i < TIMELINE_KINDS; i++)
		if (timeline->lanes[lane].events[i])
			terminal_printf(file, " %s %" PRIu32, timeline_kinds[i],
					timeline->lanes[lane].events[i]);
	fputs("\n  |", file);
	for (size_t i = 0; i < timeline->cell_count; i++) {
		int state = main_state(&cells[i]);

		fputc(state != NO_STATE ? letters[state] : has_events(&cells[i]) ? '+' : ' ', file);
	}
	fputs("|\n", file);
}

static void put_legend(FILE *file, const struct timeline *timeline)
{
	bool shown[PROFILE_STATES + 1] = {false}, any = false;

	for (size_t i = 0; i < timeline->lane_count * timeline->cell_count; i++)
		shown[main_state(&timeline->cells[i])] = true;
	for (int i = 0; i < PROFILE_STATES; i++) {
		if (!shown[i])
			continue;
		terminal_printf(file, "%s%c %s", any ? ", " : "", letters[i], timeline_states[i]);
		any = true;
	}
	fputs(any ? "\n\n" : "\n", file);
}

/* Those of a process, from `first` on; returns where the next process's are. */
static size_t put_collections(FILE *file, const struct timeline *timeline, size_t first)
{
	const struct timeline_range *range = &timeline->range;
	uint32_t process = timeline->collections[first].process;
	char *line = xmalloc(timeline->cell_count + 1);
	uint64_t took_ns = 0;
	size_t count = 0, at = first;

	memset(line, ' ', timeline->cell_count);
	line[timeline->cell_count] = 0;
	for (; at < timeline->collection_count && timeline->collections[at].process == process;
	     at++) {
		const struct timeline_collection *one = &timeline->collections[at];
		uint64_t from = one->begin_ns > range->begin_ns ? one->begin_ns : range->begin_ns;
		uint64_t to = one->end_ns < range->end_ns ? one->end_ns : range->end_ns - 1;

		count += one->count;
		took_ns += one->took_ns;
		for (size_t cell = (from - range->begin_ns) / timeline->cell_ns;
		     cell <= (to - range->begin_ns) / timeline->cell_ns; cell++)
			line[cell] = 'G';
	}
	terminal_printf(file,
			"Process %" PRIu32 ": garbage collections %zu, %.6f seconds\n  |%s|\n",
			process, count, seconds(took_ns), line);
	free(line);
	return at;
}

/* Which clocks are put on one line, and how far each may be off the first one's. */
static void put_hosts(FILE *file, const struct timeline_hosts *hosts)
{
	for (size_t i = 0; i < hosts->count; i++) {
		const struct mpi_clock_info *clock = &hosts->items[i];

		terminal_printf(file, "%s%s",
				i ? "; " : "Clocks on one line: ", clock->host ? clock->host : "?");
		if (!clock->is_known)
			terminal_printf(file, ", by its wall clock");
		else if (clock->error_s > 0)
			terminal_printf(file, ", error %.9f seconds", clock->error_s);
	}
	fputs(hosts->count ? "\n" : "", file);
}

void timeline_text(const struct output *output, const struct timeline *timeline)
{
	FILE *file = output->file;

	terminal_printf(file, "From %.6f to %.6f seconds, each character %.6f\n",
			seconds(timeline->range.begin_ns), seconds(timeline->range.end_ns),
			seconds(timeline->cell_ns));
	put_hosts(file, &timeline->hosts);
	fputc('\n', file);
	for (size_t i = 0; i < timeline->lane_count; i++)
		put_lane(file, timeline, i);
	for (size_t i = 0; i < timeline->collection_count;)
		i = put_collections(file, timeline, i);
	put_legend(file, timeline);
}

void events_text(const struct output *output, const struct timeline_page *page)
{
	FILE *file = output->file;
	uint32_t lane = UINT32_MAX;

	terminal_printf(file, "Events %" PRIu64 " to %" PRIu64 " of %" PRIu64 "\n",
			page->first + (page->table.row_count > 0),
			page->first + page->table.row_count, page->total);
	put_hosts(file, &page->hosts);
	for (size_t i = 0; i < page->table.row_count; i++) {
		const struct timeline_event *event = &page->events[i];

		if (event->lane != lane)
			terminal_printf(file, "\n%s\n%14s %14s  %-7s %-12s %s\n",
					page->lanes[event->lane].name, "Begin", "Duration", "Kind",
					"Type", "Function");
		lane = event->lane;
		terminal_printf(file, "%14.6f %14.6f  %-7s %-12s %s\n", seconds(event->begin_ns),
				seconds(event->end_ns - event->begin_ns),
				timeline_kinds[event->kind], event->type, page->table.rows[i].name);
	}
	fputc('\n', file);
}

/* ---- JSON ---- */

static void add_range(json_t *object, struct timeline_range range)
{
	json_object_set_new(object, "begin_s", json_real(seconds(range.begin_ns)));
	json_object_set_new(object, "end_s", json_real(seconds(range.end_ns)));
}

/* Left out where there are not several. */
static void add_hosts(json_t *object, const struct timeline_hosts *hosts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < hosts->count; i++) {
		const struct mpi_clock_info *clock = &hosts->items[i];
		json_t *host = json_object();

		json_object_set_new(host, "host", json_text(clock->host));
		json_object_set_new(host, "ahead_s", json_real(clock->ahead_s));
		json_object_set_new(host, "drift_ppm", json_real(clock->drift_ppm));
		if (clock->is_known)
			json_object_set_new(host, "error_s", json_real(clock->error_s));
		json_array_append_new(list, host);
	}
	if (hosts->count)
		json_object_set_new(object, "hosts", list);
	else
		json_decref(list);
}

static json_t *lanes_json(const struct timeline_lane *lanes, size_t count, bool is_of_cpus)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *lane = json_object(), *events = json_object();

		for (int k = 0; k < TIMELINE_KINDS; k++)
			if (lanes[i].events[k])
				json_object_set_new(events, timeline_kinds[k],
						    json_u64(lanes[i].events[k]));
		json_object_set_new(lane, "name", json_text(lanes[i].name));
		if (!is_of_cpus) {
			json_object_set_new(lane, "experiment", json_integer(lanes[i].process));
			json_object_set_new(lane, "thread", json_u64(lanes[i].thread));
		} else if (lanes[i].thread != PROFILE_NO_CPU) {
			json_object_set_new(lane, "cpu", json_u64(lanes[i].thread));
		}
		if (lanes[i].shift_s != 0)
			json_object_set_new(lane, "shift_s", json_real(lanes[i].shift_s));
		if (lanes[i].drift_ppm != 0)
			json_object_set_new(lane, "drift_ppm", json_real(lanes[i].drift_ppm));
		json_object_set_new(lane, "events", events);
		json_array_append_new(list, lane);
	}
	return list;
}

/* What is known of it. */
static void add_why(json_t *item, const struct timeline_collection *one)
{
	if (*one->cause)
		json_object_set_new(item, "cause", json_text(one->cause));
	if (*one->collector)
		json_object_set_new(item, "collector", json_text(one->collector));
	if (one->before)
		json_object_set_new(item, "heap_before", json_u64(one->before - 1));
	if (one->after)
		json_object_set_new(item, "heap_after", json_u64(one->after - 1));
}

static json_t *collections_json(const struct timeline *timeline)
{
	json_t *list = json_array();

	for (size_t i = 0; i < timeline->collection_count; i++) {
		const struct timeline_collection *one = &timeline->collections[i];
		json_t *item = json_object();

		json_object_set_new(item, "experiment", json_integer(one->process));
		json_object_set_new(item, "thread", json_u64(one->thread));
		json_object_set_new(item, "number", json_u64(one->number));
		json_object_set_new(item, "count", json_u64(one->count));
		json_object_set_new(item, "begin_s", json_real(seconds(one->begin_ns)));
		json_object_set_new(item, "end_s", json_real(seconds(one->end_ns)));
		json_object_set_new(item, "took_s", json_real(seconds(one->took_ns)));
		json_object_set_new(item, "longest_s", json_real(seconds(one->longest_ns)));
		add_why(item, one);
		json_array_append_new(list, item);
	}
	return list;
}

void timeline_add_members(json_t *object, const struct timeline *timeline)
{
	json_t *functions = json_array();

	for (size_t i = 0; i < timeline->function_count; i++) {
		json_t *function = json_object();

		json_object_set_new(function, "name", json_text(timeline->functions[i].name));
		json_object_set_new(function, "object", json_text(timeline->functions[i].object));
		json_array_append_new(functions, function);
	}
	add_range(object, timeline->range);
	add_hosts(object, &timeline->hosts);
	json_object_set_new(object, "cell_s", json_real(seconds(timeline->cell_ns)));
	json_object_set_new(object, "cells", json_integer((json_int_t)timeline->cell_count));
	json_object_set_new(
		object, "lanes",
		lanes_json(timeline->lanes, timeline->lane_count, timeline->is_of_cpus));
	json_object_set_new(object, "functions", functions);
	if (timeline->has_collections)
		json_object_set_new(object, "collections", collections_json(timeline));
}

json_t *timeline_row(const struct timeline *timeline, size_t at)
{
	const struct timeline_cell *cell = &timeline->cells[at];
	json_t *row, *events, *states;

	if (main_state(cell) == NO_STATE && !has_events(cell))
		return NULL;
	row = json_object();
	events = json_object();
	states = json_object();
	for (int i = 0; i < TIMELINE_KINDS; i++)
		if (cell->events[i])
			json_object_set_new(events, timeline_kinds[i],
					    json_integer(cell->events[i]));
	for (int i = 0; i < PROFILE_STATES; i++)
		if (cell->state_us[i])
			json_object_set_new(states, timeline_states[i],
					    json_real((double)cell->state_us[i] / 1e6));
	json_object_set_new(row, "lane", json_integer((json_int_t)(at / timeline->cell_count)));
	json_object_set_new(row, "cell", json_integer((json_int_t)(at % timeline->cell_count)));
	json_object_set_new(row, "events", events);
	json_object_set_new(row, "states", states);
	json_object_set_new(row, "function",
			    cell->function == CODE_NONE ? json_null()
							: json_integer(cell->function));
	return row;
}

void events_add_members(json_t *object, const struct timeline_page *page)
{
	json_t *stacks = json_array();

	for (size_t i = 0; i < page->frames.stack_count; i++)
		json_array_append_new(stacks, stack_json(&page->frames.stacks[i]));
	add_range(object, page->range);
	add_hosts(object, &page->hosts);
	json_object_set_new(object, "first", json_u64(page->first));
	json_object_set_new(object, "total_events", json_u64(page->total));
	json_object_set_new(object, "lanes", lanes_json(page->lanes, page->lane_count, false));
	json_object_set_new(object, "frames", frames_json(&page->frames));
	json_object_set_new(object, "stacks", stacks);
}

json_t *events_row(const struct timeline_page *page, size_t at)
{
	const struct timeline_event *event = &page->events[at];
	json_t *row = json_object();

	json_object_set_new(row, "lane", json_integer(event->lane));
	json_object_set_new(row, "kind", json_string(timeline_kinds[event->kind]));
	json_object_set_new(row, "type", json_text(event->type));
	json_object_set_new(row, "begin_s", json_real(seconds(event->begin_ns)));
	json_object_set_new(row, "end_s", json_real(seconds(event->end_ns)));
	json_object_set_new(row, "stack", json_integer(event->stack));
	json_add_values(row, &page->table, &page->table.values[at * page->table.column_count]);
	return row;
}
