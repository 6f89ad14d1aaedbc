/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monitor engine: where a thread stands in a stop of the process (SIGSTOP and its kin).
 *
 * The monitor stops, too.  When it runs again it knows how long that was, but the threads run on
 * at the same moment: the call that stopped them has returned, or the process has ended.  So each
 * thread has a timer that the monitor keeps from expiring, its guard.  In a stop the monitor does
 * not, the guard's signal waits for the thread, and the kernel delivers it before the thread's
 * next instruction: it says where it stood.
 *
 * A guard also expires when the monitor waits long for a processor.  Such a signal says nothing.
 */
#include "collector/sources/clock_stop.h"
#include "collector/core/clock_look.h"

#include "collector/arch/sys.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/sources/clock_queue.h"
#include "collector/sources/clock_reading.h"
#include "collector/sources/clock_signals.h"
#include "collector/storage/recording.h"

#include <time.h>

/* Differences below this prove no stop: the scheduler makes them. */
enum { WORTH_NS = 5 * 1000 * 1000 };
/* Beyond the time between two looks; half of it is left when the monitor sets a guard anew. */
enum { GUARD_NS = 40 * 1000 * 1000 };
/* Those of so many threads: all of them expire at once. */
enum { GUARDED_MAX = 256 };

enum { REFUSED = -1 };

static _Atomic uint64_t alive_ns; /* the monitor was not stopped then */

void stop_alive(uint64_t now_ns)
{
	atomic_store(&alive_ns, now_ns);
}

uint64_t stop_last_alive_ns(void)
{
	return atomic_load(&alive_ns);
}

bool stop_note(uint64_t since_ns, uint64_t now_ns, uint64_t queued_ns)
{
	if (!atomic_compare_exchange_strong(&alive_ns, &since_ns, now_ns))
		return false;
	atomic_fetch_add(&collector.stopped_ns, now_ns - queued_ns - since_ns);
	return true;
}

bool stop_is_noted(uint64_t since_ns)
{
	return atomic_load(&alive_ns) > since_ns;
}

bool stop_guard_is_due(const struct thread *thread, uint64_t every_ns, uint64_t now_ns)
{
	int64_t left =
		(int64_t)(atomic_load_explicit(&thread->guard_ns, memory_order_relaxed) - now_ns);

	return thread->guard != REFUSED && thread->index < GUARDED_MAX &&
	       (!thread->guard || left < (int64_t)(GUARD_NS / 2 + every_ns));
}

static int make(const struct thread *thread)
{
	struct sigevent event = {.sigev_signo = collector.monitor_signal,
				 .sigev_notify = SIGEV_THREAD_ID};
	int timer;

	event.sigev_value.sival_ptr = (void *)MONITOR_COOKIE_STOP;
	event._sigev_un._tid = atomic_load(&thread->tid);
	/*
	 * A tracer is told of each signal, and notices its own stops better than we.  After `helio
	 * attach`, a call that a handler has ended cannot be continued (wait.c).
	 */
	if (collector.monitor_signal == CLOCK_SIGNAL_TRACED || collector.late ||
	    sys_call(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer, 0))
		return REFUSED;
	return timer + 1;
}

void stop_guard(struct thread *thread, uint64_t every_ns, uint64_t now_ns)
{
	uint64_t until_ns = now_ns + GUARD_NS + 2 * every_ns;
	struct itimerspec once = {.it_value = {.tv_sec = (time_t)(until_ns / 1000000000u),
					       .tv_nsec = (long)(until_ns % 1000000000u)}};

	if (!thread->guard)
		thread->guard = make(thread);
	if (thread->guard == REFUSED)
		return;
	atomic_store_explicit(&thread->guard_ns, until_ns, memory_order_relaxed);
	sys_call(SYS_timer_settime, thread->guard - 1, TIMER_ABSTIME, &once, 0);
}

void stop_unguard(struct thread *thread)
{
	int timer = __atomic_exchange_n(&thread->guard, 0, __ATOMIC_SEQ_CST);

	atomic_store_explicit(&thread->guard_ns, 0, memory_order_relaxed);
	if (timer > 0)
		sys_call(SYS_timer_delete, timer - 1, 0, 0, 0);
}

static void unguard(struct thread *thread, void *unused)
{
	(void)unused;
	stop_unguard(thread);
}

void stop_unguard_all(void)
{
	thread_for_each(unguard, NULL);
}

bool stop_guard_waits(const struct thread *thread)
{
	uint64_t guard_ns = atomic_load_explicit(&thread->guard_ns, memory_order_relaxed);

	return guard_ns && clock_now_ns() > guard_ns;
}

/* How long the calling thread can have been queued since its last reading. */
static uint64_t queued_ns(const struct clock_account *clock, const struct clock_reading *now)
{
	uint64_t delay_ns = clock_own_delay_ns(), ran_ns = now->cpu_ns - clock->last.cpu_ns;
	uint64_t preempted = now->involuntary_switches - clock->last.involuntary_switches;

	if (delay_ns < clock->delay_ns + WORTH_NS)
		return delay_ns ? WORTH_NS : UINT64_MAX / 2;
	return clock_queue_possible(delay_ns - clock->delay_ns, clock_own_queue_bound(ran_ns),
				    preempted);
}

/*
 * If the monitor has not run since the guard expired, and the thread neither, though it was not
 * queued, then both were stopped.
 */
bool stop_met(struct thread *thread)
{
	const struct clock_account *clock = &thread->clock;
	uint64_t since_ns = atomic_load(&alive_ns);
	uint64_t guard_ns = atomic_load_explicit(&thread->guard_ns, memory_order_relaxed);
	struct clock_reading now;

	atomic_store_explicit(&thread->guard_ns, 0, memory_order_relaxed);
	clock_read(&now);
	if (since_ns < guard_ns && now.now_ns > guard_ns + WORTH_NS &&
	    now.now_ns - guard_ns > queued_ns(clock, &now) + WORTH_NS)
		stop_note(since_ns, now.now_ns, 0);
	return atomic_load(&collector.stopped_ns) != clock->stopped_seen_ns;
}
