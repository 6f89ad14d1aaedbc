/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of processors, of an index of them.  Its blocks are of threads, of which several take turns
 * on a processor: what each did in the cells of a piece of the range is added up first, and which
 * function has the most of a cell is told then.  Each piece is one worker's.
 */
#include "analysis/session/functions.h"
#include "analysis/views/timeline_cells.h"

#include <stdlib.h>

enum { PIECES = 4 }; /* of the range, for each thread that works */

/* The time of a function on a processor in a cell, as one thread used it. */
struct used {
	uint32_t cell, key;
	uint64_t us;
};

/* One of those that work, with a piece of the range in hand. */
struct filler {
	struct timeline_cells *whole;
	const struct timeline_index *index;
	const struct timed_cpus *cpus;
	size_t pieces;
	struct timeline_cells to; /* the piece: its cells are numbered from … */
	size_t first_cell;	  /* … this one of the whole */
	/* of the thread in hand */
	const struct timed_lane *lane;
	const struct timed_process *process;
	size_t cell;	   /* that the sums are of: */
	uint64_t *sums;	   /* by key, … */
	uint32_t *touched; /* … those that there are */
	size_t touched_count;
	const struct timed_moment *moment;
	struct timed_rows *rows;
	VEC(struct used) used; /* of all threads in the piece */
	bool *seen;	       /* by processor */
	uint32_t *events;      /* by processor and kind */
};

static struct timeline_cell *cell_of(const struct filler *filler, uint32_t rank, size_t cell)
{
	return &filler->whole->cells[rank * filler->whole->cell_count + filler->first_cell + cell];
}

static void put_sum(struct filler *filler, uint32_t key, uint64_t sum)
{
	const struct timed_cpus *cpus = filler->cpus;
	uint32_t at = key - cpus->states;

	if (key < cpus->states) {
		cell_of(filler, key / TIMELINE_KINDS, filler->cell)->events[key % TIMELINE_KINDS] +=
			(uint32_t)sum;
		filler->events[key] += (uint32_t)sum;
	} else if (key < cpus->functions) {
		cell_of(filler, at / PROFILE_STATES, filler->cell)->state_us[at % PROFILE_STATES] +=
			sum;
	} else {
		*vec_push(&filler->used) = (struct used){(uint32_t)filler->cell, key, sum};
	}
}

static void end_cell(struct filler *filler)
{
	for (size_t i = 0; i < filler->touched_count; i++) {
		put_sum(filler, filler->touched[i], filler->sums[filler->touched[i]]);
		filler->sums[filler->touched[i]] = 0;
	}
	filler->touched_count = 0;
}

static inline void add(struct filler *filler, size_t cell, uint32_t key, uint64_t sum)
{
	if (cell != filler->cell) {
		end_cell(filler);
		filler->cell = cell;
	}
	if (!sum)
		return;
	if (!filler->sums[key])
		filler->touched[filler->touched_count++] = key;
	filler->sums[key] += sum;
}

static inline void add_time(void *arg, size_t cell, uint64_t us)
{
	struct filler *filler = arg;
	const struct timed_moment *moment = filler->moment;
	uint32_t rank = filler->cpus->ranks[moment->cpu];

	filler->seen[rank] = true;
	add(filler, cell, timed_key_state(filler->cpus, rank, moment->type), us);
	add(filler, cell,
	    timed_key_function(filler->cpus, rank, filler->process->functions[moment->node]), us);
}

static void add_moment(const struct timed_moment *moment, void *arg)
{
	struct filler *filler = arg;
	const struct timeline_range *range = &filler->to.range;
	bool ends_here = moment->end_ns >= range->begin_ns && moment->end_ns < range->end_ns;

	if (timeline_is_off_cpu(EVENTS_CLOCK, moment->type))
		return;
	filler->moment = moment;
	if (moment->end_ns - moment->begin_ns == moment->took_ns)
		cells_deal_out(&filler->to, moment->begin_ns, moment->end_ns, add_time, filler);
	else if (ends_here) /* it was before the experiment */
		add_time(filler, cell_at(&filler->to, moment->end_ns), moment->took_ns / 1000);
	if (ends_here)
		add(filler, cell_at(&filler->to, moment->end_ns),
		    timed_key_events(filler->cpus->ranks[moment->cpu], EVENTS_CLOCK), 1);
}

