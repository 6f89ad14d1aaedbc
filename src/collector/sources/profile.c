/* SPDX-License-Identifier: Apache-2.0 */
/* The clock, its engines, the counters and their bound, together (core/profile_source.h). */
#include "collector/core/clock_look.h"
#include "collector/core/log.h"
#include "collector/core/profile_source.h"
#include "collector/core/rawthread.h"
#include "collector/core/stack.h"
#include "collector/core/thread.h"
#include "collector/sources/clock.h"
#include "collector/sources/clock_engine.h"
#include "collector/sources/clock_holder.h"
#include "collector/sources/clock_holder_requests.h"
#include "collector/sources/clock_interval.h"
#include "collector/sources/clock_monitor.h"
#include "collector/sources/clock_perf.h"
#include "collector/sources/clock_phase.h"
#include "collector/sources/clock_reading.h"
#include "collector/sources/clock_steps.h"
#include "collector/sources/clock_stop.h"
#include "collector/sources/clock_timer.h"
#include "collector/sources/clock_watch.h"
#include "collector/sources/counter.h"
#include "collector/sources/hold_signals.h"
#include "collector/sources/overhead.h"
#include "collector/storage/recording.h"
#include "format/params.h"

static const struct {
	char key;
	void (*read)(const char *value);
} readers[] = {
	{PARAMS_CLOCK, interval_read_param},
	{PARAMS_OVERHEAD, overhead_read_limit},
	{PARAMS_TEST_DELAY, overhead_read_test_delay},
};

static bool read_param(char key, const char *value)
{
	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++) {
		if (readers[i].key != key)
			continue;
		readers[i].read(value);
		return true;
	}
	return false;
}

/* ---- the begin ---- */

static void switch_events(bool on)
{
	if (!perf_engine_switch_ticks(on) && on)
		log_warning("the perf events were not found again: the recording has gaps", 0);
	if (on)
		counter_resume();
	else
		counter_pause();
}

static void reset(void)
{
	overhead_reset(switch_events);
}

static void prepare(void)
{
	engine_signals_harm();
	reset(); /* touches what handlers would count the page fault of */
}

static void begin_process(struct thread *thread)
{
	clock_read(&thread->clock.last);
	phase_begin_process(thread);
}

static void start(void)
{
	enum engine asked = collector.engine;
	char reason[128] = "";

	if (!collector.interval_ns)
		collector.engine = ENGINE_NONE;
	if (collector.engine == ENGINE_PERF && !perf_engine_start(reason, sizeof(reason)))
		collector.engine = ENGINE_MONITOR;
	if (collector.engine == ENGINE_MONITOR)
		interval_begin();
	if (collector.engine == ENGINE_MONITOR && !monitor_engine_start())
		collector.engine = ENGINE_NONE;
	if (asked != ENGINE_NONE && collector.engine == ENGINE_NONE && collector.interval_ns)
		log_error(rawthread_may_stay()
				  ? "no clock profile: neither perf events nor a thread of ours "
				    "could be had"
				  : "no clock profile: there are no perf events, and the limit on "
				    "processes (ulimit -u) leaves no room for a thread of ours",
			  0);
	engine_log(asked, reason);
}

static void begin_program(struct thread *thread)
{
	thread_lock(thread);
	clock_begin_program(thread);
	steps_begin_program(&thread->clock.phase, &thread->clock.last);
	thread_unlock(thread);
	atomic_store(&thread->own_work, false);
	if (collector.engine == ENGINE_PERF)
		perf_engine_begin_program(thread);
	if (thread->timer)
		timer_arm(thread);
}

/* ---- the end ---- */

static void settle_thread(struct thread *thread, uint32_t stack)
{
	if (collector.engine == ENGINE_NONE)
		return;
	if (thread == thread_current_if_known()) {
		thread_lock(thread);
		clock_settle(thread, stack);
	} else if (thread_lock_other(thread)) {
		clock_settle_other(thread);
	} else {
		return;
	}
	thread_unlock(thread);
}

