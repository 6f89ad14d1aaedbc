/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor engine: for where perf events are not to be had.
 *
 * A raw thread wakes up every interval and looks at each thread in
 * /proc/self/task.  One that is blocked is sampled from here, by reading its
 * stack with process_vm_readv: its system call is not disturbed.  The wake-ups
 * jitter by an eighth, so that they do not fall into step with the program, and get
 * rarer where nobody computes.
 *
 * CPU time is sampled by a timer on each thread's CPU clock: it expires in the
 * timer interrupt, at the very instruction.  Its grain is the kernel's tick.  Where
 * the interval is shorter, threads that do not wait have a timer of the wall clock
 * (clock_phase.c).  Each thread sets its own: what another one sends arrives by an interrupt
 * between processors, late, and is met at the next entry into the kernel.  So the monitor signals
 * only threads that could get no timer, and after a stop.
 */
#include "collector/sources/clock_monitor.h"

#include "collector/arch/sys.h"
#include "collector/core/clock_look.h"
#include "collector/core/log.h"
#include "collector/core/process_cpu.h"
#include "collector/core/rawthread.h"
#include "collector/core/signals.h"
#include "collector/core/stack.h"
#include "collector/core/tasks.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/sources/clock.h"
#include "collector/sources/clock_engine.h"
#include "collector/sources/clock_holder_requests.h"
#include "collector/sources/clock_interval.h"
#include "collector/sources/clock_jitter.h"
#include "collector/sources/clock_phase.h"
#include "collector/sources/clock_queue.h"
#include "collector/sources/clock_signals.h"
#include "collector/sources/clock_sigwait.h"
#include "collector/sources/clock_state.h"
#include "collector/sources/clock_stop.h"
#include "collector/sources/clock_timer.h"
#include "collector/sources/overhead.h"
#include "collector/storage/own_use.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"
#include "collector/unwind/unwind.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <time.h>

enum { MONITOR_STACK = 64 * 1024 };

/* See monitor_engine_look_seldom: the intervals from one look to the next. */
enum { SELDOM = 4 };

/* Where nobody computes the looks become rarer, up to this: a wait is as long as it was seen. */
enum { IDLE_NS = 10 * 1000 * 1000 };

/* Where the program uses no CPU time, the looks may take as much as if it used a tenth of it. */
enum { IDLE_PARTS = 10 };

/* A wait that goes on is written down this often, so that a kill loses no more. */
enum { WAIT_FLUSH_NS = 100 * 1000 * 1000 };

static _Atomic uint32_t stopping; /* a futex that the monitor sleeps on */
static _Atomic unsigned sending;  /* a signal is on its way out */
static _Atomic bool paused;
static _Atomic bool seldom;
static _Atomic uint32_t files_wanted; /* see monitor_engine_open_files: a futex */
static char *stack;
static int monitor_tid;
static struct overhead_account looks; /* see paying_clock_ns */
static uint64_t looked_cpu_ns, looked_ns;
static _Atomic uint64_t gap_ns; /* from the last look to the next, but for jitter */

static struct timespec period(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
				 .tv_nsec = (long)(ns % 1000000000u)};
}

struct tick {
	int dir;		     /* /proc/self/task */
	int sched;		     /* the monitor's own schedstat */
	uint64_t delay_ns, awake_ns; /* its run-queue delay, and when it last went to sleep */
	uint64_t now_ns;
	uint32_t known; /* threads looked at */
	uint32_t idle;	/* those of them that have used no CPU time since the last look */
	uint32_t alone; /* how often in a row no other thread was left */
	bool resumed;	/* the process has just been stopped */
};

/* Threads that nobody announced (a raw clone) are searched for this often. */
enum { SEARCH_NS = 100 * 1000 * 1000 };
/* Where no other thread is left so many times in a row, ours ends, and with it the process. */
enum { ENDS_ALONE = 2 };

/* From one look to the next. */
static uint64_t every_ns(void)
{
	return interval_look_ns() * (atomic_load(&seldom) ? SELDOM : 1);
}

/* The longest gap, where the looks owe nothing. */
static uint64_t most_idle_ns(void)
{
	return every_ns() > IDLE_NS ? every_ns() : IDLE_NS;
}

