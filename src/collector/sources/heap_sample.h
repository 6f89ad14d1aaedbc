/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sample of the allocations: as if points were strewn over all bytes that a thread allocates,
 * at random, one in so many bytes (a Poisson process), and an allocation is in the sample when
 * a point falls into it.  One of `size` bytes is with probability P = 1 - exp(-size / mean),
 * and then stands for 1 / P allocations of its size; rounded up or down at random, so that sums
 * over the sample are without bias.
 *
 * An allocation that is not in the sample costs a subtraction, a release a look into one cache
 * line.
 */
#ifndef HELIO_COLLECTOR_HEAP_SAMPLE_H
#define HELIO_COLLECTOR_HEAP_SAMPLE_H

#include "format/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that the calling thread may allocate up to the next point. */
extern __thread int64_t heap_until __attribute__((tls_model("initial-exec")));

/* Whether an allocation of this size may have met a point. */
static inline bool heap_sample_meets(size_t size)
{
	heap_until -= (int64_t)size;
	return __builtin_expect(heap_until < 0, 0);
}

/* Sampling begins, anew in the child of a fork. False: no memory. */
bool heap_sample_begin(uint64_t mean);
/* After an allocation for which heap_sample_meets. */
void heap_sample_allocated(enum format_heap_type type, const void *block, size_t size);
/* Before a release. */
void heap_sample_released(const void *block);

/* 64 random bits, the next ones of a state. */
uint64_t heap_sample_random(uint64_t *state);
/* Of 64 random bits, how many allocations one of the sample stands for; for tests, the distance to
 * the next point. */
uint64_t heap_sample_weight(uint64_t random, uint64_t size, uint64_t mean);
uint64_t heap_sample_distance(uint64_t random, uint64_t mean);

#endif
