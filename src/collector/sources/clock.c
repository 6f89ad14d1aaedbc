/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/clock.h"

#include "collector/arch/call.h"
#include "collector/arch/sys.h"
#include "collector/core/clock_look.h"
#include "collector/core/clock_window.h"
#include "collector/core/stack.h"
#include "collector/core/tasks.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/core/writer.h"
#include "collector/sources/clock_interval.h"
#include "collector/sources/clock_jitter.h"
#include "collector/sources/clock_phase.h"
#include "collector/sources/clock_queue.h"
#include "collector/sources/clock_reading.h"
#include "collector/sources/clock_record.h"
#include "collector/sources/clock_state.h"
#include "collector/sources/clock_switches.h"
#include "collector/storage/recording.h"
#include "collector/storage/recording_clock.h"
#include "collector/storage/stacktable.h"
#include "collector/storage/text.h"
#include "collector/unwind/unwind.h"
#include "format/own_use.h"

#include <sys/resource.h>
#include <time.h>

enum { NS_PER_US = 1000 };

/* A delay above this, after one wait, is checked against what is possible (clock_queue.c). */
enum { DELAY_DOUBTFUL_NS = 3 * 1000 * 1000 };

/* ---- accounting ---- */

/* What the kernel has counted as queued since the last reading, within a gap. */
static int64_t queued_of(const struct clock_account *clock, int64_t gap, uint64_t delay_ns)
{
	int64_t queued = delay_ns > clock->delay_ns ? (int64_t)(delay_ns - clock->delay_ns) : 0;

	if (gap < 0)
		return 0;
	return queued < gap ? queued : gap;
}

/*
 * How much of the time since its last reading the thread was not queued, as the monitor knows: it
 * was seen to wait, or the process was stopped, perhaps an interval less than is noted.
 */
static int64_t seen_waiting(const struct thread *thread)
{
	const struct clock_account *clock = &thread->clock;
	uint64_t seen_ns = thread->files.waiting_ns, last_ns = clock->last.now_ns;
	uint64_t stopped_ns = atomic_load_explicit(&collector.stopped_ns, memory_order_relaxed) -
			      clock->stopped_seen_ns;

	uint64_t look_ns = interval_look_ns();

	stopped_ns -= stopped_ns > look_ns ? look_ns : stopped_ns;
	if (clock->remote_stack && seen_ns > last_ns)
		stopped_ns += seen_ns - last_ns;
	return (int64_t)stopped_ns;
}

/* The same of a thread that has waited and just runs again, where the kernel may be wrong. */
static int64_t queued_possibly(int64_t queued, const struct clock_reading *last,
			       const struct clock_reading *reading)
{
	uint64_t preempted = reading->involuntary_switches - last->involuntary_switches;

	if (queued < DELAY_DOUBTFUL_NS ||
	    reading->voluntary_switches - last->voluntary_switches != 1)
		return queued;
	uint64_t bound_ns = clock_own_queue_bound(reading->cpu_ns - last->cpu_ns);

	return (int64_t)clock_queue_possible((uint64_t)queued, bound_ns, preempted);
}

/* Splits a gap between wall and CPU time. `delay_ns`: 0 if not read. */
static void account_gap(struct clock_account *clock, int64_t gap, int64_t queued, uint64_t delay_ns)
{
	clock->queued_pending_ns += queued;
	clock->blocked_pending_ns += gap - queued;
	/* A preemption's delay is taken as read: a later look must not count it again. */
	clock->delay_ns = delay_ns ? delay_ns : clock->delay_ns + (uint64_t)queued;
}

/* Adds what passed since the last reading to what is pending. */
static void account(struct thread *thread, const struct clock_reading *reading)
{
	struct clock_account *clock = &thread->clock;
	int64_t cpu = (int64_t)(reading->cpu_ns - clock->last.cpu_ns);
	int64_t gap = (int64_t)(reading->now_ns - clock->last.now_ns) - cpu, queued = gap;
	uint32_t pauses = switches_pauses();
	uint64_t delay_ns = 0;

	clock->cpu_pending_ns += cpu;
	clock->minor_since = reading->minor_faults - clock->last.minor_faults;
	clock->major_since = reading->major_faults - clock->last.major_faults;
	clock->gap_is_new = switches_are_seen() && pauses == clock->switch_pauses;
	clock->switch_pauses = pauses;
	if (gap > 0 && reading->voluntary_switches != clock->last.voluntary_switches) {
		delay_ns = gap > CLOCK_GAP_WORTH_NS ? clock_own_delay_ns() : 0;
		queued = queued_of(clock, gap - seen_waiting(thread), delay_ns);
		queued = queued_possibly(queued, &clock->last, reading);
	}
	if (gap <= 0) /* clock granularity: later gaps make up for it */
		clock->queued_pending_ns += gap;
	else
		account_gap(clock, gap, queued, delay_ns);
	clock->recorded_ns += reading->now_ns - clock->last.now_ns;
	clock->last = *reading;
}

