/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf engine: two software events of the kernel with `sigtrap`, opened
 * once in the first thread and inherited by all later threads.
 *
 *   tick    task clock, every interval of CPU time, in user and kernel mode
 *   switch  context switches, each: delivered when the thread runs again
 *
 * SIGTRAP is raised on the way back to user mode: no system call ever sees
 * a pending signal, so nothing returns EINTR or a short count.  One tick event
 * and not two (user, kernel): each costs a timer interrupt, and two that expire
 * together leave one signal and a wrong state; cpu_state() tells the modes apart.
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
 * costs nothing there.
 */
#include "collector/core/rawthread.h"
#include "collector/core/sys.h"
#include "collector/core/tasks.h"
#include "collector/core/text.h"
#include "collector/sources/clock.h"
#include "collector/sources/counter.h"
#include "collector/wrap/descriptor.h"
#include "collector/wrap/next.h"
#include "collector/wrap/wait.h"

#include <linux/perf_event.h>
#include <string.h>
#include <time.h>

enum { TRAP_PERF_CODE = 6 }; /* si_code TRAP_PERF: newer than Debian 12's headers */
/* offsets of si_perf_data and si_perf_flags, and the flag of a signal that was blocked */
enum { SIGINFO_PERF_DATA = 24, SIGINFO_PERF_FLAGS = 36, PERF_FLAG_ASYNC = 1 };

/* Switch events: 1,000 a second in the long run (some 1 % of a processor), 250 at once. */
enum {
	SWITCH_COST_NS = 1000 * 1000,
	SWITCH_BURST_NS = 250 * SWITCH_COST_NS,
	SWITCH_PAUSE_NS = 20 * 1000 * 1000,
};

/* So many windows in a row at more than so many switches a second: too much for perf events. */
enum { HEAVY_WINDOWS = 4, HEAVY_SWITCHES = 1000 };

static _Atomic int tick_fd = DESCRIPTOR_NONE, switch_fd = DESCRIPTOR_NONE;
static _Atomic uint64_t switches_paid_until_ns;
static _Atomic unsigned switches_off;
static _Atomic uint32_t switches_seen; /* in the window that is open */
static _Atomic uint64_t window_start_ns;
static _Atomic uint32_t heavy_windows;
static _Atomic bool paused;
static char rearm_stack[4096] __attribute__((aligned(16)));

static void rearm(void)
{
	const struct timespec pause = {.tv_nsec = SWITCH_PAUSE_NS};

	sys_call(SYS_nanosleep, &pause, 0, 0, 0);
	atomic_store(&switches_seen, 0); /* without stragglers of the last window */
	if (!atomic_load(&paused))
		sys_ioctl(switch_fd, PERF_EVENT_IOC_ENABLE, 0);
	watch_waits();
	rawthread_exit(&switches_off);
}

/* At the end of a window: has it been too much for too long? */
static bool too_many_switches(uint64_t now_ns)
{
	uint64_t seen = atomic_exchange(&switches_seen, 0);
	uint64_t length_ns = now_ns - atomic_load(&window_start_ns);
	bool heavy = seen * 1000000000u > length_ns * (uint64_t)HEAVY_SWITCHES;

	atomic_store(&heavy_windows, heavy ? atomic_load(&heavy_windows) + 1 : 0);
	return atomic_load(&heavy_windows) > HEAVY_WINDOWS;
}

/* The monitor takes over for good; SIGTRAPs that are under way still find our handler. */
static void hand_over(void)
{
	if (!monitor_engine_take_over()) {
		atomic_store(&switches_off, 0);
		return;
	}
	monitor_engine_look_seldom();
	perf_engine_forget();
	log_warning("too many context switches for perf events: the monitor engine goes on", 0);
}

