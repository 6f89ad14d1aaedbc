/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chosen events of a tally by thread and time, in blocks: what each block sums to is made once,
 * so that a timeline of any range reads whole blocks where they lie in one cell, and the events
 * themselves where a cell begins or ends within a block.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_TIMELINE_INDEX_H
#define HELIO_ANALYSIS_TIMELINE_INDEX_H

#include "analysis/views/timeline_walk.h"

enum {
	TIMED_ROWS = 1024,  /* of a block: a group of events that end at once is not divided, … */
	TIMED_GROUP = 4096, /* … unless it is larger than that */
	TIMED_BRANCH = 8,   /* blocks of a level that are one of the next */
};

/*
 * A function's own time in a block, in the order in which they come in it; in an index of
 * processors what a key of timed_cpus has.
 */
struct timed_own {
	uint32_t function, us;
};

/*
 * The processors of an index by them, and the keys of what a block sums to: first the events of
 * each kind on each processor, then the time by state, then that of each function there.
 */
struct timed_cpus {
	uint32_t count;
	uint32_t states, functions; /* the first keys of those */
	uint32_t function_count;
	uint32_t end;	 /* of the keys */
	uint16_t *ranks; /* by processor: which of them it is */
	uint16_t *cpus;	 /* by rank, in order */
};
static inline uint32_t timed_key_events(uint32_t rank, int kind)
{
	return rank * TIMELINE_KINDS + (uint32_t)kind;
}
static inline uint32_t timed_key_state(const struct timed_cpus *cpus, uint32_t rank, unsigned state)
{
	return cpus->states + rank * PROFILE_STATES + state;
}
static inline uint32_t timed_key_function(const struct timed_cpus *cpus, uint32_t rank,
					  uint32_t function)
{
	return cpus->functions + rank * cpus->function_count + function;
}

/* What the chosen events of a block sum to. */
struct timed_sums {
	uint64_t begin_ns, end_ns; /* of the first and the last; none: UINT64_MAX, 0 */
	uint64_t state_us[PROFILE_STATES];
	uint32_t events;
	uint32_t own_count; /* TIMED_NO_OWN: the list would not be much shorter than the events */
	size_t own;	    /* the first of its functions in the lane's list */
};
#define TIMED_NO_OWN UINT32_MAX

/* Clock events of a thread that lie side by side in the rows. */
struct timed_part {
	size_t row, count; /* in the rows … */
	size_t at;	   /* … and as events of the thread */
};

/* Where a block of the lowest level begins. */
struct timed_place {
	size_t at;	  /* event of the thread */
	uint32_t part;	  /* that it is in */
	uint64_t last_ns; /* how far the thread had come, by its own time */
};

/* Events of another kind: they only count where they end. */
struct timed_moments {
	size_t row;
	uint32_t rows, events;
	uint64_t first_ns, last_ns; /* of the chosen */
	size_t own;		    /* in an index of processors: as in timed_sums */
	uint32_t own_count;
};

struct timed_level {
	VEC(struct timed_sums) blocks;
};

struct timed_lane {
	size_t process; /* of session->scanned */
	uint64_t thread;
	uint64_t last_ns; /* the end of its last event, chosen or not, on the line */
	VEC(struct timed_part) parts;
	VEC(struct timed_place) places; /* of levels.items[0] */
	VEC(struct timed_level) levels; /* from the lowest to one of few blocks */
	VEC(struct timed_own) own;
	VEC(struct timed_moments) moments[TIMELINE_KINDS]; /* not of the clock */
};

struct timed_process {
	const struct process *process;
	struct clock_shift shift;	  /* of its times */
	uint32_t *functions;		  /* by node of its stacks: of the leaf, as it is shown */
	uint64_t *chosen[TIMELINE_KINDS]; /* bits by row; NULL: all are */
};

struct timeline_index {
	struct timed_process *processes; /* as session->scanned */
	size_t process_count;
	struct timed_lane *lanes; /* by process and thread */
	size_t lane_count;
	uint64_t last_ns;	/* the end of the last event of all */
	size_t size;		/* bytes */
	struct timed_cpus cpus; /* of an index of processors; count 0: it is one of threads */
};

/*
 * That of a tally, made when it is first asked for.  NULL: some thread's events are not in the
 * order of time, as in damaged files; there are many threads of a few events each; or the work was
 * cancelled.
 */