static void emit(struct thread *thread, enum format_state state, int64_t *pending_ns,
		 uint32_t stack)
{
	clock_record(thread, state, pending_ns, stack, &thread->context);
}

/* ---- what the thread was doing ---- */

static void emit_cpu(struct thread *thread, const struct unwind_regs *regs, uint32_t stack)
{
	enum format_state state = clock_cpu_state(thread, regs);

	if (!phase_tick(thread, state, stack))
		emit(thread, state, &thread->clock.cpu_pending_ns, stack);
	thread->cpu_stack = thread->takes_signals ? FORMAT_NO_STACK : stack;
	context_keep(&thread->cpu_context, &thread->context);
}

/*
 * Monitor engine: time in which the process stood still, as the monitor did, was no wait.  But a
 * thread that was seen to wait before goes on doing so.
 */
static void take_stop(struct clock_account *clock)
{
	uint64_t stopped_ns = atomic_load_explicit(&collector.stopped_ns, memory_order_relaxed);
	int64_t since = (int64_t)(stopped_ns - clock->stopped_seen_ns);

	clock->stopped_seen_ns = stopped_ns;
	if ((clock->remote_stack && !clock->remote_over) || clock->blocked_pending_ns <= 0)
		return;
	if (since > clock->blocked_pending_ns)
		since = clock->blocked_pending_ns;
	clock->blocked_pending_ns -= since;
	clock->stopped_pending_ns += since;
}

static void emit_stop(struct thread *thread, uint32_t stack)
{
	take_stop(&thread->clock);
	emit(thread, FORMAT_STATE_STOPPED, &thread->clock.stopped_pending_ns, stack);
}

/* Monitor engine: a wait that was seen from outside has ended; what passed since the last look has
 * its stack. */
static void emit_remembered_wait(struct thread *thread)
{
	struct clock_account *clock = &thread->clock;

	if (clock->remote_stack)
		clock_record(thread, clock->remote_state, &clock->blocked_pending_ns,
			     clock->remote_stack, &clock->remote_context);
	clock->remote_stack = 0;
}

/*
 * The part of queued_pending_ns above `before_ns` is the time from the end of a wait to a
 * processor: it has that wait's stack.
 */
static void emit_woken(struct thread *thread, int64_t before_ns, uint32_t stack,
		       const struct runtime_context *then)
{
	int64_t since_ns = thread->clock.queued_pending_ns - before_ns;

	if (since_ns <= 0)
		return;
	clock_record(thread, FORMAT_STATE_WAIT_CPU, &since_ns, stack, then);
	thread->clock.queued_pending_ns = before_ns + since_ns;
}

/*
 * Writes all that is pending, for want of an event.  `stack` is where the thread has waited, 0 if
 * that is not known: it was somewhere below the thread's start routine.  CPU time was spent
 * anywhere, so it belongs to the last tick, or to nothing, and so does the time in the queue, which
 * a computing thread has beside it.
 */
static void emit_rest(struct thread *thread, enum format_state cpu_state, uint32_t stack)
{
	uint32_t waited = stack ? stack : thread->start_stack;

	emit_stop(thread, waited);
	if (phase_is_young(thread))
		phase_settle(thread, cpu_state);
	else if (!phase_rest_of_old(thread))
		clock_record(thread, cpu_state, &thread->clock.cpu_pending_ns, thread->cpu_stack,
			     &thread->cpu_context);
	if (!stack && thread->cpu_stack)
		clock_record(thread, FORMAT_STATE_WAIT_CPU, &thread->clock.queued_pending_ns,
			     thread->cpu_stack, &thread->cpu_context);
	emit(thread, FORMAT_STATE_WAIT_CPU, &thread->clock.queued_pending_ns, waited);
	emit(thread, FORMAT_STATE_SLEEP, &thread->clock.blocked_pending_ns, waited);
}

