/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf engine: software events of the kernel with `sigtrap`, opened
 * once in the first thread and inherited by all later threads.
 *
 *   tick    task clock, every interval of CPU time, in user and kernel mode
 *   switch  context switches, each: delivered when the thread runs again
 *
 * SIGTRAP is raised on the way back to user mode: by itself it interrupts no system call.  Where
 * something else ends one, see wait.c.  One tick event
 * and not two (user, kernel): each costs a timer interrupt, and two that expire
 * together leave one signal and a wrong state; cpu_state() tells the modes apart.
 *
 * Inherited events cannot get another period.  Where the interval is to become longer there is a
 * third event from the start, at the longer one, disabled: the two change places, and the kernel
 * sees to it in all threads.
 *
 * A switch event costs some 6 us.  When they come too often the event is
 * disabled for a moment.  Short waits of that time stay pending and go to the next
 * sampled one, so the totals hold; long ones are seen from outside (clock_watch.c).  A
 * passing raw thread enables it again.
 *
 * A process that has perf events at all pays for each context switch: some 0.4 us between
 * threads of one process, whose events the kernel exchanges, but up to 8 us in a virtual
 * machine between processes, where it sets a timer each time.  One that keeps switching
 * thousands of times a second, as servers do, is handed over to the monitor engine, which
 * costs a third of that or less there.
 */
#include "collector/sources/clock_perf.h"

#include "collector/arch/sys.h"
#include "collector/core/log.h"
#include "collector/core/rawthread.h"
#include "collector/core/signals.h"
#include "collector/core/stack.h"
#include "collector/core/tasks.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/sources/clock.h"
#include "collector/sources/clock_engine.h"
#include "collector/sources/clock_event.h"
#include "collector/sources/clock_holder_requests.h"
#include "collector/sources/clock_interval.h"
#include "collector/sources/clock_jitter.h"
#include "collector/sources/clock_monitor.h"
#include "collector/sources/clock_phase.h"
#include "collector/sources/clock_reading.h"
#include "collector/sources/clock_signals.h"
#include "collector/sources/clock_steps.h"
#include "collector/sources/clock_switches.h"
#include "collector/sources/clock_timer.h"
#include "collector/sources/clock_watch.h"
#include "collector/sources/counter.h"
#include "collector/sources/overhead.h"
#include "collector/storage/descriptor.h"
#include "collector/storage/own_use.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"
#include "collector/unwind/unwind.h"

#include <linux/perf_event.h>
#include <string.h>
#include <time.h>

/* offsets of si_perf_data and si_perf_flags, and the flag of a signal that was blocked */
enum { SIGINFO_PERF_DATA = 24, SIGINFO_PERF_FLAGS = 36, PERF_FLAG_ASYNC = 1 };

/* Switch events: 1,000 a second in the long run (some 1 % of a processor), 250 at once. */
enum {
	SWITCH_COST_NS = 1000 * 1000,
	SWITCH_BURST_NS = 250 * SWITCH_COST_NS,
	SWITCH_PAUSE_NS = 20 * 1000 * 1000,
};

static _Atomic int tick_fd = DESCRIPTOR_NONE;
static _Atomic int later_fd = DESCRIPTOR_NONE; /* ticks at the longer interval */
static _Atomic bool later;		       /* that one is in force */
static _Atomic unsigned widening;	       /* threads that make them change places */
static _Atomic uint64_t switches_paid_until_ns;
static _Atomic bool paused;
static _Atomic bool first_phase; /* the interval is only a part of one */
static _Atomic bool lengthened;	 /* … is longer, for a rest: see lengthen_interval */
static _Atomic bool inherited;	 /* … or may be: another thread has been or is being created */
static char rearm_stack[4096] __attribute__((aligned(16)));

static int control(_Atomic int *event, unsigned long request)
{
	return sys_ioctl(descriptor_number(event), request, 0);
}

static void rearm(void)
{
	const struct timespec pause = {.tv_nsec = SWITCH_PAUSE_NS};

	sys_call(SYS_nanosleep, &pause, 0, 0, 0);
	switches_begin_window();
	if (!atomic_load(&paused))
		control(&switches_fd, PERF_EVENT_IOC_ENABLE);
	watch_waits();
	rawthread_exit(&switches_off);
}

/*
 * Under ptrace a signal stops the thread, which is a context switch, which raises the next signal:
 * a debugger or tracer may have come meanwhile.
 */
