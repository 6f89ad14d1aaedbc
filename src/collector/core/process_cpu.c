/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/process_cpu.h"

#include "collector/arch/sys.h"
#include "collector/core/clock_look.h"
#include "collector/core/rawthread.h"
#include "collector/core/thread.h"
#include "collector/core/time.h"
#include "collector/storage/recording.h"

static struct {
	_Atomic int tid;
	const _Atomic unsigned *alive;
} own_threads[PROCESS_CPU_OWN];

/* Of our threads, those that had ended when the recording began. */
static uint64_t ended_before, ended_cpu_before_ns;

void process_cpu_begin(void)
{
	collector.cpu_before_ns = process_cpu_ns();
	ended_before = rawthread_ended_count();
	ended_cpu_before_ns = rawthread_ended_cpu_ns();
}

void process_cpu_note(enum process_cpu_own own, int tid, const _Atomic unsigned *alive)
{
	own_threads[own].alive = alive;
	atomic_store(&own_threads[own].tid, tid);
}

uint64_t process_cpu_own_ns(enum process_cpu_own own)
{
	int tid = atomic_load(&own_threads[own].tid);
	const _Atomic unsigned *alive = own_threads[own].alive;

	return tid > 0 && (!alive || atomic_load(alive)) ? clock_other_cpu_ns(tid) : 0;
}

uint64_t process_cpu_ns(void)
{
	struct timespec cpu = {0};

	sys_call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &cpu, 0, 0);
	return time_spec_ns(&cpu) - rawthread_ended_cpu_ns() -
	       process_cpu_own_ns(PROCESS_CPU_RESTS);
}

uint64_t collector_cpu_ns(void)
{
	return process_cpu_ns() - collector.cpu_before_ns - process_cpu_own_ns(PROCESS_CPU_MONITOR);
}

uint64_t process_cpu_of_own_ends_ns(uint64_t left_ns)
{
	uint64_t ours = rawthread_ended_count() - ended_before;
	uint64_t begun = atomic_load(&collector.threads), living = thread_count();
	uint64_t theirs = begun > living ? begun - living : 0;
	uint64_t seen_ns = rawthread_ended_cpu_ns() - ended_cpu_before_ns;
	uint64_t part_ns = ours ? left_ns / (ours + theirs) * ours : 0;

	return part_ns < seen_ns ? part_ns : seen_ns;
}
