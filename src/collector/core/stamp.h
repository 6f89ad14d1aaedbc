/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of events that come so densely that the clock would be a third of their cost.
 *
 * While the process has one thread, CLOCK_MONOTONIC is read once in a millisecond; in between the
 * processor's counter goes on from there, at the rate of the last second: half the price, as it
 * need not wait for what is under way in the processor.  Order with other threads cannot be told by
 * it, so once there are any, only the clock is read.  A time is off by some tens of ns, at
 * most by a millisecond where the counter jumps (a virtual machine that moves).  Times may go
 * back by as much.
 */
#ifndef HELIO_COLLECTOR_STAMP_H
#define HELIO_COLLECTOR_STAMP_H

#include "collector/arch/ticks.h"
#include "collector/core/time.h"
#include "collector/storage/recording.h"

struct stamp {
	bool trusted;			/* the kernel's clock is the counter, too */
	uint64_t ticks, ns;		/* the last look at the clock */
	uint64_t scale;			/* ns per tick << 32 */
	uint64_t reach;			/* ticks up to the next look; 0: the rate is not known */
	uint64_t since_ticks, since_ns; /* the look from which on the rate is measured */
};

extern struct stamp stamp __attribute__((visibility("hidden")));

/* Where a recording begins. */
void stamp_begin(void);
/* Reads the clock and notes its place in the counter. */
uint64_t stamp_look(void);

/* CLOCK_MONOTONIC, in ns.  Between trace_enter and trace_leave. */
static inline uint64_t stamp_now(void)
{
	if (!stamp.trusted || atomic_load_explicit(&collector.threads, memory_order_relaxed) != 1)
		return clock_now_ns();
	uint64_t ticks = arch_ticks() - stamp.ticks;

	return ticks < stamp.reach ? stamp.ns + (ticks * stamp.scale >> 32) : stamp_look();
}

#endif
