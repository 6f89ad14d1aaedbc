/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the index of a timeline: thread by thread, several at a time. */
#include "analysis/views/timeline_index.h"

#include "analysis/tree/shape.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	LANES_FEW = 1024,
	ROWS_OF_LANE = 64,
	KEYS_MOST = 1 << 22, /* of timed_cpus: 12 bytes each for every thread that works */
};

/* ---- several at a time ---- */

struct job {
	void (*work)(void *state, size_t index);
	void *state;
	size_t count;
	atomic_size_t *next;
};

static void *run_job(void *arg)
{
	const struct job *job = arg;
	size_t index;

	while ((index = atomic_fetch_add(job->next, 1)) < job->count)
		job->work(job->state, index);
	return NULL;
}

void timeline_in_parallel(size_t count, void (*work)(void *state, size_t index),
			  void *const *states, size_t threads)
{
	pthread_t *others = xcalloc(threads, sizeof(*others));
	struct job *jobs = xcalloc(threads, sizeof(*jobs));
	atomic_size_t next = 0;
	size_t started = 1;

	for (size_t i = 0; i < threads; i++)
		jobs[i] = (struct job){work, states[i], count, &next};
	while (started < threads && started < count &&
	       !pthread_create(&others[started], NULL, run_job, &jobs[started]))
		started++;
	run_job(&jobs[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(others[i], NULL);
	free(jobs);
	free(others);
}

/* ---- which rows are whose ---- */

struct sorting {
	struct timeline_index *index;
	const struct tally *tally;
	struct lanes lanes;
	size_t process;
	uint32_t last_lane; /* of the clock's run before */
	bool in_order;
};

static uint64_t time_of(const struct event_run *run, size_t row)
{
	return rows_get(run->rows, ROW_TIME, row);
}

/* Runs of the clock that lie side by side are one part. */
static void add_clock_run(struct sorting *sorting, uint32_t at, const struct event_run *run)
{
	struct timed_lane *lane = &sorting->index->lanes[at];
	size_t count = lane->parts.count, before = 0;
	struct timed_part *last = count ? &lane->parts.items[count - 1] : NULL;
	bool follows = last && sorting->last_lane == at;

	sorting->last_lane = at;
	if (follows && last->row + last->count == run->first) {
		last->count += run->count;
		return;
	}
	if (follows && time_of(run, last->row + last->count - 1) == time_of(run, run->first))
		sorting->in_order = false; /* a group in two places */
	if (last)
		before = last->at + last->count;
	*vec_push(&lane->parts) = (struct timed_part){run->first, run->count, before};
}

static void add_other_run(struct timed_lane *lane, const struct event_run *run)
{
	for (size_t at = 0; at < run->count; at += TIMED_ROWS) {
		size_t left = run->count - at;

		*vec_push(&lane->moments[run->kind]) = (struct timed_moments){
			.row = run->first + at,
			.rows = (uint32_t)(left < TIMED_ROWS ? left : TIMED_ROWS)};
	}
}

static void sort_run(const struct event_run *run, void *arg)
{
	struct sorting *sorting = arg;
	const struct session_process *process =
		&sorting->tally->session->scanned.items[sorting->process];
	uint64_t end;
	uint32_t at;

	if (!run->count)
		return;
	at = lanes_at(&sorting->lanes, process, run->thread);
	end = time_of(run, run->first + run->count - 1) * (run->kind == EVENTS_CLOCK ? 1000 : 1);
	end = mpi_clocks_time(sorting->lanes.clocks, sorting->process, end);
	struct timed_lane *lane = &sorting->index->lanes[at];

	lane->process = sorting->process;
	lane->last_ns = end > lane->last_ns ? end : lane->last_ns;
	if (lane->thread != run->thread)
		sorting->in_order = false; /* numbers that no kernel gives */
	if (run->kind == EVENTS_CLOCK)
		add_clock_run(sorting, at, run);
	else
		add_other_run(lane, run);
}

static void find_lanes(struct sorting *sorting)
{
	lanes_find(&sorting->lanes, sorting->tally, 0);
	sorting->index->last_ns = sorting->lanes.last_ns;
	sorting->index->lane_count = sorting->lanes.lanes.count;
}

static void sort_runs(struct sorting *sorting)
{
	struct timeline_index *index = sorting->index;
	const struct session *session = sorting->tally->session;

	index->lanes = xcalloc(index->lane_count + 1, sizeof(*index->lanes));
	for (size_t i = 0; i < index->lane_count; i++)
		index->lanes[i].thread = sorting->lanes.lanes.items[i].thread;
	for (sorting->process = 0; sorting->process < session->scanned.count; sorting->process++) {
		const struct session_process *process = &session->scanned.items[sorting->process];

		sorting->last_lane = HASH_NONE;
		for (int kind = 0; tally_looks_at(sorting->tally, process) && kind < EVENTS_KINDS;
		     kind++)
			events_for_each_run(process->process, (enum event_kind)kind, sort_run,
					    sorting);
	}
}

/* ---- which events are chosen ---- */

/* Other threads may have rows of the same word. */
static void mark_chosen(const struct scan_piece *piece, void *state)
{
	struct timed_process *process = state;
	const struct event_run *run = piece->run;
	uint64_t *chosen = process->chosen[run->kind], word = 0;

	for (size_t i = 0; i < run->count; i++) {
		size_t row = run->first + i;

		if (!piece->measuring.chosen || piece->measuring.chosen[i])
			word |= 1ull << row % 64;
		if (row % 64 == 63 || i + 1 == run->count) {
			__atomic_fetch_or(&chosen[row / 64], word, __ATOMIC_RELAXED);
			word = 0;
		}
	}
}

static const struct rows *rows_of(const struct process *process, int kind)
{
	return kind == EVENTS_CLOCK ? &process->profile.rows
				    : &process->traces[kind - EVENTS_TRACE].rows;
}

static void choose(struct timeline_index *index, const struct tally *tally, size_t number)
{
	const struct session_process *process = &tally->session->scanned.items[number];
	struct timed_process *chosen = &index->processes[number];
	size_t threads = scan_threads();
	void **states = xcalloc(threads, sizeof(*states));

	for (int kind = 0; kind < EVENTS_KINDS; kind++) {
		size_t words = rows_of(process->process, kind)->count / 64 + 1;

		chosen->chosen[kind] = xcalloc(words, sizeof(uint64_t));
		index->size += words * sizeof(uint64_t);
	}
	for (size_t i = 0; i < threads; i++)
		states[i] = chosen;
	scan_process(tally, process, mark_chosen, states);
	free(states);
}

static void add_processes(struct timeline_index *index, const struct tally *tally,
			  const struct mpi_clocks *clocks)
{
	const struct session *session = tally->session;
	const struct tree_node *nodes = tally->shape->tree->nodes.items;

	index->process_count = session->scanned.count;
	index->processes = xcalloc(index->process_count + 1, sizeof(*index->processes));
	for (size_t i = 0; i < index->process_count; i++) {
		const struct process *process = session->scanned.items[i].process;
		size_t count = process->stacks.nodes.count;
		uint32_t *owned, *functions = xcalloc(count + 1, sizeof(*functions));
		const uint32_t *shown = shape_nodes(tally->shape, i, &owned);

		for (size_t k = 0; k < count; k++)
			functions[k] = nodes[shown[k]].function;
		free(owned);
		index->processes[i] = (struct timed_process){
			.process = process, .shift = clocks->of[i].shift, .functions = functions};
		index->size += count * sizeof(*functions);
		if (tally_is_filtered(tally))
			choose(index, tally, i);
	}
}

/* ---- the blocks ---- */

/* One of those that work. */
struct builder {
	const struct timeline_index *index;
	struct session *session;
	struct timed_lane *lane;
	const struct timed_process *process;
	struct timed_sums sums; /* of the block that is made … */
	uint64_t *own_us;	/* … by function, … */
	uint32_t *touched;	/* … and which of them there are, as they came */
	size_t touched_count;
	struct timed_rows *rows;
	void (*add)(const struct timed_moment *moment, void *arg);
	bool is_first;	/* the thread that asked */
	size_t visited; /* rows */
	atomic_bool *useless;
};

struct timed_rows *timed_rows_new(const struct timeline_index *index)
{
	struct timed_rows *rows = xcalloc(1, sizeof(*rows));

	rows->has_cpus = index->cpus.count > 0;
	return rows;
}

void timed_rows_read(struct timed_rows *rows, const struct rows *from,
		     const struct timed_part *part, size_t first, size_t most)
{
	size_t left = part->count - first, group = 1;

	rows->count = left < most ? left : most;
	for (size_t at = 0, count; at < rows->count; at += count) {
		size_t row = part->row + first + at, in_page = ROWS_PAGE - row % ROWS_PAGE;

		count = rows->count - at < in_page ? rows->count - at : in_page;
		rows_read(from, ROW_TIME, row, count, rows->time_us + at);
		rows_read(from, ROW_FIELD + PROFILE_WEIGHT, row, count, rows->weight_us + at);
		rows_read_u32(from, ROW_TYPE, row, count, rows->type + at);
		rows_read_u32(from, ROW_STACK, row, count, rows->node + at);
		if (rows->has_cpus)
			rows_read_u32(from, ROW_CPU, row, count, rows->cpu + at);
	}
	while (group < rows->count &&
	       rows->time_us[rows->count - 1 - group] == rows->time_us[rows->count - 1])
		group++;
	for (; rows->count < left && group < TIMED_GROUP; group++, rows->count++) {
		size_t row = part->row + first + rows->count, at = rows->count;

		rows->time_us[at] = rows_get(from, ROW_TIME, row);
		if (rows->time_us[at] != rows->time_us[at - 1])
			return;
		rows->weight_us[at] = rows_get(from, ROW_FIELD + PROFILE_WEIGHT, row);
		rows->type[at] = (uint32_t)rows_get(from, ROW_TYPE, row);
		rows->node[at] = (uint32_t)rows_get(from, ROW_STACK, row);
		rows->cpu[at] = rows->has_cpus ? (uint32_t)rows_get(from, ROW_CPU, row) : 0;
	}
}

static void add_own(struct builder *builder, uint32_t function, uint64_t us)
{
	if (!builder->own_us[function] && us)
		builder->touched[builder->touched_count++] = function;
	builder->own_us[function] += us;
}

static void add_moment(const struct timed_moment *moment, void *arg)
{
	struct builder *builder = arg;
	struct timed_sums *sums = &builder->sums;
	uint64_t us = moment->took_ns / 1000;

	sums->begin_ns = moment->begin_ns < sums->begin_ns ? moment->begin_ns : sums->begin_ns;
	sums->end_ns = moment->end_ns > sums->end_ns ? moment->end_ns : sums->end_ns;
	sums->state_us[moment->type] += us;
	sums->events++;
	add_own(builder, builder->process->functions[moment->node], us);
}

/* The same of what was on a processor, which alone counts there. */
static void add_moment_on_cpu(const struct timed_moment *moment, void *arg)
{
	struct builder *builder = arg;
	const struct timed_cpus *cpus = &builder->index->cpus;
	struct timed_sums *sums = &builder->sums;
	uint32_t rank = cpus->ranks[moment->cpu];
	uint64_t us = moment->took_ns / 1000;

	if (timeline_is_off_cpu(EVENTS_CLOCK, moment->type))
		return;
	sums->begin_ns = moment->begin_ns < sums->begin_ns ? moment->begin_ns : sums->begin_ns;
	sums->end_ns = moment->end_ns > sums->end_ns ? moment->end_ns : sums->end_ns;
	sums->events++;
	add_own(builder, timed_key_events(rank, EVENTS_CLOCK), 1);
	add_own(builder, timed_key_state(cpus, rank, moment->type), us);
	add_own(builder, timed_key_function(cpus, rank, builder->process->functions[moment->node]),
		us);
}

static void begin_block(struct builder *builder)
{
	builder->sums = (struct timed_sums){.begin_ns = UINT64_MAX};
	builder->touched_count = 0;
}

/*
 * Puts what was added up behind the lane's lists.  A list that is not much shorter than the events
 * it is made of is not worth its memory.
 */
static void end_list(struct builder *builder, size_t made_of)
{
	struct timed_lane *lane = builder->lane;

	builder->sums.own = lane->own.count;
	builder->sums.own_count = builder->touched_count <= made_of / 4
					  ? (uint32_t)builder->touched_count
					  : TIMED_NO_OWN;
	for (size_t i = 0; i < builder->touched_count; i++) {
		uint32_t function = builder->touched[i];
		uint64_t us = builder->own_us[function];

		builder->own_us[function] = 0;
		if (us > UINT32_MAX)
			builder->sums.own_count = TIMED_NO_OWN;
		if (builder->sums.own_count != TIMED_NO_OWN)
			*vec_push(&lane->own) = (struct timed_own){function, (uint32_t)us};
	}
	if (builder->sums.own_count == TIMED_NO_OWN)
		lane->own.count = builder->sums.own;
}

static void end_block(struct builder *builder, size_t made_of, struct timed_level *level)
{
	end_list(builder, made_of);
	*vec_push(&level->blocks) = builder->sums;
}

/* Whether it is still worth while. */
static bool goes_on(struct builder *builder)
{
	if (builder->is_first && builder->session->row_count &&
	    !watch_tell(builder->session->watch,
			(double)builder->visited / (double)builder->session->row_count))
		atomic_store(builder->useless, true);
	return !atomic_load(builder->useless);
}

/* From this event on; where the next one begins. */
static struct timed_place make_block(struct builder *builder, struct timed_place place)
{
	size_t begin = place.at;

	*vec_push(&builder->lane->places) = place;
	begin_block(builder);
	if (!timed_block_visit(builder->lane, builder->process, &place, builder->rows, builder->add,
			       builder))
		atomic_store(builder->useless, true);
	builder->visited += place.at - begin;
	end_block(builder, place.at - begin, &builder->lane->levels.items[0]);
	return place;
}

static void add_sums(struct builder *builder, const struct timed_sums *block)
{
	const struct timed_lane *lane = builder->lane;
	struct timed_sums *sums = &builder->sums;

	sums->begin_ns = block->begin_ns < sums->begin_ns ? block->begin_ns : sums->begin_ns;
	sums->end_ns = block->end_ns > sums->end_ns ? block->end_ns : sums->end_ns;
	for (size_t i = 0; i < PROFILE_STATES; i++)
		sums->state_us[i] += block->state_us[i];
	sums->events += block->events;
	for (size_t i = block->own; i < block->own + block->own_count; i++)
		add_own(builder, lane->own.items[i].function, lane->own.items[i].us);
}

/* What is in no list is read once more. */
static void add_blocks(struct builder *builder, size_t level, size_t first)
{
	const struct timed_lane *lane = builder->lane;
	const struct timed_sums *blocks = lane->levels.items[level].blocks.items;
	size_t count = lane->levels.items[level].blocks.count;

	for (size_t i = first; i < first + TIMED_BRANCH && i < count; i++) {
		struct timed_place place;

		if (blocks[i].own_count != TIMED_NO_OWN) {
			add_sums(builder, &blocks[i]);
		} else if (level) {
			add_blocks(builder, level - 1, i * TIMED_BRANCH);
		} else {
			place = lane->places.items[i];
			timed_block_visit(lane, builder->process, &place, builder->rows,
					  builder->add, builder);
		}
	}
}

/* The next level, of blocks of the last one, each of which is made of so many events. */
static void make_level(struct builder *builder, size_t length)
{
	struct timed_lane *lane = builder->lane;
	size_t level = lane->levels.count - 1, count = lane->levels.items[level].blocks.count;
	struct timed_level made = {0};

	for (size_t i = 0; i < count && goes_on(builder); i += TIMED_BRANCH) {
		begin_block(builder);
		add_blocks(builder, level, i);
		end_block(builder, length * TIMED_BRANCH, &made);
	}
	*vec_push(&lane->levels) = made;
}

static void count_moments(struct builder *builder, int kind, struct timed_moments *block)
{
	const struct rows *from = rows_of(builder->process->process, kind);
	const uint64_t *chosen = builder->process->chosen[kind];
	const struct timed_cpus *cpus = &builder->index->cpus;

	begin_block(builder);
	block->first_ns = UINT64_MAX;
	for (size_t row = block->row; row < block->row + block->rows; row++) {
		uint64_t end =
			clock_shift_time(&builder->process->shift, rows_get(from, ROW_TIME, row));

		if (!timed_is_chosen(chosen, row))
			continue;
		block->events++;
		block->first_ns = end < block->first_ns ? end : block->first_ns;
		block->last_ns = end > block->last_ns ? end : block->last_ns;
		if (cpus->count)
			add_own(builder,
				timed_key_events(cpus->ranks[rows_get(from, ROW_CPU, row)], kind),
				1);
	}
	end_list(builder, SIZE_MAX);
	block->own = builder->sums.own;
	block->own_count = builder->sums.own_count;
	builder->visited += block->rows;
}

static void count_all_moments(struct builder *builder)
{
	for (int kind = EVENTS_TRACE; kind < EVENTS_KINDS; kind++)
		for (size_t i = 0; i < builder->lane->moments[kind].count && goes_on(builder); i++)
			count_moments(builder, kind, &builder->lane->moments[kind].items[i]);
}

/* How many blocks the last level has. */
static size_t last_level(const struct builder *builder)
{
	const struct timed_lane *lane = builder->lane;

	return lane->levels.items[lane->levels.count - 1].blocks.count;
}

static void make_lane(void *state, size_t index)
{
	struct builder *builder = state;
	struct timed_place place = {0};

	builder->lane = &builder->index->lanes[index];
	builder->process = &builder->index->processes[builder->lane->process];
	*vec_push(&builder->lane->levels) = (struct timed_level){0};
	while (place.part < builder->lane->parts.count && goes_on(builder))
		place = make_block(builder, place);
	count_all_moments(builder);
	for (size_t length = TIMED_ROWS; goes_on(builder) && last_level(builder) > TIMED_BRANCH;
	     length *= TIMED_BRANCH)
		make_level(builder, length);
}

/* False: it is of no use. */
static bool make_lanes(struct timeline_index *index, struct session *session)
{
	size_t threads = scan_threads_for(session->row_count);
	size_t keys = index->cpus.count ? index->cpus.end : session->functions.count;
	struct builder *builders = xcalloc(threads, sizeof(*builders));
	void **states = xcalloc(threads, sizeof(*states));
	atomic_bool useless = false;

	for (size_t i = 0; i < threads; i++) {
		builders[i] =
			(struct builder){.index = index,
					 .session = session,
					 .own_us = xcalloc(keys + 1, sizeof(uint64_t)),
					 .touched = xcalloc(keys + 1, sizeof(uint32_t)),
					 .rows = timed_rows_new(index),
					 .add = index->cpus.count ? add_moment_on_cpu : add_moment,
					 .is_first = !i,
					 .useless = &useless};
		states[i] = &builders[i];
	}
	timeline_in_parallel(index->lane_count, make_lane, states, threads);
	for (size_t i = 0; i < threads; i++) {
		free(builders[i].own_us);
		free(builders[i].touched);
		free(builders[i].rows);
	}
	free(states);
	free(builders);
	return !useless;
}

/* ---- all of it ---- */

static void lane_fini(struct timed_lane *lane)
{
	for (size_t i = 0; i < lane->levels.count; i++)
		vec_fini(&lane->levels.items[i].blocks);
	for (int kind = 0; kind < TIMELINE_KINDS; kind++)
		vec_fini(&lane->moments[kind]);
	vec_fini(&lane->levels);
	vec_fini(&lane->parts);
	vec_fini(&lane->places);
	vec_fini(&lane->own);
}

static void index_free(struct timeline_index *index)
{
	for (size_t i = 0; index->lanes && i < index->lane_count; i++)
		lane_fini(&index->lanes[i]);
	for (size_t i = 0; i < index->process_count; i++) {
		free(index->processes[i].functions);
		for (int kind = 0; kind < TIMELINE_KINDS; kind++)
			free(index->processes[i].chosen[kind]);
	}
	free(index->cpus.ranks);
	free(index->cpus.cpus);
	free(index->lanes);
	free(index->processes);
	free(index);
}

static size_t lane_size(const struct timed_lane *lane)
{
	size_t size = sizeof(*lane) + lane->parts.capacity * sizeof(*lane->parts.items) +
		      lane->places.capacity * sizeof(*lane->places.items) +
		      lane->own.capacity * sizeof(*lane->own.items);

	for (size_t i = 0; i < lane->levels.count; i++)
		size += lane->levels.items[i].blocks.capacity * sizeof(struct timed_sums);
	for (int kind = 0; kind < TIMELINE_KINDS; kind++)
		size += lane->moments[kind].capacity * sizeof(*lane->moments[kind].items);
	return size;
}

/* Of threads that each have next to no events, blocks would take more memory than those do. */
static bool is_worth_it(const struct timeline_index *index, const struct session *session)
{
	return index->lane_count <= LANES_FEW ||
	       (index->lane_count <= LANES_MOST &&
		session->row_count / index->lane_count >= ROWS_OF_LANE);
}

/* Numbers the processors; false: there are too many pairs of them and functions. */
static bool add_cpus(struct timeline_index *index, const struct tally *tally)
{
	struct timed_cpus *cpus = &index->cpus;
	size_t functions = tally->session->functions.count;
	struct lanes found = {0};

	lanes_find_cpus(&found, tally);
	if (!found.lanes.count ||
	    found.lanes.count * (TIMELINE_KINDS + PROFILE_STATES + functions) > KEYS_MOST) {
		lanes_fini(&found);
		return false;
	}
	cpus->count = (uint32_t)found.lanes.count;
	cpus->function_count = (uint32_t)functions;
	cpus->states = cpus->count * TIMELINE_KINDS;
	cpus->functions = cpus->states + cpus->count * PROFILE_STATES;
	cpus->end = cpus->functions + cpus->count * cpus->function_count;
	cpus->ranks = xcalloc(PROFILE_NO_CPU + 1, sizeof(*cpus->ranks));
	cpus->cpus = xcalloc(cpus->count, sizeof(*cpus->cpus));
	for (uint32_t i = 0; i < cpus->count; i++) {
		cpus->cpus[i] = (uint16_t)found.lanes.items[i].thread;
		cpus->ranks[cpus->cpus[i]] = (uint16_t)i;
	}
	index->size += (PROFILE_NO_CPU + 1) * sizeof(*cpus->ranks);
	lanes_fini(&found);
	return true;
}

static struct timeline_index *make_index(struct tally *tally, bool of_cpus)
{
	struct timeline_index *index;
	struct sorting sorting = {.tally = tally, .in_order = true};

	sorting.index = index = xcalloc(1, sizeof(*index));
	find_lanes(&sorting);
	if (is_worth_it(index, tally->session))
		sort_runs(&sorting);
	else
		sorting.in_order = false;
	lanes_fini(&sorting.lanes);
	if (sorting.in_order && of_cpus)
		sorting.in_order = add_cpus(index, tally);
	if (sorting.in_order)
		add_processes(index, tally, sorting.lanes.clocks);
	if (!sorting.in_order || !make_lanes(index, tally->session)) {
		index_free(index);
		return NULL;
	}
	for (size_t i = 0; i < index->lane_count; i++)
		index->size += lane_size(&index->lanes[i]);
	return index;
}

static const struct timeline_index *kept_index(struct tally *tally, bool of_cpus)
{
	struct timeline_index *index;

	if (tally->timelines[of_cpus] || tally->no_timeline[of_cpus])
		return tally->timelines[of_cpus];
	index = make_index(tally, of_cpus);
	if (!index) {
		tally->no_timeline[of_cpus] =
			!tally->session->watch || !tally->session->watch->cancelled;
		return NULL;
	}
	tally->timelines[of_cpus] = index;
	tally->timeline_size += index->size;
	tally->free_timeline = index_free;
	return index;
}

const struct timeline_index *timeline_index_of(struct tally *tally)
{
	return kept_index(tally, false);
}

const struct timeline_index *timeline_index_of_cpus(struct tally *tally)
{
	return kept_index(tally, true);
}
