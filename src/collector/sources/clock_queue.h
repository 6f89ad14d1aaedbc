/* SPDX-License-Identifier: Apache-2.0 */
/* How long a thread was queued for a processor. */
#ifndef HELIO_COLLECTOR_CLOCK_QUEUE_H
#define HELIO_COLLECTOR_CLOCK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How long the calling thread can have been queued before it ran for `ran_ns`, by the kernel's load
 * tracking; UINT64_MAX: that does not tell.  And the same for averages that have been read.
 */
uint64_t clock_own_queue_bound(uint64_t ran_ns);
uint64_t clock_queue_bound(int64_t runnable, int64_t running, uint64_t ran_ns);
/* What of a delay that the kernel counts is possible; it was preempted so often, too. */
uint64_t clock_queue_possible(uint64_t delay_ns, uint64_t bound_ns, uint64_t preempted);

#endif