/* Moves the accounting on to `reading` with nothing of it recorded. */
static void skip_to(struct thread *thread, const struct clock_reading *reading)
{
	if (!thread->clock.paused) {
		emit_rest(thread, FORMAT_STATE_USER, 0);
		writer_thread_pause(thread, thread->clock.last.now_ns);
		phase_pause(thread);
	}
	thread->clock.paused = true;
	thread->clock.last = *reading;
	thread->clock.recorded_ns = recording_clock_ns(reading->now_ns, &(bool){0});
	thread->clock.system_done_us = reading->system_us;
}

/* The window begins between the last reading and this one: only what came after its start counts.
 */
static void enter_window(struct thread *thread, const struct clock_reading *reading,
			 uint64_t start_ns)
{
	struct clock_reading *last = &thread->clock.last;
	uint64_t inside_ns = reading->now_ns - start_ns;

	last->now_ns = start_ns;
	if (reading->cpu_ns - last->cpu_ns > inside_ns)
		last->cpu_ns = reading->cpu_ns - inside_ns;
	thread->clock.paused = false;
	writer_thread_resume(thread, last->now_ns);
}

/* What is recorded ends `inside_ns` after the last reading. */
static void cut_end(const struct clock_reading *last, struct clock_reading *reading,
		    uint64_t inside_ns)
{
	reading->now_ns = last->now_ns + inside_ns;
	if (reading->cpu_ns - last->cpu_ns > inside_ns)
		reading->cpu_ns = last->cpu_ns + inside_ns;
}

/*
 * Leaves out what passed since the last reading while the recording was paused.  Of pauses
 * that are over only the sum is known: they are taken to have begun at the last reading.
 * False when nothing was recorded since.
 */
static bool cut_pauses(struct thread *thread, struct clock_reading *reading)
{
	struct clock_account *clock = &thread->clock;
	bool paused;
	uint64_t recorded_ns = recording_clock_ns(reading->now_ns, &paused);
	int64_t gap = (int64_t)(reading->now_ns - clock->last.now_ns);
	int64_t inside = (int64_t)(recorded_ns - clock->recorded_ns);

	if (inside > gap)
		inside = gap;
	if (paused && inside <= 0) {
		skip_to(thread, reading);
		return false;
	}
	if (inside < 0 && gap > 0)
		inside = 0;
	/* Of the last reading still: asked twice the answer is the same. */
	clock->recorded_ns = recorded_ns - (uint64_t)inside;
	/* A thread that looked while the clock was being set has its whole gap inside, and is
	 * paused all the same. */
	if (!paused && (inside < gap || clock->paused)) {
		if (!clock->paused)
			writer_thread_pause(thread, clock->last.now_ns);
		enter_window(thread, reading, reading->now_ns - (uint64_t)inside);
	} else if (paused) {
		if (clock->paused)
			enter_window(thread, reading, clock->last.now_ns);
		cut_end(&clock->last, reading, (uint64_t)inside);
	}
	return true;
}

/*
 * Cuts a reading to the thread's window.  False when nothing of the time since the
 * last one lies in it.
 */
static bool in_window(struct thread *thread, struct clock_reading *reading)
{
	if (thread->closed || atomic_load_explicit(&collector.settled, memory_order_relaxed))
		return false;
	struct clock_reading *last = &thread->clock.last;
	struct window window = clock_window(thread);

	if (reading->now_ns < window.start_ns || (window.end_ns && last->now_ns >= window.end_ns)) {
		skip_to(thread, reading);
		return false;
	}
	if (last->now_ns < window.start_ns) {
		if (!thread->clock.paused)
			writer_thread_pause(thread, last->now_ns);
		enter_window(thread, reading, window.start_ns);
	}
	if (window.end_ns && reading->now_ns > window.end_ns)
		cut_end(last, reading, window.end_ns - last->now_ns);
	return cut_pauses(thread, reading);
}

/*
 * One signal can stand for a tick and a switch that met in one system call or fault, and
 * then the switch's own never comes.  As long as each switch is signalled, a
 * wait that is still pending at a tick was where the tick is.
 */