/* The gap that comes next may be so long: a guard set now has to outlast it. */
static uint64_t ahead_ns(void)
{
	uint64_t ns = 2 * atomic_load_explicit(&gap_ns, memory_order_relaxed);

	ns = ns < most_idle_ns() ? ns : most_idle_ns();
	return ns > every_ns() ? ns : every_ns();
}

/* Somebody computes.  In a handler. */
static void wake_monitor(void)
{
	uint64_t usual_ns = every_ns();

	if (atomic_load_explicit(&gap_ns, memory_order_relaxed) <= usual_ns)
		return;
	atomic_store_explicit(&gap_ns, usual_ns, memory_order_relaxed);
	sys_call(SYS_futex, &stopping, FUTEX_WAKE_PRIVATE, 1, 0);
}

/* No tick of the thread before it has used so much more CPU time. */
static void rest(struct thread *thread, uint64_t ns)
{
	uint64_t until_ns = thread->overhead.clock_ns + ns;

	if (thread->timer) {
		thread->clock.phase.due_cpu_ns = clock_own_cpu_ns() + ns;
		timer_arm(thread);
	}
	atomic_store_explicit(&thread->overhead.rest_until_ns, until_ns, memory_order_relaxed);
	overhead_limited();
}

/* False: it was no stop, but the monitor that was late. */
static bool take_stop(struct thread *thread, const struct unwind_regs *regs)
{
	if (!stop_met(thread))
		return false;
	clock_stopped(thread, regs);
	return true;
}

/* False: no tick was due, or the thread's time stays pending. */
static bool take(struct thread *thread, const struct unwind_regs *regs, bool by_timer)
{
	if (by_timer && phase_timer_was_early(thread, regs))
		return false;
	bool locked = !atomic_load_explicit(&thread->own_work, memory_order_relaxed) &&
		      thread_try_lock(thread);

	if (locked) {
		if (stop_guard_waits(thread)) /* its signal comes next, here */
			take_stop(thread, regs);
		clock_tick(thread, regs);
	}
	if (by_timer)
		phase_timer_expired(thread, locked);
	if (locked)
		thread_unlock(thread);
	return locked;
}

static enum overhead_kind kind_of(const struct thread *thread, bool by_timer)
{
	return by_timer && thread->clock.phase.wall ? OVERHEAD_TIMER : OVERHEAD_SENT;
}

static void sample_running(const struct unwind_regs *regs, bool by_timer)
{
	struct overhead_mark mark;
	uint64_t rest_ns;

	overhead_enter(&mark, false);
	struct thread *thread = thread_interrupted(regs);

	if (!thread)
		return;
	enum overhead_kind kind = kind_of(thread, by_timer);

	atomic_store_explicit(&thread->signalled_ns, 0, memory_order_relaxed);
	wake_monitor();
	const struct own_use_span *span = own_use_first_begin();
	bool taken = take(thread, regs, by_timer);

	own_use_first_end(span);
	if (!taken)
		return;
	uint64_t cost_ns = overhead_leave(thread, &mark, kind, &rest_ns);

	if (rest_ns && !interval_widen())
		rest(thread, rest_ns);
	interval_spent(cost_ns);
}

/*
 * The monitor may be far from its next look.  In a call each of the guard's signals could end it,
 * and a timeout begin anew.
 */
static void guard_again(struct thread *thread, const struct unwind_regs *regs)
{
	if (thread->guard > 0 && !atomic_load(&paused) && !clock_is_in_call(regs))
		stop_guard(thread, ahead_ns(), clock_now_ns());
}

/* The guard of the interrupted thread has expired. False: it was no stop, as take_stop says. */
static bool sample_stop(const struct unwind_regs *regs)
{
	struct overhead_mark mark;

	overhead_enter(&mark, false);
	struct thread *thread = thread_interrupted(regs);

	if (!thread)
		return false;
	if (!thread_try_lock(thread))
		return stop_met(thread);
	bool stopped = take_stop(thread, regs);

	guard_again(thread, regs);
	thread_unlock(thread);
	overhead_leave(thread, &mark, OVERHEAD_SENT, &(uint64_t){0});
	return stopped;
}