static bool is_traced_now(void)
{
	enum { EVERY = 64 }; /* some 20 us each */
	static _Atomic uint32_t events;

	return atomic_fetch_add_explicit(&events, 1, memory_order_relaxed) % EVERY == EVERY - 1 &&
	       task_is_traced(sys_gettid());
}

/* The monitor takes over for good; SIGTRAPs that are under way still find our handler. */
static void hand_over(const char *why)
{
	interval_widen();
	if (!monitor_engine_take_over()) {
		atomic_store(&switches_off, 0);
		return;
	}
	monitor_engine_look_seldom();
	perf_engine_forget();
	log_engine("monitor");
	log_warning(why, 0);
}

/* cost_ns: what this one took; a slow handler must not make them more than is allowed. */
static __attribute__((noinline)) void throttle_switches(uint64_t now_ns, uint64_t cost_ns)
{
	uint64_t least_ns = overhead_time_for(cost_ns);
	uint64_t paid = atomic_load_explicit(&switches_paid_until_ns, memory_order_relaxed);
	bool traced = is_traced_now();
	unsigned expected = 0;

	switches_count(now_ns);
	paid = (paid > now_ns ? paid : now_ns) +
	       (least_ns > SWITCH_COST_NS ? least_ns : SWITCH_COST_NS);
	atomic_store_explicit(&switches_paid_until_ns, paid, memory_order_relaxed);
	if ((paid < now_ns + SWITCH_BURST_NS && !traced) ||
	    !atomic_compare_exchange_strong(&switches_off, &expected, 1))
		return;
	switches_note_pause();
	if (traced) {
		hand_over("a debugger or tracer has come: the monitor engine goes on");
		return;
	}
	if (least_ns > SWITCH_COST_NS)
		overhead_limited();
	if (switches_are_too_many(now_ns) && interval_looks_are_cheap()) {
		hand_over("too many context switches for perf events: the monitor engine goes on");
		return;
	}
	if (holder_pause_switches())
		return;
	control(&switches_fd, PERF_EVENT_IOC_DISABLE);
	if (rawthread_start(rearm, rearm_stack, sizeof(rearm_stack), false) < 0) {
		control(&switches_fd, PERF_EVENT_IOC_ENABLE);
		atomic_store(&switches_off, 0);
	}
}

/* The event whose ticks come. */
static _Atomic int *ticking(void)
{
	return atomic_load_explicit(&later, memory_order_relaxed) ? &later_fd : &tick_fd;
}

static void set_interval(_Atomic int *event, uint64_t interval_ns)
{
	sys_ioctl(descriptor_number(event), PERF_EVENT_IOC_PERIOD, (unsigned long)&interval_ns);
}

/* Those that come, and those that later threads inherit for the time when the others come. */
static void vary_intervals(void)
{
	atomic_store(&first_phase, false);
	atomic_store(&lengthened, false);
	set_interval(ticking(), jitter_ns(collector.interval_ns));
	if (later_fd >= 0 && !atomic_load_explicit(&later, memory_order_relaxed))
		set_interval(&later_fd, jitter_ns(collector.last_interval_ns));
}

void perf_engine_before_thread(void)
{
	atomic_store(&inherited, true);
	if ((atomic_load_explicit(&first_phase, memory_order_relaxed) ||
	     atomic_load_explicit(&lengthened, memory_order_relaxed)) &&
	    tick_fd >= 0)
		vary_intervals();
}

/* All threads' ticks come at the longer interval from now on.  In a handler.  Before exec nothing
 * may be switched on any more: see perf_engine_pause. */
static void widen(void)
{
	atomic_fetch_add(&widening, 1);
	if (later_fd >= 0) {
		atomic_store(&later, true);
		/* In this order: a thread that is born meanwhile has one of them at least. */
		if (!atomic_load(&paused) && !control(&later_fd, PERF_EVENT_IOC_ENABLE))
			control(&tick_fd, PERF_EVENT_IOC_DISABLE);
	}
	atomic_fetch_sub(&widening, 1);
}

static struct counter_signal counter_signal_of(uint64_t event, const siginfo_t *info)
{
	uint32_t flags;

	memcpy(&flags, (const char *)info + SIGINFO_PERF_FLAGS, sizeof(flags));
	return (struct counter_signal){
		.number = event - PERF_EVENT_COUNTER,
		.address = (uint64_t)info->si_addr,
		.waited = flags & PERF_FLAG_ASYNC,
	};
}