static void emit_met_wait(struct thread *thread, const struct unwind_regs *regs, uint32_t stack)
{
	struct clock_account *clock = &thread->clock;

	if (clock->blocked_pending_ns > CLOCK_GAP_WORTH_NS && clock->gap_is_new)
		emit(thread, clock_wait_state(clock, regs), &clock->blocked_pending_ns, stack);
}

/* Charges all that is pending. */
static void settle(struct thread *thread, uint32_t stack)
{
	struct clock_account *clock = &thread->clock;

	take_stop(clock);
	emit_remembered_wait(thread);
	bool system = (int64_t)(clock->last.system_us - clock->system_done_us) * 2 >
		      clock->cpu_pending_ns / NS_PER_US;

	emit_rest(thread, system ? FORMAT_STATE_SYSTEM : FORMAT_STATE_USER, stack);
}

/* Whether what was accounted for last ends before a reading did, which a pause has cut. */
static bool was_cut(const struct thread *thread, const struct clock_reading *whole)
{
	return thread->clock.last.now_ns < whole->now_ns;
}

/* The moment is in a pause: what was recorded before it was not spent here. */
static void enter_pause(struct thread *thread, const struct clock_reading *whole)
{
	settle(thread, thread->cpu_stack);
	skip_to(thread, whole); /* else what it used since would be taken for later time */
}

void clock_tick(struct thread *thread, const struct unwind_regs *regs)
{
	struct clock_reading reading;

	clock_read_at_tick(&thread->clock.last, &reading);
	struct clock_reading whole = reading;
	int64_t queued_ns = thread->clock.queued_pending_ns;

	if (!in_window(thread, &reading))
		return;
	account(thread, &reading);
	if (was_cut(thread, &whole)) {
		enter_pause(thread, &whole);
		return;
	}
	uint32_t stack = stack_of_context(thread, regs);

	if (thread->clock.remote_stack && thread->clock.preempted == reading.involuntary_switches)
		emit_woken(thread, queued_ns, thread->clock.remote_stack,
			   &thread->clock.remote_context);
	emit_stop(thread, stack);
	emit_remembered_wait(thread);
	emit_cpu(thread, regs, stack);
	emit_met_wait(thread, regs, stack);
	/* A preemption has no better stack than this; small noise waits until it is worth a record.
	 */
	if (thread->clock.queued_pending_ns > CLOCK_GAP_WORTH_NS)
		emit(thread, FORMAT_STATE_WAIT_CPU, &thread->clock.queued_pending_ns, stack);
}

void clock_stopped(struct thread *thread, const struct unwind_regs *regs)
{
	struct clock_reading reading;

	clock_read(&reading);
	if (!in_window(thread, &reading))
		return;
	account(thread, &reading);
	uint32_t stack = stack_of_context(thread, regs);

	/* A wait that was seen ended when the stop began, also if the kernel goes on with it. */
	thread->clock.remote_over = true;
	emit_stop(thread, stack);
	emit_remembered_wait(thread);
}

void clock_switched_in(struct thread *thread, const struct unwind_regs *regs)
{
	struct clock_reading reading;

	clock_read(&reading);
	struct clock_reading whole = reading;

	if (!in_window(thread, &reading))
		return;
	account(thread, &reading);
	uint32_t stack = stack_of_context(thread, regs);

	emit(thread, FORMAT_STATE_WAIT_CPU, &thread->clock.queued_pending_ns, stack);
	emit(thread, clock_wait_state(&thread->clock, regs), &thread->clock.blocked_pending_ns,
	     stack);
	thread->clock.remote_stack = 0; /* a wait that was watched is over, or is this one */
	/* Likewise, the other way round: no interval is that long, so the tick is in this. */
	if (was_cut(thread, &whole))
		enter_pause(thread, &whole);
	else if (!phase_is_young(thread) && !atomic_load(&thread->own_work) &&
		 thread->clock.cpu_pending_ns > (int64_t)jitter_longest_ns(collector.interval_ns))
		emit_cpu(thread, regs, stack);
}

void clock_begin(struct thread *thread)
{
	struct clock_account *clock = &thread->clock;
	uint64_t begin_ns = clock->last.now_ns;

	clock_read(&clock->last);
	clock->stopped_seen_ns = atomic_load(&collector.stopped_ns);
	clock->system_done_us = clock->last.system_us;
	clock->tick_faults = clock->last.minor_faults + clock->last.major_faults;
	if (!begin_ns) { /* it ran before, and was queued */
		clock->delay_ns = clock_own_delay_ns();
		return;
	}
	clock->last.now_ns = begin_ns;
	clock->last.cpu_ns = 0;
}