static void add_list(struct filler *filler, size_t cell, size_t first, size_t count)
{
	const struct timed_own *own = &filler->lane->own.items[first];

	for (size_t i = 0; i < count; i++)
		add(filler, cell, own[i].function, own[i].us);
}

/* Blocks [first, end) of a level. */
static void add_blocks(struct filler *filler, size_t level, size_t first, size_t end)
{
	const struct timed_sums *blocks = filler->lane->levels.items[level].blocks.items;
	size_t count = filler->lane->levels.items[level].blocks.count;

	for (size_t i = first; i < end && i < count; i++) {
		const struct timed_sums *block = &blocks[i];
		struct timed_place place;

		if (!block->events || block->end_ns < filler->to.range.begin_ns ||
		    block->begin_ns >= filler->to.range.end_ns)
			continue;
		if (block->own_count != TIMED_NO_OWN &&
		    cells_have_in_one(&filler->to, block->begin_ns, block->end_ns)) {
			add_list(filler, cell_at(&filler->to, block->begin_ns), block->own,
				 block->own_count);
		} else if (level) {
			add_blocks(filler, level - 1, i * TIMED_BRANCH, (i + 1) * TIMED_BRANCH);
		} else {
			place = filler->lane->places.items[i];
			timed_block_visit(filler->lane, filler->process, &place, filler->rows,
					  add_moment, filler);
		}
	}
}

static void add_each(struct filler *filler, int kind, const struct timed_moments *block)
{
	const struct timeline_range *range = &filler->to.range;
	const struct rows *from = &filler->process->process->traces[kind - EVENTS_TRACE].rows;

	for (size_t row = block->row; row < block->row + block->rows; row++) {
		uint64_t end =
			clock_shift_time(&filler->process->shift, rows_get(from, ROW_TIME, row));
		uint32_t rank = filler->cpus->ranks[rows_get(from, ROW_CPU, row)];

		if (end >= range->begin_ns && end < range->end_ns &&
		    timed_is_chosen(filler->process->chosen[kind], row))
			add(filler, cell_at(&filler->to, end), timed_key_events(rank, kind), 1);
	}
}

static void add_moments(struct filler *filler, int kind)
{
	const struct timeline_range *range = &filler->to.range;

	for (size_t i = 0; i < filler->lane->moments[kind].count; i++) {
		const struct timed_moments *block = &filler->lane->moments[kind].items[i];

		if (!block->events || block->last_ns < range->begin_ns ||
		    block->first_ns >= range->end_ns)
			continue;
		if (block->own_count != TIMED_NO_OWN &&
		    cells_have_in_one(&filler->to, block->first_ns, block->last_ns))
			add_list(filler, cell_at(&filler->to, block->first_ns), block->own,
				 block->own_count);
		else
			add_each(filler, kind, block);
	}
}

static void add_lane(struct filler *filler, const struct timed_lane *lane)
{
	filler->lane = lane;
	filler->process = &filler->index->processes[lane->process];
	filler->cell = 0;
	add_blocks(filler, lane->levels.count - 1, 0, SIZE_MAX);
	for (int kind = EVENTS_TRACE; kind < EVENTS_KINDS; kind++)
		add_moments(filler, kind);
	end_cell(filler);
}

/* ---- which function has the most of a cell ---- */

/* Of one cell: of several with as much the one of the lowest number wins. */
static void choose_functions(struct filler *filler, const struct used *used, size_t count)
{
	const struct timed_cpus *cpus = filler->cpus;

	for (size_t i = 0; i < count; i++) {
		if (!filler->sums[used[i].key])
			filler->touched[filler->touched_count++] = used[i].key;
		filler->sums[used[i].key] += used[i].us;
	}
	for (size_t i = 0; i < filler->touched_count; i++) {
		uint32_t at = filler->touched[i] - cpus->functions;
		uint32_t rank = at / cpus->function_count, function = at % cpus->function_count;
		struct timeline_cell *cell = cell_of(filler, rank, used->cell);
		uint64_t most =
			cell->function == CODE_NONE
				? 0
				: filler->sums[timed_key_function(cpus, rank, cell->function)];
		uint64_t us = filler->sums[filler->touched[i]];

		if (us > most || (us == most && function < cell->function))
			cell->function = function;
	}
	while (filler->touched_count)
		filler->sums[filler->touched[--filler->touched_count]] = 0;
}

