/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of the index: of blocks where they lie within a cell, of events where they do not.  A
 * thread's events come in the order of time, so one cell after the other is done with.
 */
#include "analysis/views/timeline_cells.h"

#include "analysis/session/functions.h"

#include <stdlib.h>

/* One of those that work. */
struct filler {
	struct timeline_cells *to;
	const struct timeline_index *index;
	const size_t *lanes; /* by lane: of the index */
	/* of the lane in hand */
	const struct timed_lane *lane;
	const struct timed_process *process;
	size_t at; /* its number */
	struct timeline_cell *cells;
	size_t cell;	   /* that the sums are of: */
	uint64_t *own_us;  /* by function, … */
	uint32_t *touched; /* … those that there are, as they came */
	size_t touched_count;
	const struct timed_moment *moment;
	struct timed_rows *rows;
};

/* The first of several with as much wins. */
static void end_cell(struct filler *filler)
{
	uint64_t most = 0;

	for (size_t i = 0; i < filler->touched_count; i++) {
		uint32_t function = filler->touched[i];

		if (filler->own_us[function] > most) {
			most = filler->own_us[function];
			filler->cells[filler->cell].function = function;
		}
		filler->own_us[function] = 0;
	}
	filler->touched_count = 0;
}

static inline void add_own(struct filler *filler, size_t cell, uint32_t function, uint64_t us)
{
	if (cell != filler->cell) {
		end_cell(filler);
		filler->cell = cell;
	}
	if (!us)
		return;
	if (!filler->own_us[function])
		filler->touched[filler->touched_count++] = function;
	filler->own_us[function] += us;
}

static inline void add_time(void *arg, size_t cell, uint64_t us)
{
	struct filler *filler = arg;

	filler->cells[cell].state_us[filler->moment->type] += us;
	filler->to->seen[filler->at] = true;
	add_own(filler, cell, filler->process->functions[filler->moment->node], us);
}

static void add_events(struct filler *filler, size_t cell, int kind, uint32_t count)
{
	filler->cells[cell].events[kind] += count;
	filler->to->lanes.lanes.items[filler->at].events[kind] += count;
}

static void add_moment(const struct timed_moment *moment, void *arg)
{
	struct filler *filler = arg;
	const struct timeline_range *range = &filler->to->range;
	bool ends_here = moment->end_ns >= range->begin_ns && moment->end_ns < range->end_ns;

	filler->moment = moment;
	if (ends_here)
		add_events(filler, cell_at(filler->to, moment->end_ns), TIMELINE_CLOCK, 1);
	if (moment->end_ns - moment->begin_ns == moment->took_ns)
		cells_deal_out(filler->to, moment->begin_ns, moment->end_ns, add_time, filler);
	else if (ends_here) /* it was before the experiment */
		add_time(filler, cell_at(filler->to, moment->end_ns), moment->took_ns / 1000);
}

static void add_rows(struct filler *filler, size_t block)
{
	struct timed_place place = filler->lane->places.items[block];

	timed_block_visit(filler->lane, filler->process, &place, filler->rows, add_moment, filler);
}

static void add_block(struct filler *filler, const struct timed_sums *block)
{
	size_t cell = cell_at(filler->to, block->begin_ns);

	add_events(filler, cell, TIMELINE_CLOCK, block->events);
	for (size_t i = 0; i < PROFILE_STATES; i++)
		filler->cells[cell].state_us[i] += block->state_us[i];
	for (size_t i = block->own; i < block->own + block->own_count; i++)
		add_own(filler, cell, filler->lane->own.items[i].function,
			filler->lane->own.items[i].us);
}

/* Blocks [first, end) of a level. */
static void add_blocks(struct filler *filler, size_t level, size_t first, size_t end)
{
	const struct timed_sums *blocks = filler->lane->levels.items[level].blocks.items;
	size_t count = filler->lane->levels.items[level].blocks.count;

	for (size_t i = first; i < end && i < count; i++) {
		const struct timed_sums *block = &blocks[i];

		if (!block->events || block->end_ns < filler->to->range.begin_ns ||
		    block->begin_ns >= filler->to->range.end_ns)
			continue;
		if (block->own_count != TIMED_NO_OWN &&
		    cells_have_in_one(filler->to, block->begin_ns, block->end_ns))
			add_block(filler, block);
		else if (level)
			add_blocks(filler, level - 1, i * TIMED_BRANCH, (i + 1) * TIMED_BRANCH);
		else
			add_rows(filler, i);
	}
}

