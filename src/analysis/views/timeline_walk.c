/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/views/timeline_walk.h"

#include "analysis/index/index_group.h"
#include "analysis/kinds/mpi_match.h"

#include <stdlib.h>

#define X(number, name, text) [number] = text,
const char *const timeline_states[PROFILE_STATES] = {FORMAT_STATES(X)[PROFILE_STATE_CPU] = "cpu"};
#undef X
#define X(NAME, name) [TIMELINE_TRACE + TRACE_##NAME] = #name,
const char *const timeline_kinds[TIMELINE_KINDS] = {[TIMELINE_CLOCK] = "clock", FORMAT_KINDS(X)};
#undef X

bool timeline_is_off_cpu(enum event_kind kind, uint32_t type)
{
	return kind == EVENTS_CLOCK && type != FORMAT_STATE_USER && type != FORMAT_STATE_SYSTEM &&
	       type != FORMAT_STATE_TRAP && type != PROFILE_STATE_CPU;
}

/* ---- the walk ---- */

/* A tick finds a few; of damaged files there may be any number. */
enum { WAITING_MOST = 4096 };

/* Clock events that end at one moment wait here until all of them are known. */
struct waiting_event {
	struct timed_event event;
	bool chosen;
};

struct walk {
	void (*visit)(const struct timed_event *event, void *arg);
	void *arg;
	VEC(struct waiting_event) waiting;
	const struct experiment_profile *profile;
	const struct clock_shift *shift;
	uint64_t *ends;	 /* by its threads: how far each has come, ns */
	uint64_t thread; /* the last one that was asked for … */
	uint64_t *end;	 /* … and its end; NULL: none was */
};

static uint64_t *end_of(struct walk *walk, uint64_t thread)
{
	if (!walk->end || walk->thread != thread) {
		walk->thread = thread;
		walk->end = &walk->ends[profile_find_thread(walk->profile, thread) -
					walk->profile->threads.items];
	}
	return walk->end;
}

/* When the first of those that wait began: not before another's end, be the file damaged. */
static uint64_t begin_of(struct walk *walk, uint64_t end)
{
	uint64_t *last = end_of(walk, walk->waiting.items[0].event.thread);
	uint64_t least = *last < end ? *last : end, whole = 0;

	*last = *last > end ? *last : end;
	for (size_t i = 0; i < walk->waiting.count; i++) {
		uint64_t took = walk->waiting.items[i].event.took_ns;

		if (took > end - least - whole)
			return least;
		whole += took;
	}
	return end - whole;
}

static void visit_on_line(struct walk *walk, struct timed_event *event)
{
	clock_shift_event(walk->shift, &event->begin_ns, &event->end_ns);
	walk->visit(event, walk->arg);
}

static void flush(struct walk *walk)
{
	uint64_t at, end;

	if (!walk->waiting.count)
		return;
	end = walk->waiting.items[0].event.end_ns;
	at = begin_of(walk, end);
	for (size_t i = 0; i < walk->waiting.count; i++) {
		struct timed_event *event = &walk->waiting.items[i].event;

		event->begin_ns = at;
		at = end - at > event->took_ns ? at + event->took_ns : end;
		event->end_ns = at;
		if (walk->waiting.items[i].chosen)
			visit_on_line(walk, event);
	}
	walk->waiting.count = 0;
}

static bool ends_with(const struct timed_event *first, const struct timed_event *event)
{
	return first->thread == event->thread && first->end_ns == event->end_ns;
}

static void wait_for_others(struct walk *walk, const struct timed_event *event, bool chosen)
{
	if (walk->waiting.count && (walk->waiting.count == WAITING_MOST ||
				    !ends_with(&walk->waiting.items[0].event, event)))
		flush(walk);
	*vec_push(&walk->waiting) = (struct waiting_event){*event, chosen};
}

static void walk_piece(const struct scan_piece *piece, void *state)
{
	const struct event_run *run = piece->run;
	const uint64_t *times = event_times(run), *types = event_column(run, ROW_TYPE);
	const uint32_t *nodes = event_stacks(run);
	struct walk *walk = state;

	if (run->kind != EVENTS_CLOCK)
		flush(walk);
	for (size_t i = 0; i < run->count; i++) {
		bool chosen = !piece->measuring.chosen || piece->measuring.chosen[i];
		struct timed_event event = {.thread = run->thread,
					    .kind = run->kind,
					    .end_ns = times[i],
					    .took_ns = event_duration(run, i),
					    .type = (uint32_t)types[i],
					    .node = nodes[i],
					    .rows = run->rows,
					    .row = run->first + i};

		if (run->kind == EVENTS_CLOCK) {
			wait_for_others(walk, &event, chosen);
			continue;
		}
		event.begin_ns = event.end_ns > event.took_ns ? event.end_ns - event.took_ns : 0;
		if (chosen)
			visit_on_line(walk, &event);
	}
}

