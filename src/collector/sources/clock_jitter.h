/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers, and the lengths of intervals by them.  In a handler, too. */
#ifndef HELIO_COLLECTOR_CLOCK_JITTER_H
#define HELIO_COLLECTOR_CLOCK_JITTER_H

#include <stdint.h>

void jitter_seed(uint64_t bits);
uint64_t jitter_bits(void);
uint64_t jitter_random(uint64_t below_ns);
/* What lies between two ticks: an interval, give or take a quarter. */
uint64_t jitter_ns(uint64_t interval_ns);
static inline uint64_t jitter_longest_ns(uint64_t interval_ns)
{
	return interval_ns + interval_ns / 4;
}

#endif