static bool is_wall_timer(const siginfo_t *info)
{
	return (uint64_t)info->si_value.sival_ptr == MONITOR_COOKIE_WALL;
}

static bool is_guard(const siginfo_t *info)
{
	return (uint64_t)info->si_value.sival_ptr == MONITOR_COOKIE_STOP;
}

bool monitor_signal_is_ours(const siginfo_t *info)
{
	return info->si_signo == collector.monitor_signal &&
	       (info->si_code == SI_QUEUE || info->si_code == SI_TIMER) &&
	       ((uint64_t)info->si_value.sival_ptr == MONITOR_COOKIE || is_wall_timer(info) ||
		is_guard(info));
}

bool monitor_signal(const siginfo_t *info, const void *context)
{
	/* A clock's comes while the thread runs, and a stop ends calls itself. */
	bool sent = info->si_code == SI_QUEUE || is_wall_timer(info) || is_guard(info);
	struct unwind_regs regs;

	if (atomic_load_explicit(&collector.recording, memory_order_relaxed)) {
		stack_interrupted(&regs, context);
		if (is_guard(info))
			sent = !sample_stop(&regs);
		else
			sample_running(&regs, info->si_code == SI_TIMER);
	} else if (is_guard(info) && thread_current_if_known()) {
		stop_met(thread_current_if_known());
	}
	return sent;
}

void monitor_engine_look_seldom(void)
{
	atomic_store(&seldom, true);
}

static void send_tick(int tid)
{
	siginfo_t info = {.si_signo = collector.monitor_signal, .si_code = SI_QUEUE};

	info.si_value.sival_ptr = (void *)MONITOR_COOKIE;
	atomic_store(&sending, 1);
	if (!atomic_load(&paused))
		sys_call(SYS_rt_tgsigqueueinfo, atomic_load(&collector.pid), tid,
			 collector.monitor_signal, &info);
	atomic_store(&sending, 0);
}

/*
 * Nothing ran since the last look: the wait that we know goes on, or it is over and the thread is
 * queued.  Only its call tells, as the kernel counts a delay when it has ended.
 */
static bool still_waiting(const struct thread *thread, struct clock_remote *remote)
{
	if (!thread->clock.remote_stack || remote->slices != thread->clock.remote_slices)
		return false;
	if (thread->files.syscall < 0)
		return true;
	clock_look_call(&thread->files, remote);
	return remote->blocked;
}

/*
 * Does a signal now find the thread where it spends its time?  It does on a
 * processor: then its CPU clock advances between two looks.  It does when we
 * have just pushed it off one, by waking up: then it ran for nearly all of the time
 * since the last tick.  A thread that has long been waiting for its turn would
 * take the signal where it was preempted, which is at the end of a system call far more often
 * than its time is spent there; its CPU time stays pending until a better tick,
 * or until too much is.
 */
static bool worth_a_signal(struct thread *thread, int tid, uint64_t now_ns)
{
	enum { PATIENCE = 8 }; /* intervals of pending CPU time */
	struct clock_files *files = &thread->files;
	uint64_t cpu_ns = clock_other_cpu_ns(tid);

	if (cpu_ns < atomic_load_explicit(&thread->overhead.rest_until_ns, memory_order_relaxed))
		return false; /* our handler would take too much of its time */
	bool nearly_all = (cpu_ns - files->seen_cpu_ns) * 10 > (now_ns - files->seen_ns) * 9;
	bool advances = clock_other_cpu_ns(tid) != cpu_ns;

	files->seen_cpu_ns = cpu_ns;
	files->seen_ns = now_ns;
	return advances || nearly_all ||
	       cpu_ns - thread->clock.last.cpu_ns > PATIENCE * collector.interval_ns;
}

/* Real-time signals queue up: one at a time, unless it got lost. Else notes a new one. */
static bool is_under_way(struct thread *thread, uint64_t now_ns)
{
	enum { LOST_NS = 100 * 1000 * 1000 };
	uint64_t sent_ns = atomic_load_explicit(&thread->signalled_ns, memory_order_relaxed);

	if (sent_ns && now_ns - sent_ns < LOST_NS)
		return true;
	atomic_store_explicit(&thread->signalled_ns, now_ns, memory_order_relaxed);
	return false;
}