void timeline_walk(const struct tally *tally, const struct session_process *process,
		   void (*visit)(const struct timed_event *event, void *arg), void *arg)
{
	const struct experiment_profile *profile = &process->process->profile;
	const struct mpi_clocks *clocks = mpi_clocks_of(tally->session);
	struct walk walk = {.visit = visit,
			    .arg = arg,
			    .profile = profile,
			    .shift = &clocks->of[process->id - 1].shift,
			    .ends = xcalloc(profile->threads.count + 1, sizeof(*walk.ends))};

	scan_in_order(tally, process, walk_piece, &walk);
	flush(&walk);
	vec_fini(&walk.waiting);
	free(walk.ends);
}

/* ---- lanes ---- */

struct finding {
	struct lanes *lanes;
	const struct session_process *process;
	uint64_t begin_ns;
	struct event_columns *columns;
};

static uint64_t lane_key(const struct session_process *process, uint64_t thread)
{
	return (uint64_t)process->id << 32 | (thread & UINT32_MAX);
}

static void find_lane(const struct event_run *run, void *arg)
{
	struct finding *finding = arg;
	struct lanes *lanes = finding->lanes;
	uint64_t key = lane_key(finding->process, run->thread);
	uint32_t fresh = (uint32_t)lanes->lanes.count;
	struct event_run last;
	uint64_t end;

	if (!run->count)
		return;
	last = event_run_piece(run, run->count - 1, finding->columns);
	end = mpi_clocks_time(lanes->clocks, finding->process->id - 1, event_times(&last)[0]);
	lanes->last_ns = end > lanes->last_ns ? end : lanes->last_ns;
	if (end < finding->begin_ns)
		return;
	if (fresh == LANES_MOST)
		lanes->has_rest |= hash_map_get(&lanes->known, key) == HASH_NONE;
	else if (hash_map_put(&lanes->known, key, fresh) == fresh)
		*vec_push(&lanes->lanes) = (struct timeline_lane){.process = finding->process->id,
								  .thread = run->thread};
}

