/* SPDX-License-Identifier: Apache-2.0 */
/* CLOCK_MONOTONIC, and the calling thread's CPU time. */
#ifndef HELIO_COLLECTOR_TIME_H
#define HELIO_COLLECTOR_TIME_H

#include <stdint.h>
#include <time.h>

static inline uint64_t time_spec_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

uint64_t clock_now_ns(void);
uint64_t clock_own_cpu_ns(void);

#endif