static void add_each(struct filler *filler, int kind, const struct timed_moments *block)
{
	const struct timeline_range *range = &filler->to->range;
	const struct rows *from = &filler->process->process->traces[kind - EVENTS_TRACE].rows;

	for (size_t row = block->row; row < block->row + block->rows; row++) {
		uint64_t end =
			clock_shift_time(&filler->process->shift, rows_get(from, ROW_TIME, row));

		if (end >= range->begin_ns && end < range->end_ns &&
		    timed_is_chosen(filler->process->chosen[kind], row))
			add_events(filler, cell_at(filler->to, end), kind, 1);
	}
}

static void add_moments(struct filler *filler, int kind)
{
	const struct timeline_range *range = &filler->to->range;

	for (size_t i = 0; i < filler->lane->moments[kind].count; i++) {
		const struct timed_moments *block = &filler->lane->moments[kind].items[i];

		if (!block->events || block->last_ns < range->begin_ns ||
		    block->first_ns >= range->end_ns)
			continue;
		if (cells_have_in_one(filler->to, block->first_ns, block->last_ns))
			add_events(filler, cell_at(filler->to, block->first_ns), kind,
				   block->events);
		else
			add_each(filler, kind, block);
	}
}

static void fill_lane(void *state, size_t index)
{
	struct filler *filler = state;
	size_t top;

	filler->at = index;
	filler->lane = &filler->index->lanes[filler->lanes[index]];
	filler->process = &filler->index->processes[filler->lane->process];
	filler->cells = &filler->to->cells[index * filler->to->cell_count];
	filler->cell = 0;
	for (size_t i = 0; i < filler->to->cell_count; i++)
		filler->cells[i].function = CODE_NONE;
	top = filler->lane->levels.count - 1;
	add_blocks(filler, top, 0, SIZE_MAX);
	end_cell(filler);
	for (int kind = EVENTS_TRACE; kind < EVENTS_KINDS; kind++)
		add_moments(filler, kind);
}

void cells_lanes(struct timeline_cells *to, const struct timeline_index *index,
		 const struct session *session, uint64_t begin_ns)
{
	to->lanes.last_ns = index->last_ns;
	for (size_t i = 0; i < index->lane_count; i++)
		if (index->lanes[i].last_ns >= begin_ns)
			*vec_push(&to->lanes.lanes) = (struct timeline_lane){
				.process = session->scanned.items[index->lanes[i].process].id,
				.thread = index->lanes[i].thread};
}

void cells_fill(struct timeline_cells *to, const struct timeline_index *index,
		const struct session *session)
{
	size_t threads = scan_threads_for(session->row_count), count = 0;
	size_t functions = session->functions.count;
	size_t *lanes = xcalloc(index->lane_count + 1, sizeof(*lanes));
	struct filler *fillers = xcalloc(threads, sizeof(*fillers));
	void **states = xcalloc(threads, sizeof(*states));

	for (size_t i = 0; i < index->lane_count; i++)
		if (index->lanes[i].last_ns >= to->range.begin_ns)
			lanes[count++] = i;
	for (size_t i = 0; i < threads; i++) {
		fillers[i] = (struct filler){.to = to,
					     .index = index,
					     .lanes = lanes,
					     .own_us = xcalloc(functions + 1, sizeof(uint64_t)),
					     .touched = xcalloc(functions + 1, sizeof(uint32_t)),
					     .rows = timed_rows_new(index)};
		states[i] = &fillers[i];
	}
	timeline_in_parallel(count, fill_lane, states, threads);
	for (size_t i = 0; i < threads; i++) {
		free(fillers[i].own_us);
		free(fillers[i].touched);
		free(fillers[i].rows);
	}
	free(states);
	free(fillers);
	free(lanes);
}