static void sample_blocked(struct thread *thread, const struct tick *tick, int tid,
			   struct clock_remote *remote)
{
	if (remote->slices != thread->clock.remote_slices)
		clock_look_status(&thread->files, tick->dir, thread, remote);
	if (!thread_try_lock(thread))
		return;
	if (atomic_load(&thread->tid) == tid && remote->cpu_ns >= thread->clock.last.cpu_ns)
		clock_remote_wait(thread, remote, clock_now_ns());
	thread_unlock(thread);
}

/*
 * The known wait has ended since the last look: up to then its time has its stack.  After a stop
 * that is not known: the kernel has begun it again.
 */
static void end_wait(struct thread *thread, int tid, bool resumed)
{
	if (!thread_try_lock(thread))
		return;
	if (atomic_load(&thread->tid) == tid)
		clock_remote_until(thread, thread->files.waiting_ns);
	thread->clock.remote_over = !resumed;
	thread->files.waiting_ns = 0;
	thread_unlock(thread);
}

static void guard(struct thread *thread, int tid, const struct tick *tick)
{
	/* What sets a timer anew discards a signal of it that is on its way. */
	if (tick->resumed || stop_guard_waits(thread) ||
	    !stop_guard_is_due(thread, ahead_ns(), tick->now_ns) || !thread_try_lock(thread))
		return;
	atomic_store(&sending, 1);
	if (atomic_load(&thread->tid) == tid && !atomic_load(&paused))
		stop_guard(thread, ahead_ns(), tick->now_ns);
	atomic_store(&sending, 0);
	thread_unlock(thread);
}

void monitor_engine_guard_first(struct thread *thread)
{
	if (thread && atomic_load(&engine_monitor) && !thread->guard &&
	    atomic_load(&thread->tid) == atomic_load(&collector.pid))
		stop_guard(thread, ahead_ns(), clock_now_ns());
}

static bool is_running(int tid)
{
	return clock_other_cpu_ns(tid) != clock_other_cpu_ns(tid);
}

/* After a stop, or one in the midst of our looks: its guard's handler comes before all else. */
static bool tells_itself(const struct thread *thread, const struct tick *tick)
{
	uint64_t guard_ns = atomic_load_explicit(&thread->guard_ns, memory_order_relaxed);

	return (tick->resumed || guard_ns > tick->now_ns) && stop_guard_waits(thread);
}

/* Else the next look is soon. */
static bool has_idled(struct thread *thread, const struct clock_remote *remote)
{
	bool idled = remote->cpu_ns == thread->files.looked_cpu_ns;

	thread->files.looked_cpu_ns = remote->cpu_ns;
	return idled;
}

static void look_at(struct thread *thread, void *arg)
{
	struct tick *tick = arg;
	int tid = atomic_load(&thread->tid);
	struct clock_remote remote;

	tick->known++;
	if (tells_itself(thread, tick))
		return;
	if (thread->files.tid != tid) {
		clock_files_close(&thread->files);
		/* Most short threads never need to be looked at, but are met where they run. */
		if (tick->now_ns < thread->clock.last.now_ns + interval_look_ns()) {
			if (!thread->timer && !thread->takes_signals && is_running(tid) &&
			    !is_under_way(thread, tick->now_ns))
				send_tick(tid);
			return;
		}
		clock_files_open(&thread->files, tick->dir, thread);
	}
	if (!clock_look_sums(&thread->files, &remote)) {
		if (sys_call(SYS_tgkill, atomic_load(&collector.pid), tid, 0, 0) == -ESRCH)
			thread_drop_ended(thread, tid);
		return;
	}
	guard(thread, tid, tick);
	bool idled = has_idled(thread, &remote);

	if (still_waiting(thread, &remote)) {
		tick->idle++;
		thread->files.waiting_ns = tick->now_ns;
		if (tick->now_ns - thread->clock.last.now_ns < WAIT_FLUSH_NS)
			return;
	} else if (thread->files.waiting_ns) {
		end_wait(thread, tid, tick->resumed);
	}
	clock_look_call(&thread->files, &remote);
	sigwait_note(thread, &remote);
	sigwait_warn(thread, &remote);
	if (remote.blocked)
		tick->idle += idled;
	if (remote.blocked || remote.hidden)
		sample_blocked(thread, tick, tid, &remote);
	else if ((tick->resumed || (!thread->timer && worth_a_signal(thread, tid, tick->now_ns))) &&
		 !thread->takes_signals && !is_under_way(thread, tick->now_ns))
		send_tick(tid);
}