/* Does each tick set when the next one comes? */
static bool are_steps(const struct thread *thread)
{
	return thread && atomic_load_explicit(&first_phase, memory_order_relaxed);
}

/*
 * The next intervals of the process's first thread, and of threads that begin meanwhile, are
 * longer or shorter: a program whose work comes in periods must not meet the ticks always at the
 * same place.  An inherited event's interval is its own for good.  While the process is young, and
 * has no other thread, each tick sets when the next one comes (clock_steps.c).
 */
static void vary_interval(const struct thread *thread)
{
	enum { EVERY = 4 };
	static uint32_t ticks;

	if (tick_fd < 0 || sys_gettid() != atomic_load(&collector.pid))
		return;
	uint64_t step_ns = are_steps(thread) ? phase_step_delay_ns(thread) : 0;

	if (step_ns)
		set_interval(ticking(), step_ns);
	else if (ticks++ % EVERY == 0 || atomic_load(&first_phase) || atomic_load(&lengthened))
		vary_intervals();
}

/*
 * The rest of a process that has never had but one thread, and no counters: the next interval is
 * longer.  That takes a hundredth of what it takes to switch all events off and on.
 */
static bool lengthen_interval(struct thread *thread, uint64_t rest_ns)
{
	if (!thread || tick_fd < 0 || counter_is_any() || atomic_load(&inherited) ||
	    atomic_load(&collector.threads) != 1 || sys_gettid() != atomic_load(&collector.pid))
		return false;
	if (rest_ns < collector.interval_ns)
		rest_ns = collector.interval_ns;
	atomic_store_explicit(&thread->overhead.rest_until_ns, clock_own_cpu_ns() + rest_ns,
			      memory_order_relaxed);
	atomic_store(&lengthened, true);
	set_interval(ticking(), rest_ns);
	overhead_limited();
	return true;
}

/* A tick that was under way when the interval was lengthened. */
static __attribute__((noinline)) bool is_in_lengthened_interval(const struct thread *thread)
{
	const uint64_t early_ns = 20 * 1000;

	return thread && atomic_load_explicit(&lengthened, memory_order_relaxed) &&
	       clock_own_cpu_ns() + early_ns <
		       atomic_load_explicit(&thread->overhead.rest_until_ns, memory_order_relaxed);
}

/*
 * A tick that is none: of two events that meet one is signalled, and this may be the switch's, too.
 * A stop that nobody else tells of would have no call stack.
 */
static __attribute__((noinline)) void take_met_switch(struct thread *thread,
						      const struct unwind_regs *regs)
{
	if (!thread || !thread_try_lock(thread))
		return;
	if (clock_met_switch(thread))
		clock_switched_in(thread, regs);
	thread_unlock(thread);
}

/* is_switch: of two events for one switch, only one is signalled. */
static void take(struct thread *thread, uint64_t event, struct counter_signal *counted,
		 bool is_switch, const struct unwind_regs *regs)
{
	bool ours = thread && event == PERF_EVENT_TICK &&
		    atomic_load_explicit(&thread->own_work, memory_order_relaxed);

	counted->locked = thread && !ours && thread_try_lock(thread); /* else time stays pending */
	counter_signal(thread, counted, regs);
	bool early = counted->locked && are_steps(thread) && phase_step_is_early(thread);

	if (counted->locked && event == PERF_EVENT_TICK && !early && !phase_has_timer(thread))
		clock_tick(thread, regs);
	else if (counted->locked && (is_switch || clock_met_switch(thread)))
		clock_switched_in(thread, regs);
	if (event == PERF_EVENT_TICK)
		vary_interval(thread);
}

static enum overhead_kind kind_of(uint64_t event, uint64_t counter, bool is_switch)
{
	if (event == PERF_EVENT_TICK || counter_is_timer(counter))
		return OVERHEAD_TICK;
	return is_switch ? OVERHEAD_SWITCH : OVERHEAD_COUNTER;
}

/* What it takes to deliver a tick is known for the family. */
static void spent(uint64_t cost_ns)
{
	uint64_t delivery_ns = overhead_delivery_ns();

	interval_spent(cost_ns > delivery_ns ? cost_ns - delivery_ns : 0);
}

/* Not inlined, for the sake of the handler's stack. */
static __attribute__((noinline)) void rest(struct thread *thread, uint64_t event, uint64_t ns)
{
	if (event != PERF_EVENT_TICK || (!interval_widen() && !lengthen_interval(thread, ns)))
		overhead_rest(ns);
}

