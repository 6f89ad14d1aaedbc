/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that ran before their recording began: their accounts, begun from outside. */
#include "collector/core/clock_look.h"
#include "collector/core/time.h"
#include "collector/sources/clock.h"
#include "collector/sources/clock_reading.h"
#include "collector/storage/recording.h"
#include "collector/storage/recording_clock.h"

void clock_begin_other(struct thread *thread, int dir)
{
	struct clock_account *clock = &thread->clock;
	struct clock_remote remote = {0};
	struct clock_files files;

	clock_files_open(&files, dir, thread);
	clock_look(&files, &remote);
	clock_files_close(&files);
	clock->last.now_ns = clock_now_ns();
	clock->last.cpu_ns = clock_other_cpu_ns(thread->tid);
	clock->recorded_ns = recording_clock_ns(clock->last.now_ns, &(bool){0});
	clock->stopped_seen_ns = atomic_load(&collector.stopped_ns);
	clock->delay_ns = remote.delay_ns;
}

bool clock_join(struct thread *thread)
{
	struct clock_account *clock = &thread->clock;
	struct clock_reading reading;

	clock_read(&reading);
	if (reading.cpu_ns < clock->last.cpu_ns)
		return false;
	reading.now_ns = clock->last.now_ns;
	reading.cpu_ns = clock->last.cpu_ns;
	reading.voluntary_switches -= 2; /* perhaps there were some: the run-queue delay tells */
	reading.usage_ns = 0;
	clock->last = reading;
	clock->system_done_us = reading.system_us;
	clock->tick_faults = reading.minor_faults + reading.major_faults;
	return true;
}