static void find_tid(struct thread *thread, void *tid)
{
	if (atomic_load(&thread->tid) == *(int *)tid)
		*(int *)tid = 0;
}

/*
 * A signal makes an unknown thread introduce itself: its handler asks for a state.  It is sent
 * by the number in /proc, so only where that is the thread's own.
 */
static void greet(int tid, void *unused)
{
	int unknown = tid;

	(void)unused;
	thread_for_each(find_tid, &unknown);
	if (unknown && unknown != sys_gettid() && unknown != holder_tid())
		send_tick(tid);
}

static void count_task(int tid, void *count)
{
	(void)tid;
	++*(uint32_t *)count;
}

/* Asks every thread of the process who is in no state; only if there are more than we know. */
static void search(const struct tick *tick)
{
	uint32_t count = 0, ours = holder_tid() ? 2 : 1;

	tasks_for_each(tick->dir, count_task, &count);
	if (count > tick->known + ours && collector.proc_pid == atomic_load(&collector.pid))
		tasks_for_each(tick->dir, greet, NULL);
}

/* rest_ns: not before that has passed. */
static void sleep_until(uint64_t *next_ns, uint64_t rest_ns)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t period_ns = atomic_load_explicit(&gap_ns, memory_order_relaxed);
	uint64_t jitter = (now_ns * 0x9e3779b97f4a7c15u >> 40) % (period_ns / 4 + 1);

	*next_ns += period_ns - period_ns / 8 + jitter;
	if (*next_ns < now_ns + rest_ns) /* late: do not try to catch up */
		*next_ns = now_ns + rest_ns;
	struct timespec until = period(*next_ns);
	sys_call6(SYS_futex, SYS_ARG(&stopping), FUTEX_WAIT_BITSET_PRIVATE, 0, SYS_ARG(&until), 0,
		  FUTEX_BITSET_MATCH_ANY);
	now_ns = clock_now_ns();
	if (*next_ns > now_ns) /* woken */
		*next_ns = now_ns;
}

/* Nobody computes: the next look comes later than the last. */
static void plan_gap(const struct tick *tick)
{
	uint64_t usual_ns = every_ns();

	atomic_store_explicit(&gap_ns, ahead_ns(), memory_order_relaxed);
	if (tick->resumed || tick->idle < tick->known)
		atomic_store_explicit(&gap_ns, usual_ns, memory_order_relaxed);
}

/*
 * The monitor comes late.  If it was not queued meanwhile then it was stopped, and all threads
 * with it: nothing else keeps it from waking up.
 */
static void note_stop(struct tick *tick, uint64_t wanted_ns)
{
	enum { STOP_WORTH_NS = 5 * 1000 * 1000 };
	uint64_t before_ns = tick->delay_ns;

	clock_read_delay(tick->sched, &tick->delay_ns);
	uint64_t queued_ns = tick->delay_ns - before_ns;

	if (tick->now_ns >= wanted_ns + STOP_WORTH_NS) /* the kernel may be wrong: clock_queue.c */
		queued_ns = clock_queue_possible(queued_ns, clock_own_queue_bound(0), 0);
	bool stopped = tick->sched >= 0 && tick->now_ns >= wanted_ns + queued_ns + STOP_WORTH_NS;

	if (stopped)
		stop_note(tick->awake_ns, tick->now_ns, queued_ns);
	tick->resumed = stopped || stop_is_noted(tick->awake_ns);
	stop_alive(tick->now_ns);
}

/*
 * What the looks may take is a part of the CPU time that the program uses.  In one that uses none,
 * but that is never idle for long either, a little of what passes on the wall counts as such.
 */