static void handle(uint64_t event, const siginfo_t *info, const void *context)
{
	struct counter_signal counted = counter_signal_of(event, info);
	bool is_switch = event == PERF_EVENT_SWITCH ||
			 (counter_is_switch(counted.number) && switches_are_seen());
	struct overhead_mark mark;
	struct unwind_regs regs;
	uint64_t rest_ns;

	overhead_end_rest();
	stack_interrupted(&regs, context);
	if (!is_switch && overhead_rests()) {
		take_met_switch(thread_interrupted(&regs), &regs);
		return;
	}
	/* This thread was just being born then, or it could not be done. */
	if (event == PERF_EVENT_TICK && atomic_load_explicit(&later, memory_order_relaxed))
		widen();
	if (event == PERF_EVENT_LATER)
		event = PERF_EVENT_TICK;
	overhead_enter(&mark, event != PERF_EVENT_TICK && !is_switch);
	struct thread *thread = thread_interrupted(&regs);

	/* Where time is short a preemption's can wait for the next event. */
	if (event == PERF_EVENT_SWITCH && thread && overhead_is_limited() &&
	    !clock_has_unaccounted_wait(thread))
		return;
	if (event == PERF_EVENT_TICK && is_in_lengthened_interval(thread)) {
		take_met_switch(thread, &regs);
		overhead_leave(thread, &mark, OVERHEAD_TICK, &rest_ns);
		return;
	}
	take(thread, event, &counted, is_switch, &regs);
	uint64_t cost_ns =
		overhead_leave(thread, &mark, kind_of(event, counted.number, is_switch), &rest_ns);

	if (counted.locked) {
		counter_own_faults(thread);
		thread_unlock(thread);
	}
	if (is_switch && counted.locked)
		throttle_switches(thread->clock.last.now_ns, cost_ns);
	if (rest_ns)
		rest(thread, event, rest_ns);
	if (event == PERF_EVENT_TICK)
		spent(cost_ns);
}

static uint64_t event_of(const siginfo_t *info)
{
	uint64_t data;

	memcpy(&data, (const char *)info + SIGINFO_PERF_DATA, sizeof(data));
	return data;
}

void perf_signal(const siginfo_t *info, const void *context)
{
	const struct own_use_span *span = own_use_first_begin();

	if (atomic_load_explicit(&collector.recording, memory_order_relaxed))
		handle(event_of(info) & 0xff, info, context);
	own_use_first_end(span);
}

bool perf_signal_is_ours(const siginfo_t *info)
{
	return info->si_signo == CLOCK_SIGNAL_PERF && info->si_code == TRAP_PERF_CODE &&
	       (event_of(info) & ~(uint64_t)0xff) == PERF_COOKIE;
}

/*
 * Not so short that the thread does nothing else until its first tick has set a whole interval, nor
 * a thread that inherits it.  A tick that is due earlier is a timer's.  A whole interval that is
 * shorter comes then, too: the first tick, whose handler meets page faults, is not interrupted by
 * those that follow, again and again.
 */
static uint64_t first_interval_ns(void)
{
	const uint64_t shortest_ns = 200 * 1000;
	struct thread *thread = thread_current_if_known();

	if (shortest_ns >= collector.interval_ns)
		return shortest_ns + jitter_random(collector.interval_ns);
	if (!thread)
		return shortest_ns + jitter_random(collector.interval_ns - shortest_ns);
	uint64_t first_ns = phase_process_first_ns(thread, shortest_ns);

	if (!thread->clock.phase.timer_first)
		return first_ns;
	return first_ns + steps_length_ns(0, 0); /* at the same place of the second step */
}

static uint64_t begin_interval_ns(uint64_t event)
{
	if (event == PERF_EVENT_SWITCH)
		return 0;
	if (event == PERF_EVENT_TICK)
		return first_interval_ns();
	return jitter_ns(collector.last_interval_ns);
}

/* 0, or a negative errno. */
static int open_own(_Atomic int *owner, uint64_t event)
{
	int fd = clock_event_open(0, event, begin_interval_ns(event));

	if (fd < 0)
		return fd;
	if (!descriptor_hold(fd, owner))
		return -EMFILE;
	if (event == PERF_EVENT_TICK) {
		struct thread *thread = thread_current_if_known();

		sys_ioctl(*owner, PERF_EVENT_IOC_ENABLE, 0);
		if (thread && thread->clock.phase.timer_first)
			timer_arm(thread);
	}
	return 0;
}

