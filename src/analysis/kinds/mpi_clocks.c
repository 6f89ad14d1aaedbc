/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/mpi_clocks.h"

#include "base/compare.h"

#include <math.h>
#include <stdlib.h>

/* ---- whose clock ---- */

/*
 * What a log does not say of itself its experiment's founder does.  Times of gprofng's descendants
 * count from the founder's begin, though their logs have a begin of their own.
 */
struct clock_facts {
	const char *clock, *host;
	uint64_t mono_ns, wall_ns;
};

static struct clock_facts facts_of(const struct session *session,
				   const struct session_process *process)
{
	const struct experiment_log *own = &process->process->log;
	const struct experiment_log *founder =
		&session->experiments.items[process->experiment]->processes.items[0].log;
	const char *host = own->hostname ? own->hostname : founder->hostname;
	const char *clock = own->clock ? own->clock : founder->clock;

	return (struct clock_facts){
		.clock = clock	? clock
			 : host ? host
				: "",
		.host = host,
		.mono_ns = own->mono_ns && !own->is_gprofng ? own->mono_ns : founder->mono_ns,
		.wall_ns = own->wall_ns ? own->wall_ns : founder->wall_ns,
	};
}

/* Its log says it, but not of one that was killed, or goes on. */
static uint64_t last_of(const struct session *session, size_t index)
{
	uint64_t last_ns = session->scanned.items[index].process->log.last_ns;
	uint64_t end_ns = session->processes.items[index].end_ns;

	return end_ns > last_ns ? end_ns : last_ns;
}

static char *clock_key(const struct session_process *process, const struct clock_facts *facts)
{
	return xasprintf("%u %s", process->group, facts->clock);
}

static void add_process(struct mpi_clocks *clocks, struct string_table *keys,
			const struct session *session, const struct mpi_worlds *worlds,
			size_t index)
{
	const struct session_process *process = &session->scanned.items[index];
	const struct experiment_log *log = &process->process->log;
	struct mpi_process_clock *of = &clocks->of[index];
	struct clock_facts facts = facts_of(session, process);
	char *key = clock_key(process, &facts);

	of->clock = string_table_add(keys, key);
	free(key);
	if (of->clock == clocks->clocks.count)
		*vec_push(&clocks->clocks) = (struct mpi_clock){
			.group = process->group,
			.host = facts.host,
			.base_ns = facts.mono_ns,
			.wall_ns = facts.wall_ns - facts.mono_ns,
			.begin_ns = INFINITY,
			.end_ns = -INFINITY,
		};
	struct mpi_clock *clock = &clocks->clocks.items[of->clock];

	of->base_ns = (int64_t)(facts.mono_ns - clock->base_ns);
	clock->ranks += worlds->of[index].rank != MPI_RANK_UNKNOWN &&
			process->process->traces[TRACE_MPI].rows.count;
	clock->begin_ns = fmin(clock->begin_ns, (double)of->base_ns + (double)log->start_ns);
	clock->end_ns = fmax(clock->end_ns, (double)of->base_ns + (double)last_of(session, index));
}

/* A process without events, as a launcher has none, says nothing of another clock than theirs. */
static void add_eventless(struct mpi_clocks *clocks, const struct string_table *keys,
			  const struct session *session, size_t index)
{
	const struct session_process *process = &session->scanned.items[index];
	struct mpi_process_clock *of = &clocks->of[index];
	struct clock_facts facts = facts_of(session, process);
	char *key = clock_key(process, &facts);

	of->clock = string_table_find(keys, key);
	free(key);
	if (of->clock != HASH_NONE)
		of->base_ns = (int64_t)(facts.mono_ns - clocks->clocks.items[of->clock].base_ns);
}

struct mpi_clocks *mpi_clocks_new(const struct session *session, const struct mpi_worlds *worlds)
{
	struct mpi_clocks *clocks = xcalloc(1, sizeof(*clocks));
	struct string_table keys = {0};

	clocks->processes = session->scanned.count;
	clocks->of = xcalloc(clocks->processes + 1, sizeof(*clocks->of));
	/* Ranks first: the first one of a group has the clock that the line is of. */
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < clocks->processes; i++)
			if (session->scanned.items[i].row_count &&
			    (worlds->of[i].rank != MPI_RANK_UNKNOWN) == !turn)
				add_process(clocks, &keys, session, worlds, i);
	for (size_t i = 0; i < clocks->processes; i++)
		if (!session->scanned.items[i].row_count)
			add_eventless(clocks, &keys, session, i);
	for (size_t i = 0; i < clocks->clocks.count && !clocks->are_several; i++)
		clocks->are_several = mpi_clocks_are_several(clocks, clocks->clocks.items[i].group);
	string_table_fini(&keys);
	return clocks;
}