static uint64_t paying_clock_ns(uint64_t now_ns)
{
	return collector_cpu_ns() + now_ns / IDLE_PARTS;
}

/*
 * How long that clock takes on the wall, as it went since the last look.  It may stand for a
 * rest in which the program begins to compute: the next look comes to the same account.
 */
static uint64_t on_the_wall(uint64_t rest_ns, uint64_t wall_ns, uint64_t paid_ns)
{
	enum { BITS = 10 };
	uint64_t rate = (wall_ns << BITS) / (paid_ns ? paid_ns : 1);

	if (rate > IDLE_PARTS << BITS)
		rate = IDLE_PARTS << BITS;
	return rest_ns * rate >> BITS;
}

static uint64_t looks_rest_ns(void)
{
	uint64_t cpu_ns = clock_own_cpu_ns(), now_ns = clock_now_ns();
	uint64_t clock_ns = paying_clock_ns(now_ns), before_ns = looks.clock_ns;
	/* both together shall take no more than is allowed */
	uint64_t handlers_ns = overhead_of_handlers_ns(collector_cpu_ns());
	uint64_t rest_ns = overhead_charge(&looks, clock_ns, cpu_ns - looked_cpu_ns + handlers_ns);

	interval_spent(cpu_ns - looked_cpu_ns);
	looked_cpu_ns = cpu_ns;
	if (rest_ns) {
		rest_ns = on_the_wall(rest_ns, now_ns - looked_ns, clock_ns - before_ns);
		overhead_limited();
	}
	looked_ns = now_ns;
	if (engine_signals_harm() && !collector.late) /* else a write to a file is for nothing */
		own_use_note_look(cpu_ns);
	overhead_warn();
	return rest_ns;
}

static void open_files(struct thread *thread, void *dir)
{
	int tid = atomic_load(&thread->tid);

	if (!tid || thread->files.tid == tid)
		return;
	clock_files_close(&thread->files);
	clock_files_open(&thread->files, *(int *)dir, thread);
}

static void open_wanted_files(struct tick *tick)
{
	if (!atomic_load(&files_wanted))
		return;
	thread_for_each(open_files, &tick->dir);
	atomic_store(&files_wanted, 0);
	sys_call(SYS_futex, &files_wanted, FUTEX_WAKE_PRIVATE, INT32_MAX, 0);
}

void monitor_engine_open_files(void)
{
	const struct timespec patience = period(100 * 1000 * 1000);

	if (!atomic_load(&engine_monitor) || atomic_load(&paused))
		return;
	atomic_store(&files_wanted, 1);
	sys_call(SYS_futex, &stopping, FUTEX_WAKE_PRIVATE, 1, 0);
	sys_call(SYS_futex, &files_wanted, FUTEX_WAIT_PRIVATE, 1, &patience);
}

static void monitor(void)
{
	struct tick tick = {0};
	/* The first interval is a part of one: see clock_phase.c. */
	uint64_t next_ns = clock_now_ns() - jitter_random(interval_look_ns()), searched_ns = 0,
		 rest_ns = 0;

	looked_ns = clock_now_ns();
	looks = (struct overhead_account){.clock_ns = paying_clock_ns(looked_ns)};
	overhead_of_handlers_ns(collector_cpu_ns());
	atomic_store(&gap_ns, every_ns());
	looked_cpu_ns = clock_own_cpu_ns();
	tick.dir = tasks_open_alone();
	tick.sched = clock_open_delay();
	/* It may not have come to run at all before the process was stopped. */
	tick.awake_ns = stop_last_alive_ns();
	tick.now_ns = clock_now_ns();
	note_stop(&tick, tick.awake_ns);
	while (!atomic_load(&stopping) && tasks_are_open(tick.dir) && tick.alone < ENDS_ALONE) {
		tick.awake_ns = clock_now_ns();
		stop_alive(tick.awake_ns);
		sleep_until(&next_ns, rest_ns);
		rawthread_note_use(); /* each sleep is a switch */
		rest_ns = 0;
		open_wanted_files(&tick);
		tick.now_ns = clock_now_ns();
		note_stop(&tick, next_ns);
		if (atomic_load(&paused) || !atomic_load(&collector.recording))
			continue;
		tick.known = tick.idle = 0;
		thread_for_each(look_at, &tick);
		plan_gap(&tick);
		clock_warn_hidden();
		if (tick.now_ns - searched_ns > SEARCH_NS) {
			search(&tick);
			tick.alone = rawthread_only_ours_are_left(tick.dir) ? tick.alone + 1 : 0;
			searched_ns = tick.alone ? 0 : tick.now_ns;
		}
		rest_ns = looks_rest_ns();
	}
	rawthread_exit(&engine_monitor);
}

