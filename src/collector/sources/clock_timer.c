/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's own timer of its CPU time: all ticks of the monitor engine, the first ones of others.
 */
#include "collector/sources/clock_timer.h"
#include "collector/core/clock_look.h"

#include "collector/arch/sys.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/sources/clock_engine.h"
#include "collector/sources/clock_signals.h"
#include "collector/storage/recording.h"

#include <time.h>

static bool make(struct thread *thread)
{
	bool wall = thread->clock.phase.wall;
	long clock = wall ? CLOCK_MONOTONIC : clock_cpu_id(thread->tid);
	struct sigevent event = {.sigev_signo = collector.monitor_signal,
				 .sigev_notify = SIGEV_THREAD_ID};
	int timer;

	event.sigev_value.sival_ptr = (void *)(wall ? MONITOR_COOKIE_WALL : MONITOR_COOKIE);
	event._sigev_un._tid =
		atomic_load(&thread->tid); /* sigev_notify_thread_id, which glibc does not name */
	if (sys_call(SYS_timer_create, clock, &event, &timer, 0))
		return false;
	int none = 0;

	/* Another thread may set the timers of all at this moment. */
	if (!__atomic_compare_exchange_n(&thread->timer, &none, timer + 1, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		sys_call(SYS_timer_delete, timer, 0, 0, 0);
	return true;
}

static bool wanted(const struct thread *thread)
{
	/* Before the recording its signal has no handler, and after it nobody sets the timer again.
	 */
	if (!atomic_load_explicit(&collector.recording, memory_order_relaxed) ||
	    thread->takes_signals)
		return false;
	if (collector.engine == ENGINE_MONITOR && engine_monitor_runs())
		return true;
	/* The perf event of a process's first thread begins where it should, or nearly. */
	return thread->clock.phase.mode != PHASE_OLD &&
	       (collector.engine == ENGINE_MONITOR ||
		(collector.engine == ENGINE_PERF &&
		 (thread->start_routine || thread->clock.phase.timer_first)));
}

void timer_arm(struct thread *thread)
{
	struct itimerspec once = {.it_interval = {0}, .it_value = {0}};

	if (!wanted(thread)) {
		timer_disarm(thread);
		return;
	}
	/* First: with the process's phase it is known on which clock. */
	uint64_t delay_ns = timer_plan.delay_ns(thread);

	if (!thread->timer && !make(thread))
		return;
	once.it_value.tv_nsec = (long)(delay_ns % 1000000000u);
	once.it_value.tv_sec = (time_t)(delay_ns / 1000000000u);
	sys_call(SYS_timer_settime, thread->timer - 1, 0, &once, 0);
	/* Whoever ends the recording may have disarmed all just before. */
	if (!atomic_load(&collector.recording))
		timer_disarm(thread);
}

void timer_probe(struct thread *thread, uint64_t ns)
{
	const struct itimerspec once = {.it_value = {.tv_nsec = (long)ns}};

	if (thread->timer)
		sys_call(SYS_timer_settime, thread->timer - 1, 0, &once, 0);
}

void timer_disarm(struct thread *thread)
{
	int timer = __atomic_exchange_n(&thread->timer, 0, __ATOMIC_SEQ_CST);

	if (timer)
		sys_call(SYS_timer_delete, timer - 1, 0, 0, 0);
}

static void arm(struct thread *thread, void *unused)
{
	(void)unused;
	timer_arm(thread);
}

void timer_arm_all(void)
{
	thread_for_each(arm, NULL);
}

static void disarm(struct thread *thread, void *unused)
{
	(void)unused;
	timer_disarm(thread);
}

void timer_disarm_all(void)
{
	thread_for_each(disarm, NULL);
}