/* What an interrupt takes is measured first where it may matter, once for the family. */
static void raise_interval(void)
{
	const uint64_t probe_ns = 50 * 1000;

	if (!collector.interval_ns || collector.engine != ENGINE_PERF ||
	    collector.interval_ns >= overhead_longest_least_interval_ns())
		return;
	int probe = interval_knows_delivery() ? -1 : clock_event_open_silent(probe_ns);

	interval_raise();
	if (probe >= 0)
		sys_close(probe);
}

bool perf_engine_prepare(void)
{
	raise_interval();
	interval_call_when_widened(widen);
	atomic_store(&switches_off, 0);
	switches_forget_windows();
	atomic_store(&paused, false);
	atomic_store(&later, false);
	atomic_store(&lengthened, false);
	atomic_store(&inherited, false);
	atomic_store(&widening, 0);
	/* For the timers of young threads; and to hand over is done in a handler, whose mask is not
	 * the program's. */
	monitor_engine_prepare();
	return signal_take(CLOCK_SIGNAL_PERF, clock_handlers.perf);
}

bool perf_engine_start(char *reason, size_t size)
{
	struct text why = {.buffer = reason, .size = size};
	const char *harm = engine_signals_harm();

	if (harm) {
		text_puts(&why, harm);
		return false;
	}

	/*
	 * Under ptrace every signal stops the thread, which is a context switch, which raises
	 * the next signal: the program would stand still.
	 */
	if (task_is_traced(sys_gettid())) {
		text_puts(&why, "a debugger or tracer is attached");
		return false;
	}
	interval_begin();
	if (!perf_engine_prepare()) {
		text_puts(&why, "SIGTRAP cannot be handled");
		return false;
	}
	int result = open_own(&switches_fd, PERF_EVENT_SWITCH);

	if (!result && collector.interval_ns < collector.last_interval_ns &&
	    open_own(&later_fd, PERF_EVENT_LATER))
		interval_widen(); /* at once: the short one would have no end */
	atomic_store(&first_phase, true);
	if (!result)
		result = open_own(&tick_fd, PERF_EVENT_TICK);
	if (result) {
		text_puts(&why, "perf_event_open: errno ");
		text_decimal(&why, -result);
		perf_engine_forget();
	}
	return !result;
}

void perf_engine_begin_program(const struct thread *thread)
{
	const struct clock_phase *phase = &thread->clock.phase;

	if (tick_fd >= 0 && are_steps(thread) && phase->due_cpu_ns && !phase->timer_first)
		set_interval(ticking(), phase_step_delay_ns(thread));
}

void perf_engine_switches_resumed(void)
{
	switches_begin_window();
	atomic_store(&switches_off, 0);
}

void perf_engine_pause(void)
{
	atomic_store(&paused, true);
	if (thread_current_if_known())
		timer_disarm(thread_current_if_known());
	sys_getpid(); /* a signal that is under way is delivered before a system call returns */
	if (holder_pause())
		return;
	while (atomic_load(&widening))
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	control(&switches_fd, PERF_EVENT_IOC_DISABLE);
	control(&tick_fd, PERF_EVENT_IOC_DISABLE);
	if (later_fd >= 0)
		control(&later_fd, PERF_EVENT_IOC_DISABLE);
}

void perf_engine_resume(void)
{
	atomic_store(&paused, false);
	if (thread_current_if_known())
		timer_arm(thread_current_if_known());
	if (holder_resume())
		return;
	control(&switches_fd, PERF_EVENT_IOC_ENABLE);
	if (!overhead_is_resting())
		control(ticking(), PERF_EVENT_IOC_ENABLE);
}

/* The descriptor may be moved out of the program's way just now. */
bool perf_engine_switch_ticks(bool on)
{
	enum { TRIES = 50, NAP_NS = 100 * 1000 };

	if (tick_fd < 0 || atomic_load(&paused))
		return true;
	for (int i = 0; i < (on ? TRIES : 1); i++) {
		if (!control(ticking(), on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE))
			return true;
		if (on)
			sys_nap(NAP_NS);
	}
	return false;
}

void perf_engine_wait_for_thread(void)
{
	while (atomic_load(&switches_off))
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	watch_stop();
}

void perf_engine_forget(void)
{
	holder_drop();
	descriptor_drop(&switches_fd);
	descriptor_drop(&tick_fd);
	descriptor_drop(&later_fd);
}
