/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures: what events add up to at their call stacks.  A metric is one measure, or, of clock
 * events, a set of states.  Private to this module.
 *
 * A new kind of data brings its measures in measures_NAME.h, and in kind_NAME.c what an event of it
 * is worth and its rows of the catalogue of metrics (kinds.h).
 */
#ifndef HELIO_ANALYSIS_MEASURE_H
#define HELIO_ANALYSIS_MEASURE_H

#include "analysis/kinds/measures_counter.h"
#include "analysis/kinds/measures_heap.h"
#include "analysis/kinds/measures_io.h"
#include "analysis/kinds/measures_jheap.h"
#include "analysis/kinds/measures_mpi.h"
#include "analysis/kinds/measures_omp.h"
#include "analysis/kinds/measures_sync.h"
#include "analysis/session/events.h"
#ifdef HELIO_KIND_DEMO
#include "analysis/measures_demo.h"
#endif

/* The clock's states of a thread on a processor, a bit for each. */
#define CLOCK_CPU_STATES                                                                           \
	(1u << FORMAT_STATE_USER | 1u << FORMAT_STATE_SYSTEM | 1u << FORMAT_STATE_TRAP |           \
	 1u << PROFILE_STATE_CPU)

enum { MEASURE_COUNTERS_MAX = 16 };

enum measure {
	/* the clock's states, by their numbers, in µs; then: */
	MEASURE_FIRST_THREAD = PROFILE_STATES, /* all states of each process's first thread */
#define MEASURE(name) MEASURE_##name,
#define X(NAME, name)                                                                              \
	MEASURE_BEFORE_##NAME, MEASURE_TO_##NAME = MEASURE_BEFORE_##NAME - 1,                      \
			       MEASURES_##NAME(MEASURE)
	FORMAT_KINDS(X)
#undef X
#undef MEASURE
		MEASURE_COUNTER, /* of the session's first counter, and so on */
	MEASURE_COUNT = MEASURE_COUNTER + MEASURE_COUNTERS_MAX,
	MEASURE_NONE = MEASURE_COUNT,
};

/* Sums by measure, each an array over nodes; NULL: no event of it has been seen. */
struct measure_sums {
	size_t nodes;
	uint64_t *of[MEASURE_COUNT];
};

/*
 * Sums that are finished, which call stacks by the million have: of a measure only those that are
 * not 0 are there, side by side, with 32 bits where all of them fit.  Zero-initialised has no
 * measure.
 */
struct finished_sums {
	size_t nodes;
	struct finished_sum {
		uint64_t *marks;  /* a bit for each node: it has a sum; NULL: there is no such
				     measure */
		uint32_t *before; /* by word of these: the sums of the nodes before */
		uint32_t *narrow;
		uint64_t *wide; /* instead */
		size_t count;	/* of sums */
	} of[MEASURE_COUNT];
};

/* The same as they lie in the cache: read with cache_values(), one measure at a time. */
struct kept_sums {
	size_t nodes;
	const char *of[MEASURE_COUNT];
	const char *end;
};

/* The array of a measure, made when first asked for. */
uint64_t *measure_array(struct measure_sums *sums, enum measure measure);
static inline void measure_add(struct measure_sums *sums, enum measure measure, uint32_t node,
			       uint64_t value)
{
	measure_array(sums, measure)[node] += value;
}

/* Makes room for more nodes. */
void measure_grow(struct measure_sums *sums, size_t nodes);
/*
 * Moves the sums of each node to those of map[node]; map NULL: of the same.  `from` is empty
 * then: of many nodes there are never two sets of all measures.
 */
void measure_fold(struct measure_sums *to, struct measure_sums *from, const uint32_t *map);
void measure_fini(struct measure_sums *sums);

/* Of `from` nothing is left. */
void measure_finish(struct finished_sums *to, struct measure_sums *from);
/*
 * Both at once, of the last sums to be folded: measure by measure, so that there are never two sets
 * of all measures.
 */
void measure_fold_last(struct finished_sums *out, struct measure_sums *to,
		       struct measure_sums *from, size_t count, const uint32_t *map);
/* The sums of one measure, of which there were none, an array over the nodes that is freed. */
void finished_take(struct finished_sums *to, enum measure measure, uint64_t *sums);
/* Adds to a sum after all. */
void finished_add(struct finished_sums *to, enum measure measure, size_t node, uint64_t value);
void finished_fini(struct finished_sums *sums);
size_t finished_size(const struct finished_sums *sums); /* bytes */
/* … that they took while they were counted. */
size_t finished_counting_size(const struct finished_sums *sums);
static inline bool finished_has(const struct finished_sums *sums, enum measure measure)
{
	return sums->of[measure].marks;
}
/* The sum at a node, of a measure that there is. */
uint64_t finished_at(const struct finished_sums *sums, enum measure measure, size_t node);

/* Goes through the nodes that have a sum of a measure, if there is such a measure. */
struct finished_walk {
	const struct finished_sum *of;
	size_t word; /* the next one */
	uint64_t marks;
	size_t next;  /* of the sums */
	size_t node;  /* set by finished_next(), … */
	uint64_t sum; /* … which is not 0 */
};
static inline struct finished_walk finished_begin(const struct finished_sums *sums,
						  enum measure measure)
{
	return (struct finished_walk){.of = &sums->of[measure]};
}
static inline bool finished_next(struct finished_walk *walk)
{
	const struct finished_sum *of = walk->of;

	if (walk->next == of->count)
		return false;
	while (!walk->marks)
		walk->marks = of->marks[walk->word++];
	walk->node = (walk->word - 1) * 64 + (size_t)__builtin_ctzll(walk->marks);
	walk->marks &= walk->marks - 1;
	walk->sum = of->narrow ? of->narrow[walk->next] : of->wide[walk->next];
	walk->next++;
	return true;
}
/* All of a measure into out[nodes]; false: there is none. */
bool finished_read(const struct finished_sums *sums, enum measure measure, uint64_t *out);

/* What rows of a piece count for; chosen NULL: all of them. One byte per row. */
struct measuring {
	struct measure_sums *sums;
	const uint8_t *chosen;
	const uint32_t *places;	  /* the node of each row's sums; NULL: its call stack */
	bool squares;		  /* events count for the squares of their values */
	bool first_thread;	  /* of its process: clock events count for it too */
	const uint8_t *omp_class; /* by node of the process's stacks; NULL: see session_state.h */
	const bool *in_mpi;	  /* by such node; NULL: there is no MPI */
	const uint8_t *fate;	  /* by row of a trace: enum heap_fate, object_fate; else NULL */
	const uint8_t *counter; /* counter events: the session's number of each of the process's */
};

/* By row of a piece, the node of its sums. */
static inline const uint32_t *measure_places(const struct event_run *run,
					     const struct measuring *measuring)
{
	return measuring->places ? measuring->places : event_stacks(run);
}

static inline bool measure_is_chosen(const struct measuring *measuring, size_t row)
{
	return !measuring->chosen || measuring->chosen[row];
}

/* The kind of trace that a measure is of, or TRACE_KINDS: of the clock. */
enum trace_kind measure_trace(unsigned measure);

/* Adds the events of a piece. */
void measure_run(const struct event_run *run, const struct measuring *measuring);

#endif