bool mpi_clocks_are_several(const struct mpi_clocks *clocks, uint32_t group)
{
	size_t count = 0;

	for (size_t i = 0; i < clocks->clocks.count && count < 2; i++)
		count += clocks->clocks.items[i].group == group;
	return count > 1;
}

/* ---- what is known of them ---- */

static struct mpi_clock_pair *pair_of(struct mpi_clocks *clocks, uint32_t x, uint32_t y)
{
	uint32_t fresh = (uint32_t)clocks->pairs.count;
	uint32_t number = hash_map_put(&clocks->pair_of, (uint64_t)x << 32 | y, fresh);

	if (number == fresh)
		*vec_push(&clocks->pairs) = (struct mpi_clock_pair){.x = x, .y = y};
	return &clocks->pairs.items[number];
}

void mpi_clocks_note(struct mpi_clocks *clocks, uint32_t process, uint64_t time_ns,
		     uint32_t later_process, uint64_t later_ns)
{
	const struct mpi_process_clock *of = &clocks->of[process];
	const struct mpi_process_clock *later_of = &clocks->of[later_process];

	if (of->clock == later_of->clock || of->clock == HASH_NONE || later_of->clock == HASH_NONE)
		return;
	double time = (double)(int64_t)(time_ns + (uint64_t)of->base_ns);
	double later = (double)(int64_t)(later_ns + (uint64_t)later_of->base_ns);

	if (of->clock < later_of->clock)
		clock_bounds_add_least(&pair_of(clocks, of->clock, later_of->clock)->bounds,
				       (struct clock_bound){later, time - later});
	else
		clock_bounds_add_most(&pair_of(clocks, later_of->clock, of->clock)->bounds,
				      (struct clock_bound){time, later - time});
}

/* ---- the line ---- */

static void fit_pairs(struct mpi_clocks *clocks)
{
	for (size_t i = 0; i < clocks->pairs.count; i++) {
		struct mpi_clock_pair *pair = &clocks->pairs.items[i];
		const struct mpi_clock *y = &clocks->clocks.items[pair->y];

		pair->is_fit = clock_line_fit(&pair->bounds, y->begin_ns, y->end_ns, &pair->line);
	}
}

/* By the line of one of the two, the other's. */
static struct clock_line beyond(const struct mpi_clock_pair *pair, const struct clock_line *line,
				bool is_x)
{
	const struct clock_line *more = &pair->line;
	double rate = 1 + line->drift;

	if (is_x)
		return (struct clock_line){
			.offset_ns = line->offset_ns + more->offset_ns * rate,
			.drift = line->drift + more->drift * rate,
			.error_ns = line->error_ns + more->error_ns,
		};
	rate /= 1 + more->drift;
	return (struct clock_line){
		.offset_ns = line->offset_ns - more->offset_ns * rate,
		.drift = (line->drift - more->drift) / (1 + more->drift),
		.error_ns = line->error_ns + more->error_ns,
	};
}

/* The clock that is not known so far and is reached with the least error; false: there is none. */
static bool reach_next(struct mpi_clocks *clocks)
{
	struct clock_line best = {.error_ns = INFINITY};
	struct mpi_clock *next = NULL;

	for (size_t i = 0; i < clocks->pairs.count; i++) {
		const struct mpi_clock_pair *pair = &clocks->pairs.items[i];
		struct mpi_clock *x = &clocks->clocks.items[pair->x];
		struct mpi_clock *y = &clocks->clocks.items[pair->y];

		if (!pair->is_fit || x->is_known == y->is_known)
			continue;
		struct clock_line line =
			beyond(pair, x->is_known ? &x->line : &y->line, x->is_known);

		if (line.error_ns < best.error_ns) {
			best = line;
			next = x->is_known ? y : x;
		}
	}
	if (!next)
		return false;
	next->line = best;
	next->is_known = true;
	return true;
}

/* The first one of its group. */
static const struct mpi_clock *reference_of(const struct mpi_clocks *clocks, uint32_t group)
{
	const struct mpi_clock *clock = clocks->clocks.items;

	while (clock->group != group)
		clock++;
	return clock;
}

static void by_wall_clocks(struct mpi_clocks *clocks)
{
	for (size_t i = 0; i < clocks->clocks.count; i++) {
		struct mpi_clock *clock = &clocks->clocks.items[i];
		const struct mpi_clock *first = reference_of(clocks, clock->group);

		if (!clock->is_known)
			clock->line.offset_ns = (double)(int64_t)(clock->wall_ns - first->wall_ns +
								  clock->base_ns - first->base_ns);
	}
}

/* Where a process's time 0 is on the line, counted from its first clock's base. */
static double begin_of(const struct mpi_clocks *clocks, const struct mpi_process_clock *of)
{
	const struct clock_line *line = &clocks->clocks.items[of->clock].line;

	return (double)of->base_ns * (1 + line->drift) + line->offset_ns;
}