void clock_begin_program(struct thread *thread)
{
	struct clock_account *clock = &thread->clock;

	clock->last.now_ns = 0;
	clock_begin(thread);
	clock->recorded_ns = recording_clock_ns(clock->last.now_ns, &(bool){0});
	thread->closed = false;
	writer_thread_begin(thread, clock->last.now_ns);
}

bool clock_met_switch(const struct thread *thread)
{
	return switches_are_seen() && switches_pauses() == thread->clock.switch_pauses &&
	       clock_has_unaccounted_wait(thread);
}

bool clock_waits_need_stack(const struct thread *thread)
{
	const struct clock_account *clock = &thread->clock;
	struct clock_reading now;

	clock_read_cpu(&now);
	int64_t cpu = (int64_t)(now.cpu_ns - clock->last.cpu_ns);
	int64_t gap = (int64_t)(now.now_ns - clock->last.now_ns) - cpu;

	return gap + clock->queued_pending_ns + clock->blocked_pending_ns +
		       clock->stopped_pending_ns >
	       CLOCK_GAP_WORTH_NS;
}

void clock_settle(struct thread *thread, uint32_t stack)
{
	struct clock_reading reading;

	clock_read(&reading);
	struct clock_reading whole = reading;

	if (!in_window(thread, &reading))
		return;
	account(thread, &reading);
	settle(thread, stack);
	if (was_cut(thread, &whole))
		skip_to(thread, &whole);
}

void clock_account_to_now(struct thread *thread)
{
	struct clock_reading reading;

	clock_read(&reading);
	struct clock_reading whole = reading;

	if (!in_window(thread, &reading))
		return;
	account(thread, &reading);
	if (was_cut(thread, &whole))
		enter_pause(thread, &whole);
}

void clock_settle_accounted(struct thread *thread, uint32_t stack)
{
	if (!thread->clock.paused)
		settle(thread, stack);
}

/* ---- from outside the thread ---- */

static void account_remote(struct thread *thread, uint64_t now_ns, uint64_t cpu_ns,
			   uint64_t delay_ns)
{
	struct clock_account *clock = &thread->clock;
	int64_t cpu = (int64_t)(cpu_ns - clock->last.cpu_ns);
	int64_t gap = (int64_t)(now_ns - clock->last.now_ns) - cpu;

	clock->cpu_pending_ns += cpu;
	if (gap <= 0)
		clock->queued_pending_ns += gap;
	else
		account_gap(clock, gap, queued_of(clock, gap - seen_waiting(thread), delay_ns),
			    delay_ns);
	clock->recorded_ns += now_ns - clock->last.now_ns;
	clock->last.now_ns = now_ns;
	clock->last.cpu_ns = cpu_ns;
}

/* in_window for what was read from outside. */
static bool remote_in_window(struct thread *thread, uint64_t *now_ns, uint64_t *cpu_ns)
{
	struct clock_reading reading = thread->clock.last;

	reading.now_ns = *now_ns;
	reading.cpu_ns = *cpu_ns;
	bool inside = in_window(thread, &reading);

	*now_ns = reading.now_ns;
	*cpu_ns = reading.cpu_ns;
	return inside;
}

/* A thread that waits in our handler does so for a call of the program: that is where it is. */
static struct call_place place_of(const struct thread *thread, const struct clock_remote *remote)
{
	struct call_place program = thread->continued;
	bool ours = remote->pc >= collector.text_low && remote->pc < collector.text_high;

	if (ours && program.sp > remote->sp)
		return program;
	return (struct call_place){.pc = remote->pc, .sp = remote->sp, .call = remote->call};
}

static enum format_state remote_state(const struct clock_remote *remote, long call)
{
	if (remote->stopped)
		return FORMAT_STATE_STOPPED;
	if (remote->hidden && call < 0)
		return FORMAT_STATE_SLEEP;
	return call < 0 ? FORMAT_STATE_DATA_FAULT : clock_call_state(call);
}