/* Those of a cell side by side. */
static struct used *by_cell(const struct filler *filler, size_t *begins)
{
	struct used *sorted = xcalloc(filler->used.count + 1, sizeof(*sorted));

	for (size_t i = 0; i < filler->used.count; i++)
		begins[filler->used.items[i].cell + 1]++;
	for (size_t i = 0; i < filler->to.cell_count; i++)
		begins[i + 1] += begins[i];
	for (size_t i = 0; i < filler->used.count; i++)
		sorted[begins[filler->used.items[i].cell]++] = filler->used.items[i];
	return sorted;
}

static void choose_all(struct filler *filler)
{
	size_t *ends = xcalloc(filler->to.cell_count + 2, sizeof(*ends)), begin = 0;
	struct used *sorted = by_cell(filler, ends);

	for (size_t i = 0; i < filler->to.cell_count; begin = ends[i++])
		choose_functions(filler, &sorted[begin], ends[i] - begin);
	free(sorted);
	free(ends);
}

/* ---- all of it ---- */

static void fill_piece(void *state, size_t index)
{
	struct filler *filler = state;
	const struct timeline_cells *whole = filler->whole;
	size_t cells = whole->cell_count, first = cells * index / filler->pieces;
	size_t end = cells * (index + 1) / filler->pieces;
	struct timeline_range *range = &filler->to.range;

	filler->to = *whole;
	filler->first_cell = first;
	filler->to.cell_count = end - first;
	range->begin_ns = whole->range.begin_ns + first * whole->cell_ns;
	if (end < cells)
		range->end_ns = whole->range.begin_ns + end * whole->cell_ns;
	for (uint32_t rank = 0; rank < filler->cpus->count; rank++)
		for (size_t i = 0; i < end - first; i++)
			cell_of(filler, rank, i)->function = CODE_NONE;
	filler->used.count = 0;
	for (size_t i = 0; first < end && i < filler->index->lane_count; i++)
		add_lane(filler, &filler->index->lanes[i]);
	choose_all(filler);
}

void cells_lanes_of_cpus(struct timeline_cells *to, const struct timeline_index *index)
{
	to->lanes.is_of_cpus = true;
	to->lanes.last_ns = index->last_ns;
	for (uint32_t i = 0; i < index->cpus.count; i++)
		*vec_push(&to->lanes.lanes) = (struct timeline_lane){.thread = index->cpus.cpus[i]};
}

static void begin_filler(struct filler *filler, struct timeline_cells *to,
			 const struct timeline_index *index, size_t pieces)
{
	*filler = (struct filler){
		.whole = to,
		.index = index,
		.cpus = &index->cpus,
		.pieces = pieces,
		.sums = xcalloc(index->cpus.end + 1, sizeof(uint64_t)),
		.touched = xcalloc(index->cpus.end + 1, sizeof(uint32_t)),
		.rows = timed_rows_new(index),
		.seen = xcalloc(index->cpus.count, sizeof(bool)),
		.events = xcalloc(index->cpus.states, sizeof(uint32_t)),
	};
}

static void end_filler(struct filler *filler)
{
	struct timeline_cells *to = filler->whole;

	for (uint32_t i = 0; i < filler->cpus->count; i++)
		to->seen[i] |= filler->seen[i];
	for (uint32_t i = 0; i < filler->cpus->states; i++)
		to->lanes.lanes.items[i / TIMELINE_KINDS].events[i % TIMELINE_KINDS] +=
			filler->events[i];
	vec_fini(&filler->used);
	free(filler->sums);
	free(filler->touched);
	free(filler->rows);
	free(filler->seen);
	free(filler->events);
}

void cells_fill_of_cpus(struct timeline_cells *to, const struct timeline_index *index,
			const struct session *session)
{
	size_t threads = scan_threads_for(session->row_count), pieces = threads * PIECES;
	struct filler *fillers = xcalloc(threads, sizeof(*fillers));
	void **states = xcalloc(threads, sizeof(*states));

	for (size_t i = 0; i < threads; i++) {
		begin_filler(&fillers[i], to, index, pieces);
		states[i] = &fillers[i];
	}
	timeline_in_parallel(pieces, fill_piece, states, threads);
	for (size_t i = 0; i < threads; i++)
		end_filler(&fillers[i]);
	free(states);
	free(fillers);
}
