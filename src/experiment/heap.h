/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of each block of memory: the traced allocations and releases of one process,
 * matched up by address, over all threads in the order of time.
 *
 * A block that the process had from its parent by a fork, or that it allocated while nothing was
 * recorded, is not known: its release is without a match, and counted.
 */
#ifndef HELIO_EXPERIMENT_HEAP_H
#define HELIO_EXPERIMENT_HEAP_H

#include "experiment/trace.h"

#define HEAP_NEVER UINT32_MAX

/*
 * Of an allocation. From HEAP_FATE_REACHABLE on it was never released, from HEAP_FATE_LEFT on it
 * is a leak: so for all lists, metrics and filters.
 */
enum heap_fate {
	HEAP_FATE_NONE, /* the row is no allocation, or of one that failed */
	HEAP_FATE_RELEASED,
	HEAP_FATE_TEMPORARY, /* released by the next call of its thread */
	HEAP_FATE_REACHABLE,
	HEAP_FATE_LEFT, /* it is not known whether anything points to it */
	HEAP_FATE_POSSIBLY_LOST,
	HEAP_FATE_INDIRECTLY_LOST,
	HEAP_FATE_LOST,
	HEAP_FATES,
};

/* Equal ranges of the time from the first to the last event. */
enum { HEAP_RANGES = 40 };

struct experiment_heap {
	uint8_t *fate;	 /* by row of the trace: enum heap_fate; NULL: there are no rows */
	uint32_t *until; /* by row: the row that released the block, or HEAP_NEVER */
	uint64_t peak_bytes, peak_blocks;
	uint64_t peak_ns; /* when the live bytes first were that many */
	/* Of a sample, whose highest moment is where chance was highest, too: the peak without that
	 * bias, as far as it can be told; else the same. */
	uint64_t likely_bytes, likely_blocks;
	double peak_variance; /* of the bytes, by the sampling */
	uint64_t left_bytes, left_blocks;
	uint64_t unmatched;	    /* releases of blocks that are not known */
	uint64_t first_ns, last_ns; /* events */
	uint64_t most[HEAP_RANGES]; /* live bytes at most, by range */
	bool searched;		    /* the process looked for pointers to the blocks at its end */
};

/* For a trace of heap events; of any other kind, or none, everything is 0. */
void experiment_heap_match(struct experiment_heap *heap, const struct experiment_trace *trace);
void experiment_heap_fini(struct experiment_heap *heap);

/* By row of the trace, over all threads in the order of time. */
struct heap_course {
	uint64_t *change; /* of the live bytes by this row; below 0: modulo 2^64 */
	uint64_t *live;	  /* bytes after it */
	uint64_t *left;	  /* bytes allocated up to it that are leaks */
};

/* For a trace that was matched; the caller frees it. */
void experiment_heap_course(const struct experiment_heap *heap,
			    const struct experiment_trace *trace, struct heap_course *course);
void heap_course_fini(struct heap_course *course);

static inline bool heap_is_allocation(unsigned type)
{
	return type <= HEAP_ALIGNED;
}

/* How many allocations, and bytes, an allocation of that size and weight stands for. */
static inline uint64_t heap_blocks(uint64_t weight)
{
	return weight ? weight : 1;
}

static inline uint64_t heap_bytes(uint64_t size, uint64_t weight)
{
	return size * heap_blocks(weight);
}

/*
 * By how much chance makes the estimate of `bytes` by one allocation vary that stands for `blocks`:
 * with the weight W = 1/P rounded at random, E[P W^2] - 1 = E[P W (W - 1)].  0: it is no estimate.
 */
static inline double heap_variance(uint64_t bytes, uint64_t blocks)
{
	return (double)bytes * (double)bytes * (1 - 1 / (double)blocks);
}

#endif