const struct timeline_index *timeline_index_of(struct tally *tally);
/* The same with sums by processor; NULL also where these have too many functions. */
const struct timeline_index *timeline_index_of_cpus(struct tally *tally);

/* Calls work(state, i) for i < count by several threads, states[0] being this one's. */
void timeline_in_parallel(size_t count, void (*work)(void *state, size_t index),
			  void *const *states, size_t threads);

/* Clock events as they are read: of one part, from the begin of a group to the end of one. */
struct timed_rows {
	size_t count;
	uint64_t time_us[TIMED_ROWS + TIMED_GROUP], weight_us[TIMED_ROWS + TIMED_GROUP];
	uint32_t type[TIMED_ROWS + TIMED_GROUP], node[TIMED_ROWS + TIMED_GROUP];
	uint32_t cpu[TIMED_ROWS + TIMED_GROUP];
	bool has_cpus; /* they are read too */
};

/* An event where it lies, on the line. */
struct timed_moment {
	uint64_t begin_ns, end_ns, took_ns; /* as those of timed_event */
	uint32_t type, node;
	uint32_t cpu; /* where they are read */
};

/* Room for them, as the index needs it; the caller's to free. */
struct timed_rows *timed_rows_new(const struct timeline_index *index);
/* Reads at most `most` rows, and those that belong to the last one's group. */
void timed_rows_read(struct timed_rows *rows, const struct rows *from,
		     const struct timed_part *part, size_t first, size_t most);

static inline bool timed_is_chosen(const uint64_t *chosen, size_t row)
{
	return !chosen || (chosen[row / 64] >> row % 64 & 1);
}

/*
 * Visits the chosen ones of the rows, the first of which is `row`.  *last: how far the thread has
 * come.  False: it went back in time.
 */
static inline __attribute__((always_inline)) bool
timed_rows_visit(const struct timed_rows *rows, size_t row, const struct timed_process *process,
		 uint64_t *last, void (*visit)(const struct timed_moment *moment, void *arg),
		 void *arg)
{
	const uint64_t *chosen = process->chosen[TIMELINE_CLOCK];
	bool in_order = true;

	for (size_t i = 0, next; i < rows->count; i = next) {
		uint64_t end = rows->time_us[i] * 1000, whole = 0, at;
		uint64_t least = *last < end ? *last : end;

		in_order = in_order && *last <= end;
		*last = *last > end ? *last : end;
		for (next = i + 1; next < rows->count && next - i < TIMED_GROUP &&
				   rows->time_us[next] == rows->time_us[i];)
			next++;
		at = end;
		for (size_t k = i; k < next; k++) {
			uint64_t took = rows->weight_us[k] * 1000;

			if (took > end - least - whole) {
				at = least;
				break;
			}
			whole += took;
			at = end - whole;
		}
		for (size_t k = i; k < next; k++) {
			struct timed_moment moment = {.begin_ns = at,
						      .took_ns = rows->weight_us[k] * 1000,
						      .type = rows->type[k],
						      .node = rows->node[k],
						      .cpu = rows->cpu[k]};

			at = end - at > moment.took_ns ? at + moment.took_ns : end;
			moment.end_ns = at;
			if (!timed_is_chosen(chosen, row + k))
				continue;
			clock_shift_event(&process->shift, &moment.begin_ns, &moment.end_ns);
			visit(&moment, arg);
		}
	}
	return in_order;
}

/* The events of a block of the lowest level, likewise; place: then that of the next one. */
static inline __attribute__((always_inline)) bool
timed_block_visit(const struct timed_lane *lane, const struct timed_process *process,
		  struct timed_place *place, struct timed_rows *rows,
		  void (*visit)(const struct timed_moment *moment, void *arg), void *arg)
{
	bool in_order = true;

	for (size_t done = 0; done < TIMED_ROWS && place->part < lane->parts.count;) {
		const struct timed_part *part = &lane->parts.items[place->part];
		size_t first = place->at - part->at;

		timed_rows_read(rows, &process->process->profile.rows, part, first,
				TIMED_ROWS - done);
		in_order &= timed_rows_visit(rows, part->row + first, process, &place->last_ns,
					     visit, arg);
		done += rows->count;
		place->at += rows->count;
		if (place->at == part->at + part->count)
			place->part++;
	}
	return in_order;
}

#endif