/* False: it is over by now, and the time stays pending. */
static bool begin_remote(struct thread *thread, const struct clock_remote *remote,
			 int64_t queued_ns)
{
	struct clock_account *clock = &thread->clock;
	bool preempted = remote->preempted > clock->preempted &&
			 remote->preempted > clock->last.involuntary_switches;
	struct call_place place = place_of(thread, remote);
	uint32_t before = clock->remote_stack;
	const struct runtime_context then = clock->remote_context;

	clock->remote_slices = remote->slices;
	if (remote->preempted)
		clock->preempted = remote->preempted;
	clock->remote_stack = remote->hidden ? stacktable_intern(0, FORMAT_PC_NO_STACK, NULL)
					     : stack_of_blocked(thread, place.pc, place.sp);
	clock->remote_state = remote_state(remote, place.call);
	clock->remote_context = thread->context; /* not a copy of now: its team may end meanwhile */
	if (!clock_still_waits(remote)) {
		unwind_memory_reset(thread->unwind);
		clock->remote_stack = 0;
		return false;
	}
	/* Who was pushed off was so before this wait, where it ran: a tick will say. */
	if (!preempted)
		emit_woken(thread, queued_ns, before ? before : clock->remote_stack,
			   before ? &then : &clock->remote_context);
	return true;
}

static void remote_wait(struct thread *thread, const struct clock_remote *remote, uint64_t now_ns)
{
	struct clock_account *clock = &thread->clock;
	uint64_t cpu_ns = remote->cpu_ns;
	int64_t queued_ns = clock->queued_pending_ns;

	if (!remote_in_window(thread, &now_ns, &cpu_ns))
		return;
	account_remote(thread, now_ns, cpu_ns, remote->delay_ns);
	take_stop(clock);
	clock->remote_over = false;
	if ((clock->remote_slices != remote->slices || !clock->remote_stack) &&
	    !begin_remote(thread, remote, queued_ns))
		return;
	clock_record(thread, FORMAT_STATE_STOPPED, &clock->stopped_pending_ns, clock->remote_stack,
		     &clock->remote_context);
	clock_record(thread, clock->remote_state, &clock->blocked_pending_ns, clock->remote_stack,
		     &clock->remote_context);
}

static void remote_until(struct thread *thread, uint64_t now_ns)
{
	struct clock_account *clock = &thread->clock;
	uint64_t cpu_ns = clock->last.cpu_ns;

	if (!clock->remote_stack || now_ns <= clock->last.now_ns ||
	    !remote_in_window(thread, &now_ns, &cpu_ns))
		return;
	account_remote(thread, now_ns, cpu_ns, clock->delay_ns);
	clock_record(thread, clock->remote_state, &clock->blocked_pending_ns, clock->remote_stack,
		     &clock->remote_context);
}

static void settle_other(struct thread *thread)
{
	struct clock_account *clock = &thread->clock;
	struct clock_remote remote = {0};
	bool seen = clock_look_at(thread, &remote);
	uint64_t now_ns = clock_now_ns();

	remote.cpu_ns = clock_other_cpu_ns(thread->tid);
	if (remote.cpu_ns < clock->last.cpu_ns) /* it is gone */
		return;
	struct clock_reading whole = clock->last;

	whole.now_ns = now_ns;
	whole.cpu_ns = remote.cpu_ns;
	if (!remote_in_window(thread, &now_ns, &remote.cpu_ns))
		return;
	if (seen && (remote.blocked || remote.hidden))
		remote_wait(thread, &remote, now_ns);
	else
		account_remote(thread, now_ns, remote.cpu_ns, seen ? remote.delay_ns : 0);
	emit_rest(thread, FORMAT_STATE_USER, 0);
	if (was_cut(thread, &whole))
		skip_to(thread, &whole);
}

/* The same, written by a thread that is not the lane's. */

void clock_remote_wait(struct thread *thread, const struct clock_remote *remote, uint64_t now_ns)
{
	thread->lane.elsewhere = true;
	remote_wait(thread, remote, now_ns);
	thread->lane.elsewhere = false;
}

void clock_remote_until(struct thread *thread, uint64_t now_ns)
{
	thread->lane.elsewhere = true;
	remote_until(thread, now_ns);
	thread->lane.elsewhere = false;
}

void clock_settle_other(struct thread *thread)
{
	thread->lane.elsewhere = true;
	settle_other(thread);
	thread->lane.elsewhere = false;
}
