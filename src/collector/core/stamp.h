/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of events that come so densely that the clock would be a third of their cost.
 *
 * Each thread reads CLOCK_MONOTONIC once in a millisecond; in between the processor's counter goes
 * on from there, at the rate of the last second: a third of the price, as it need not wait for
 * what is under way in the processor.  A time is off by some tens of ns, at most by a millisecond
 * where the counter jumps (a virtual machine that moves).  Times may go back by as much.  So where
 * the order with other threads must be told by tens of ns, only the clock will do.
 */
#ifndef HELIO_COLLECTOR_STAMP_H
#define HELIO_COLLECTOR_STAMP_H

#include "collector/arch/ticks.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/storage/recording.h"

/* The kernel's clock is the counter, too. */
extern bool stamp_trusted __attribute__((visibility("hidden")));

/* Where a recording begins. */
void stamp_begin(void);
/* Reads the clock and notes its place in the counter. */
uint64_t stamp_look(struct stamp *stamp);

/* The time of that reading of the counter; false: it is not known, or a handler has changed the
 * stamp meanwhile. */
static inline bool stamp_count_at(const struct stamp *stamp, uint64_t at, uint64_t *ns)
{
	uint64_t from = stamp->ticks;

	atomic_signal_fence(memory_order_acquire);
	uint64_t reach = stamp->reach, ticks = at - from;

	*ns = stamp->ns + (ticks * stamp->scale >> 32);
	atomic_signal_fence(memory_order_acquire);
	return ticks < reach && stamp->ticks == from && stamp->reach == reach;
}

/* The same of now. */
static inline bool stamp_count(const struct stamp *stamp, uint64_t *ns)
{
	return stamp_count_at(stamp, arch_ticks(), ns);
}

/* CLOCK_MONOTONIC, in ns.  Of the calling thread, between trace_enter and trace_leave. */
static inline uint64_t stamp_now(struct thread *thread)
{
	uint64_t ns;

	return stamp_count(&thread->stamp, &ns) ? ns : stamp_look(&thread->stamp);
}

/* The same at any moment: a handler may have interrupted a look.  thread: or NULL. */
static inline uint64_t stamp_now_outside(const struct thread *thread)
{
	uint64_t ns;

	return thread && stamp_count(&thread->stamp, &ns) ? ns : clock_now_ns();
}

/*
 * The same as stamp_now where the order of all threads' times counts, as of a block or a lock that
 * one has released and another gets: only while there is one thread the counter will do.
 */
static inline uint64_t stamp_in_order(struct thread *thread)
{
	if (atomic_load_explicit(&collector.threads, memory_order_relaxed) != 1)
		return clock_now_ns();
	return stamp_now(thread);
}

#endif
