/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/traced_time.h"

#include "collector/arch/ticks.h"
#include "collector/core/time.h"

#include <stdatomic.h>

/* A call that took longer was preempted. */
enum { LONG_NS = 200 * 1000 };

static _Atomic uint64_t traced_ns;

/* The processor's counter and the clock, at one moment. */
static struct {
	uint64_t ticks, ns;
} begin;

void traced_time_reset(void)
{
	atomic_store(&traced_ns, 0);
	begin.ns = clock_now_ns();
	begin.ticks = arch_ticks();
}

/* By the rate that the counter has had since the begin. */
static uint64_t ns_of_ticks(uint64_t counted)
{
	enum { BITS = 20, ROOM_BITS = 40 };
	uint64_t ns = clock_now_ns() - begin.ns, passed = arch_ticks() - begin.ticks;

	for (; ns >> ROOM_BITS; ns >>= 1)
		passed >>= 1;
	if (!passed || counted >> ROOM_BITS)
		return LONG_NS;
	return (counted >> 4) * ((ns << BITS) / passed) >> (BITS - 4);
}

void traced_time_add(uint64_t ticks, uint32_t calls)
{
	uint64_t ns = ns_of_ticks(ticks);

	if (ns > LONG_NS)
		ns = LONG_NS;
	atomic_fetch_add_explicit(&traced_ns, ns * calls, memory_order_relaxed);
}

uint64_t traced_time_ns(void)
{
	return atomic_load(&traced_ns);
}
