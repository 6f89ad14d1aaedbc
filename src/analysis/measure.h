/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures: what events add up to at their call stacks.  A metric is one measure, or, of clock
 * events, a set of states.  Private to this module.
 *
 * A new kind of data brings its measures here, one function in measure.c that says what an
 * event of it is worth, and its rows in the catalogue of metrics.
 */
#ifndef HELIO_ANALYSIS_MEASURE_H
#define HELIO_ANALYSIS_MEASURE_H

#include "analysis/events.h"

enum { MEASURE_COUNTERS_MAX = 16 };

enum measure {
	/* the clock's states, by their numbers, in µs; then: */
	MEASURE_FIRST_THREAD = PROFILE_STATES, /* all states of each process's first thread */
	MEASURE_HEAP_ALLOCS,
	MEASURE_HEAP_BYTES,
	MEASURE_HEAP_LEAKS,
	MEASURE_HEAP_LEAK_BYTES,
	MEASURE_SYNC_NS,
	MEASURE_SYNC_COUNT,
	MEASURE_IO_READS,
	MEASURE_IO_READ_BYTES,
	MEASURE_IO_READ_NS,
	MEASURE_IO_WRITES,
	MEASURE_IO_WRITE_BYTES,
	MEASURE_IO_WRITE_NS,
	MEASURE_IO_WAITS,
	MEASURE_IO_WAIT_NS,
	MEASURE_IO_REQUESTS,
	MEASURE_IO_OTHERS,
	MEASURE_IO_OTHER_NS,
	MEASURE_IO_ERRORS,
	MEASURE_IO_ERROR_NS,
	MEASURE_COUNTER, /* of the session's first counter, and so on */
	MEASURE_COUNT = MEASURE_COUNTER + MEASURE_COUNTERS_MAX,
	MEASURE_NONE = MEASURE_COUNT,
};

/* Sums by measure, each an array over nodes; NULL: no event of it has been seen. */
struct measure_sums {
	size_t nodes;
	uint64_t *of[MEASURE_COUNT];
};

/* The same as they lie in the cache: read with cache_values(), one measure at a time. */
struct kept_sums {
	size_t nodes;
	const char *of[MEASURE_COUNT];
	const char *end;
};

/* The array of a measure, made when first asked for. */
uint64_t *measure_array(struct measure_sums *sums, enum measure measure);
/* Makes room for more nodes. */
void measure_grow(struct measure_sums *sums, size_t nodes);
/*
 * Moves the sums of each node to those of map[node]; map NULL: of the same.  `from` is empty
 * then: of many nodes there are never two sets of all measures.
 */
void measure_fold(struct measure_sums *to, struct measure_sums *from, const uint32_t *map);
void measure_fini(struct measure_sums *sums);

/* What rows of a piece count for; chosen NULL: all of them. One byte per row. */
struct measuring {
	struct measure_sums *sums;
	const uint8_t *chosen;
	const uint32_t *places; /* the node of each row's sums; NULL: its call stack */
	bool squares;		/* events count for the squares of their values */
	bool first_thread;	/* of its process: clock events count for it too */
	const uint8_t *fate;	/* heap events: by row of the trace, enum heap_fate */
	const uint8_t *counter; /* counter events: the session's number of each of the process's */
};

/* Adds the events of a piece. */
void measure_run(const struct event_run *run, const struct measuring *measuring);

#endif