static void throttle_switches(uint64_t now_ns)
{
	uint64_t paid = atomic_load_explicit(&switches_paid_until_ns, memory_order_relaxed);
	unsigned expected = 0;

	if (!atomic_fetch_add_explicit(&switches_seen, 1, memory_order_relaxed))
		atomic_store_explicit(&window_start_ns, now_ns, memory_order_relaxed);

	paid = (paid > now_ns ? paid : now_ns) + SWITCH_COST_NS;
	atomic_store_explicit(&switches_paid_until_ns, paid, memory_order_relaxed);
	if (paid < now_ns + SWITCH_BURST_NS ||
	    !atomic_compare_exchange_strong(&switches_off, &expected, 1))
		return;
	if (too_many_switches(now_ns) && monitor_engine_is_cheap()) {
		hand_over();
		return;
	}
	if (keeper_breathe())
		return;
	sys_ioctl(switch_fd, PERF_EVENT_IOC_DISABLE, 0);
	if (rawthread_start(rearm, rearm_stack, sizeof(rearm_stack), false) < 0) {
		sys_ioctl(switch_fd, PERF_EVENT_IOC_ENABLE, 0);
		atomic_store(&switches_off, 0);
	}
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

static void handle(uint64_t event, const siginfo_t *info, const void *context)
{
	struct counter_signal counted = counter_signal_of(event, info);
	struct unwind_regs regs;

	unwind_regs_from_context(&regs, context);
	struct thread *thread = thread_interrupted(&regs);
	/* Of two events for one switch, only one is signalled. */
	bool is_switch = event == PERF_EVENT_SWITCH ||
			 (counter_is_switch(counted.number) && perf_engine_sees_switches());

	counted.locked = thread && thread_try_lock(thread); /* else time stays pending */
	counter_signal(thread, &counted, &regs);
	if (counted.locked && event == PERF_EVENT_TICK)
		clock_tick(thread, &regs);
	else if (counted.locked && is_switch)
		clock_switched_in(thread, &regs);
	if (!counted.locked)
		return;
	counter_own_faults(thread);
	thread_unlock(thread);
	if (is_switch)
		throttle_switches(thread->clock.last.now_ns);
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	uint64_t data;

	memcpy(&data, (const char *)info + SIGINFO_PERF_DATA, sizeof(data));
	if (info->si_code == TRAP_PERF_CODE && (data & ~(uint64_t)0xff) == PERF_COOKIE) {
		if (atomic_load_explicit(&collector.recording, memory_order_relaxed))
			handle(data & 0xff, info, context);
		wait_go_on(context, false);
		return;
	}
	signal_forward(signal, info, context);
}

int perf_engine_open(int tid, bool switches)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = switches ? PERF_COUNT_SW_CONTEXT_SWITCHES : PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = switches ? 1 : collector.interval_ns,
		.inherit = 1,
		.inherit_thread = 1,
		.sigtrap = 1,
		.remove_on_exec = 1,
		.sig_data = PERF_COOKIE | (switches ? PERF_EVENT_SWITCH : PERF_EVENT_TICK),
	};

	return (int)sys_call6(SYS_perf_event_open, SYS_ARG(&attr), tid, -1, -1,
			      PERF_FLAG_FD_CLOEXEC, 0);
}

/* 0, or a negative errno. */
static int open_own(_Atomic int *owner, bool switches)
{
	int fd = perf_engine_open(0, switches);

	if (fd < 0)
		return fd;
	return descriptor_hold(fd, owner) ? 0 : -EMFILE;
}

bool perf_signal_take(void)
{
	return signal_take(CLOCK_SIGNAL_PERF, on_trap);
}

bool perf_engine_prepare(void)
{
	atomic_store(&switches_off, 0);
	atomic_store(&switches_seen, 0);
	atomic_store(&heavy_windows, 0);
	atomic_store(&paused, false);
	return perf_signal_take();
}

bool perf_engine_start(char *reason, size_t size)
{
	struct text why = {.buffer = reason, .size = size};

	/*
	 * Under ptrace every signal stops the thread, which is a context switch, which raises
	 * the next signal: the program would stand still.
	 */
	if (task_is_traced(sys_gettid())) {
		text_puts(&why, "a debugger or tracer is attached");
		return false;
	}
	if (!perf_engine_prepare()) {
		text_puts(&why, "SIGTRAP cannot be handled");
		return false;
	}
	int result = open_own(&switch_fd, true);
	if (!result)
		result = open_own(&tick_fd, false);
	if (result) {
		text_puts(&why, "perf_event_open: errno ");
		text_decimal(&why, -result);
		perf_engine_forget();
	}
	return !result;
}

void perf_engine_breathed(void)
{
	atomic_store(&switches_seen, 0); /* without stragglers of the last window */
	atomic_store(&switches_off, 0);
}

bool perf_engine_sees_switches(void)
{
	return (switch_fd >= 0 || keeper_holds()) &&
	       !atomic_load_explicit(&switches_off, memory_order_relaxed);
}

void perf_engine_pause(void)
{
	atomic_store(&paused, true);
	if (keeper_pause())
		return;
	sys_ioctl(switch_fd, PERF_EVENT_IOC_DISABLE, 0);
	sys_ioctl(tick_fd, PERF_EVENT_IOC_DISABLE, 0);
}

void perf_engine_resume(void)
{
	atomic_store(&paused, false);
	if (keeper_resume())
		return;
	sys_ioctl(switch_fd, PERF_EVENT_IOC_ENABLE, 0);
	sys_ioctl(tick_fd, PERF_EVENT_IOC_ENABLE, 0);
}

void perf_engine_wait_for_thread(void)
{
	while (atomic_load(&switches_off))
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	watch_stop();
}

void perf_engine_forget(void)
{
	keeper_drop();
	descriptor_drop(&switch_fd);
	descriptor_drop(&tick_fd);
}