/* From an experiment's time 0 to its end, on the line before that has a begin. */
struct run_span {
	uint32_t group, experiment;
	double begin_ns, end_ns;
	double zero_ns; /* where the line begins for it */
};

static int by_begin(const void *a, const void *b)
{
	const struct run_span *x = a, *y = b;

	COMPARE(x->group, y->group);
	COMPARE(x->begin_ns, y->begin_ns);
	COMPARE(x->experiment, y->experiment);
	return 0;
}

static int by_experiment(const void *a, const void *b)
{
	const struct run_span *x = a, *y = b;

	COMPARE(x->experiment, y->experiment);
	return 0;
}

/* By experiment. */
static struct run_span *spans_of(const struct mpi_clocks *clocks, const struct session *session)
{
	size_t count = session->experiments.count;
	struct run_span *spans = xcalloc(count + 1, sizeof(*spans));

	for (uint32_t i = 0; i < count; i++)
		spans[i] = (struct run_span){
			.experiment = i, .begin_ns = INFINITY, .end_ns = -INFINITY};
	for (size_t i = 0; i < clocks->processes; i++) {
		const struct session_process *process = &session->scanned.items[i];
		struct run_span *span = &spans[process->experiment];
		double begin_ns;

		if (clocks->of[i].clock == HASH_NONE)
			continue;
		begin_ns = begin_of(clocks, &clocks->of[i]);
		span->group = process->group;
		span->begin_ns = fmin(span->begin_ns, begin_ns);
		span->end_ns = fmax(span->end_ns, begin_ns + (double)last_of(session, i));
	}
	return spans;
}

/* Those that overlap, if only by way of others, begin with the first of them. */
static void find_runs(struct run_span *spans, size_t count)
{
	double end_ns = -INFINITY;

	if (count)
		qsort(spans, count, sizeof(*spans), by_begin);
	for (size_t i = 0; i < count; i++) {
		bool is_first =
			!i || spans[i].group != spans[i - 1].group || spans[i].begin_ns > end_ns;

		spans[i].zero_ns = is_first ? spans[i].begin_ns : spans[i - 1].zero_ns;
		end_ns = is_first ? spans[i].end_ns : fmax(end_ns, spans[i].end_ns);
	}
	if (count)
		qsort(spans, count, sizeof(*spans), by_experiment);
}

static void place_processes(struct mpi_clocks *clocks, const struct session *session)
{
	struct run_span *spans = spans_of(clocks, session);

	find_runs(spans, session->experiments.count);
	for (size_t i = 0; i < clocks->processes; i++) {
		struct mpi_process_clock *of = &clocks->of[i];
		const struct run_span *span = &spans[session->scanned.items[i].experiment];

		if (of->clock == HASH_NONE)
			continue;
		of->shift = (struct clock_shift){
			.shift_ns = llround(begin_of(clocks, of) - span->zero_ns),
			.drift = clocks->clocks.items[of->clock].line.drift};
	}
	free(spans);
}

void mpi_clocks_fit(struct mpi_clocks *clocks, const struct session *session)
{
	for (size_t i = 0; i < clocks->clocks.count; i++) {
		struct mpi_clock *clock = &clocks->clocks.items[i];

		clock->is_known = clock == reference_of(clocks, clock->group);
	}
	fit_pairs(clocks);
	while (reach_next(clocks))
		;
	by_wall_clocks(clocks);
	place_processes(clocks, session);
}

/* What a clock showed more than the first one of its group, ns, when itself at its base. */
static double ahead_ns(const struct mpi_clocks *clocks, const struct mpi_clock *own)
{
	const struct mpi_clock *first = reference_of(clocks, own->group);

	return (double)(int64_t)(own->base_ns - first->base_ns) - own->line.offset_ns;
}

struct mpi_clock_info mpi_clocks_info(const struct mpi_clocks *clocks, uint32_t clock)
{
	const struct mpi_clock *own = &clocks->clocks.items[clock];

	return (struct mpi_clock_info){
		.host = own->host,
		.ranks = own->ranks,
		.ahead_s = ahead_ns(clocks, own) / 1e9,
		.drift_ppm = -own->line.drift * 1e6,
		.is_known = own->is_known,
		.error_s = own->line.error_ns / 1e9,
	};
}

static void free_one(struct mpi_clocks *clocks)
{
	for (size_t i = 0; i < clocks->pairs.count; i++)
		clock_bounds_fini(&clocks->pairs.items[i].bounds);
	vec_fini(&clocks->pairs);
	hash_map_fini(&clocks->pair_of);
	vec_fini(&clocks->clocks);
	free(clocks->of);
	free(clocks);
}

void mpi_clocks_free(struct mpi_clocks *clocks)
{
	while (clocks) {
		struct mpi_clocks *before = clocks->before;

		free_one(clocks);
		clocks = before;
	}
}