static int by_thread(const void *a, const void *b)
{
	const struct timeline_lane *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

void lanes_find(struct lanes *lanes, const struct tally *tally, uint64_t begin_ns)
{
	struct session *session = tally->session;
	struct finding finding = {
		.lanes = lanes, .begin_ns = begin_ns, .columns = xmalloc(sizeof(*finding.columns))};

	lanes->clocks = mpi_clocks_of(session);
	for (size_t i = 0; i < session->scanned.count; i++) {
		finding.process = &session->scanned.items[i];
		for (int kind = 0; tally_looks_at(tally, finding.process) && kind < EVENTS_KINDS;
		     kind++)
			events_for_each_run(finding.process->process, (enum event_kind)kind,
					    find_lane, &finding);
	}
	free(finding.columns);
	if (lanes->lanes.count)
		qsort(lanes->lanes.items, lanes->lanes.count, sizeof(*lanes->lanes.items),
		      by_thread);
	hash_map_fini(&lanes->known);
	lanes->known = (struct hash_map){0};
	for (uint32_t i = 0; i < lanes->lanes.count; i++)
		hash_map_put(&lanes->known,
			     (uint64_t)lanes->lanes.items[i].process << 32 |
				     (lanes->lanes.items[i].thread & UINT32_MAX),
			     i);
	if (lanes->has_rest)
		vec_push(&lanes->lanes);
}

/* ---- processors ---- */

/* Those of a process. */
struct finding_cpus {
	struct lanes *lanes;
	size_t process;
};

static void find_cpus(const struct event_run *piece, void *arg)
{
	const uint64_t *cpus = event_column(piece, ROW_CPU), *times = event_times(piece);
	const struct finding_cpus *finding = arg;
	struct lanes *lanes = finding->lanes;

	for (size_t i = 0; i < piece->count; i++) {
		uint32_t fresh = (uint32_t)lanes->lanes.count;
		uint64_t end_ns = mpi_clocks_time(lanes->clocks, finding->process, times[i]);

		lanes->last_ns = end_ns > lanes->last_ns ? end_ns : lanes->last_ns;
		if ((!i || cpus[i] != cpus[i - 1]) &&
		    hash_map_put(&lanes->known, cpus[i], fresh) == fresh)
			*vec_push(&lanes->lanes) = (struct timeline_lane){.thread = cpus[i]};
	}
}

void lanes_find_cpus(struct lanes *lanes, const struct tally *tally)
{
	const struct session *session = tally->session;

	lanes->is_of_cpus = true;
	lanes->clocks = mpi_clocks_of(tally->session);
	for (size_t i = 0; i < session->scanned.count; i++) {
		struct finding_cpus finding = {lanes, i};

		for (int kind = 0;
		     tally_looks_at(tally, &session->scanned.items[i]) && kind < EVENTS_KINDS;
		     kind++)
			events_for_each_piece(session->scanned.items[i].process,
					      (enum event_kind)kind, find_cpus, &finding);
	}
	if (lanes->lanes.count)
		qsort(lanes->lanes.items, lanes->lanes.count, sizeof(*lanes->lanes.items),
		      by_thread);
	hash_map_clear(&lanes->known);
	for (uint32_t i = 0; i < lanes->lanes.count; i++)
		hash_map_put(&lanes->known, lanes->lanes.items[i].thread, i);
}

uint32_t lanes_at_cpu(const struct lanes *lanes, const struct timed_event *event)
{
	return hash_map_get(&lanes->known, rows_get(event->rows, ROW_CPU, event->row));
}

/* ---- what lanes are called ---- */

static const char *name_of(const struct lanes *lanes, const struct timeline_lane *lane,
			   const struct session *session, struct arena *arena)
{
	if (lanes->is_of_cpus)
		return lane->thread == PROFILE_NO_CPU
			       ? "<Unknown>"
			       : arena_printf(arena, "CPU %llu", (unsigned long long)lane->thread);
	if (!lane->process)
		return "All other threads";
	return index_thread_label(session, arena, (uint64_t)lane->process << 32 | lane->thread);
}

uint32_t lanes_at(const struct lanes *lanes, const struct session_process *process, uint64_t thread)
{
	uint32_t lane = hash_map_get(&lanes->known, lane_key(process, thread));

	return lane == HASH_NONE && lanes->has_rest ? (uint32_t)lanes->lanes.count - 1 : lane;
}

void lanes_fini(struct lanes *lanes)
{
	hash_map_fini(&lanes->known);
	vec_fini(&lanes->lanes);
}

struct timeline_range lanes_range(const struct lanes *lanes, struct timeline_range range)
{
	if (!range.end_ns)
		range.end_ns = lanes->last_ns + 1;
	if (range.end_ns <= range.begin_ns)
		range.end_ns = range.begin_ns + 1;
	return range;
}

static bool has_events(const struct timeline_lane *lane)
{
	for (int i = 0; i < TIMELINE_KINDS; i++)
		if (lane->events[i])
			return true;
	return false;
}

/* A processor's lane, and that of all other threads, have none. */
static void set_shift(const struct lanes *lanes, struct timeline_lane *lane)
{
	if (!lane->process)
		return;
	const struct clock_shift *shift = &lanes->clocks->of[lane->process - 1].shift;

	lane->shift_s = (double)shift->shift_ns / 1e9;
	lane->drift_ppm = shift->drift * 1e6;
}

struct timeline_lane *lanes_kept(const struct lanes *lanes, const struct session *session,
				 struct arena *arena, const bool *seen, uint32_t *moved,
				 size_t *count)
{
	struct timeline_lane *kept =
		arena_array(arena, struct timeline_lane, lanes->lanes.count + 1);

	*count = 0;
	for (size_t i = 0; i < lanes->lanes.count; i++) {
		const struct timeline_lane *lane = &lanes->lanes.items[i];

		moved[i] = HASH_NONE;
		if (!has_events(lane) && !(seen && seen[i]))
			continue;
		moved[i] = (uint32_t)*count;
		kept[*count] = *lane;
		set_shift(lanes, &kept[*count]);
		kept[(*count)++].name = name_of(lanes, lane, session, arena);
	}
	return kept;
}

struct timeline_hosts lanes_hosts(const struct lanes *lanes, struct arena *arena)
{
	const struct mpi_clocks *clocks = lanes->clocks;
	struct timeline_hosts hosts = {0};

	hosts.items = arena_array(arena, struct mpi_clock_info, clocks->clocks.count + 1);
	for (uint32_t i = 0; i < clocks->clocks.count; i++)
		if (mpi_clocks_are_several(clocks, clocks->clocks.items[i].group))
			hosts.items[hosts.count++] = mpi_clocks_info(clocks, i);
	return hosts;
}