bool monitor_engine_prepare(void)
{
	return signal_take(collector.monitor_signal, clock_handlers.monitor);
}

bool monitor_engine_start(void)
{
	if (!signal_is_taken(collector.monitor_signal) && task_is_traced(sys_gettid()))
		signal_choose_monitor(CLOCK_SIGNAL_TRACED);
	if (!rawthread_may_stay() || !monitor_engine_prepare())
		return false;
	if (!stack)
		stack = sys_mmap(MONITOR_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);
	if (!stack)
		return false;
	atomic_store(&paused, false);
	atomic_store(&stopping, 0);
	atomic_store(&engine_monitor, 1);
	stop_alive(clock_now_ns());
	monitor_tid = rawthread_start(monitor, stack, MONITOR_STACK, true);
	if (monitor_tid <= 0) {
		atomic_store(&engine_monitor, 0);
		return false;
	}
	process_cpu_note(PROCESS_CPU_MONITOR, monitor_tid, NULL);
	if (thread_current_if_known())
		timer_arm(thread_current_if_known());
	monitor_engine_guard_first(thread_current_if_known());
	return true;
}

bool monitor_engine_take_over(void)
{
	collector.engine = ENGINE_MONITOR;
	if (!monitor_engine_start()) {
		collector.engine = ENGINE_PERF;
		return false;
	}
	timer_arm_all();
	return true;
}

void monitor_engine_pause(void)
{
	if (holder_is_starting())
		holder_pause();
	atomic_store(&paused, true);
	if (thread_current_if_known())
		timer_disarm(thread_current_if_known());
	/* A signal sent is delivered before a system call returns. */
	while (atomic_load(&sending))
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	sys_getpid();
	if (thread_current_if_known())
		stop_unguard(thread_current_if_known());
}

static void forget_signal(struct thread *thread, void *unused)
{
	(void)unused;
	atomic_store_explicit(&thread->signalled_ns, 0, memory_order_relaxed);
}

void monitor_engine_resume(void)
{
	if (holder_is_starting())
		holder_resume();
	atomic_store(&paused, false);
	/* Those noted as under way were held back, or came while nothing was recorded. */
	thread_for_each(forget_signal, NULL);
	if (!thread_current_if_known())
		return;
	timer_arm(thread_current_if_known());
	if (atomic_load(&engine_monitor))
		stop_guard(thread_current_if_known(), ahead_ns(), clock_now_ns());
}

static void forget_files(struct thread *thread, void *unused)
{
	(void)unused;
	thread->files.tid = 0; /* the descriptors were the monitor's, which is gone */
}

void monitor_engine_stop(void)
{
	monitor_engine_pause();
	timer_disarm_all();
	stop_unguard_all();
	if (monitor_tid <= 0)
		return;
	atomic_store(&stopping, 1);
	sys_call(SYS_futex, &stopping, FUTEX_WAKE_PRIVATE, 1, 0);
	while (sys_call(SYS_tgkill, atomic_load(&collector.pid), monitor_tid, 0, 0) != -ESRCH)
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	thread_for_each(forget_files, NULL);
	monitor_tid = 0;
	process_cpu_note(PROCESS_CPU_MONITOR, 0, NULL);
}

void monitor_engine_forget(void)
{
	thread_for_each(forget_files, NULL);
	monitor_tid = 0;
	process_cpu_note(PROCESS_CPU_MONITOR, 0, NULL);
	atomic_store(&engine_monitor, 0);
	atomic_store(&sending, 0);
	atomic_store(&files_wanted, 0);
	sigwait_forget();
}
