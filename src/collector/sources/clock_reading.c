/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/clock_reading.h"

#include "collector/arch/sys.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "format/own_use.h"

#include <sys/resource.h>

enum { USAGE_EVERY_NS = 4 * 1000 * 1000 };

void clock_read_cpu(struct clock_reading *reading)
{
	/* CPU before wall, so that their difference is not negative. */
	reading->cpu_ns = clock_own_cpu_ns();
	reading->now_ns = clock_now_ns();
}

static void read_usage(struct clock_reading *reading)
{
	struct rusage usage = {0};

	sys_call(SYS_getrusage, RUSAGE_THREAD, &usage, 0, 0);
	reading->system_us = format_us_of(&usage.ru_stime);
	reading->minor_faults = (uint64_t)usage.ru_minflt;
	reading->major_faults = (uint64_t)usage.ru_majflt;
	reading->voluntary_switches = (uint64_t)usage.ru_nvcsw;
	reading->involuntary_switches = (uint64_t)usage.ru_nivcsw;
	reading->usage_ns = reading->now_ns;
}

void clock_read(struct clock_reading *reading)
{
	clock_read_cpu(reading);
	read_usage(reading);
}

/*
 * At a tick, for less: a kernel counts system time at its own ticks of 1 to 10 ms, so
 * that asking more often tells nothing, unless the thread has waited.
 */
void clock_read_at_tick(const struct clock_reading *last, struct clock_reading *reading)
{
	*reading = *last;
	clock_read_cpu(reading);
	int64_t gap = (int64_t)(reading->now_ns - last->now_ns - (reading->cpu_ns - last->cpu_ns));

	if (gap > CLOCK_GAP_WORTH_NS || reading->now_ns - reading->usage_ns >= USAGE_EVERY_NS)
		read_usage(reading);
}

uint64_t clock_own_waits(void)
{
	struct clock_reading now = {0};

	read_usage(&now);
	return now.voluntary_switches;
}

bool clock_has_unaccounted_wait(const struct thread *thread)
{
	return clock_own_waits() != thread->clock.last.voluntary_switches;
}