static void account_to_now(void)
{
	struct thread *thread = thread_current_if_known();

	if (!thread)
		return;
	thread_lock(thread);
	if (collector.engine != ENGINE_NONE)
		clock_account_to_now(thread);
	thread->closed = true;
	thread_unlock(thread);
}

static void settle_accounted(uint32_t stack)
{
	struct thread *thread = thread_current_if_known();

	if (!thread || collector.engine == ENGINE_NONE)
		return;
	thread_lock(thread);
	clock_settle_accounted(thread, stack);
	thread_unlock(thread);
}

/* Of this thread, where that is worth its price: a process that ends at once has read no code yet.
 */
static uint32_t own_stack(void)
{
	struct thread *thread = collector.engine == ENGINE_NONE ? NULL : thread_current();
	uint32_t stack = FORMAT_NO_STACK;

	if (!thread)
		return FORMAT_NO_STACK;
	thread_lock(thread);
	if (clock_waits_need_stack(thread))
		stack = stack_of_caller(thread);
	thread_unlock(thread);
	return stack;
}

static void settle_one(struct thread *thread, void *stack)
{
	settle_thread(thread, *(uint32_t *)stack);
}

static void settle_all(uint32_t stack)
{
	thread_for_each(settle_one, &stack);
}

static void disable_frequent_events(void)
{
	enum { SHORT_NS = 1000 * 1000 };

	overhead_hold();
	if (collector.engine == ENGINE_PERF && collector.interval_ns < SHORT_NS)
		perf_engine_pause();
	counter_pause();
}

static void put_log(struct text *line)
{
	interval_log(line);
	overhead_log(line);
}

static void stop(void)
{
	hold_signals_begin();
	overhead_stop();
	if (collector.engine == ENGINE_PERF)
		perf_engine_wait_for_thread();
	perf_engine_forget();
	counter_forget();
	monitor_engine_stop();
	holder_stop();
	watch_stop();
}

static void stop_abandoned(void)
{
	overhead_stop();
	overhead_allow();
	overhead_release();
	holder_stop();
	monitor_engine_stop();
	watch_stop();
}

static void forget(void)
{
	holder_forget();
	overhead_forget();
	perf_engine_forget();
	counter_forget();
	monitor_engine_forget();
	watch_forget();
	phase_forget();
}

/* ---- threads ---- */

static void thread_begun(struct thread *thread)
{
	timer_arm(thread);
	monitor_engine_guard_first(thread);
}

static void thread_ended(struct thread *thread)
{
	timer_disarm(thread);
	stop_unguard(thread);
}

const struct profile_source profile_source = {
	.read_param = read_param,
	.prepare = prepare,
	.reset = reset,
	.begin_process = begin_process,
	.start = start,
	.begin_program = begin_program,
	.prepare_late = holder_prepare,
	.start_late = holder_start,
	.account_to_now = account_to_now,
	.own_stack = own_stack,
	.settle_accounted = settle_accounted,
	.settle_all = settle_all,
	.settle = settle_thread,
	.settle_locked = clock_settle,
	.finish_counts = counter_finish,
	.collect_unsampled = phase_collect_unsampled,
	.distribute_unsampled = phase_distribute_unsampled,
	.leave_process = phase_leave_process,
	.disable_frequent_events = disable_frequent_events,
	.log_last_warnings = clock_warn_hidden,
	.log = put_log,
	.log_before_close = overhead_warn_before_close,
	.hold_signals_begin = hold_signals_begin,
	.hold_signals_end = hold_signals_end,
	.stop = stop,
	.stop_abandoned = stop_abandoned,
	.forget = forget,
	.own_begin = counter_own_begin,
	.own_end = counter_own_end,
	.thread_begun = thread_begun,
	.thread_ended = thread_ended,
	.begin_other = clock_begin_other,
	.join = clock_join,
};
