/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor engine: for where perf events are not to be had.
 *
 * A raw thread wakes up every interval and looks at each thread in
 * /proc/self/task.  One that is blocked is sampled from here, by reading its
 * stack with process_vm_readv: its system call is not disturbed.  The wake-ups
 * jitter by an eighth, so that they do not fall into step with the program.
 *
 * CPU time is sampled by a timer on each thread's CPU clock: it expires in the
 * timer interrupt, at the very instruction.  Its grain is the kernel's tick, so
 * for shorter intervals the monitor signals the threads that run; that signal takes
 * some microseconds to arrive and finds system calls more often than it should.
 */
#include "collector/core/rawthread.h"
#include "collector/core/sys.h"
#include "collector/core/tasks.h"
#include "collector/core/text.h"
#include "collector/sources/clock.h"
#include "collector/wrap/next.h"
#include "collector/wrap/wait.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <time.h>

enum { MONITOR_STACK = 64 * 1024 };

/* The kernel's tick is 4 ms or less (CONFIG_HZ of 250 and more). */
enum { TIMER_INTERVAL_NS = 4 * 1000 * 1000 };

/* See monitor_engine_look_seldom: the intervals from one look to the next. */
enum { SELDOM = 4 };

/* A wait that goes on is written down this often, so that a kill loses no more. */
enum { WAIT_FLUSH_NS = 100 * 1000 * 1000 };

/* si_value of our own signals: tells them from the program's. */
#define MONITOR_COOKIE 0x48454c494fu

static _Atomic unsigned running;
static _Atomic uint32_t stopping; /* a futex that the monitor sleeps on */
static _Atomic unsigned sending;  /* a signal is on its way out */
static _Atomic bool looking;	  /* it has found the threads, or has failed to */
static _Atomic bool paused;
static _Atomic bool seldom;
static char *stack;
static int monitor_tid;

struct tick {
	int dir; /* /proc/self/task */
	uint64_t now_ns;
	uint32_t known; /* threads looked at */
};

/* Threads that nobody announced (a raw clone) are searched for this often. */
enum { SEARCH_NS = 100 * 1000 * 1000 };

static void sample_running(const struct unwind_regs *regs)
{
	struct thread *thread = thread_interrupted(regs);

	if (!thread)
		return;
	atomic_store_explicit(&thread->signalled_ns, 0, memory_order_relaxed);
	if (!thread_try_lock(thread))
		return;
	clock_tick(thread, regs);
	thread_unlock(thread);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	struct unwind_regs regs;

	bool ours = info->si_code == SI_QUEUE || info->si_code == SI_TIMER;

	if (!ours || (uint64_t)info->si_value.sival_ptr != MONITOR_COOKIE) {
		signal_forward(signal, info, context);
		return;
	}
	if (atomic_load_explicit(&collector.recording, memory_order_relaxed)) {
		unwind_regs_from_context(&regs, context);
		sample_running(&regs);
	}
	wait_go_on(context, info->si_code == SI_QUEUE);
}

void monitor_engine_look_seldom(void)
{
	atomic_store(&seldom, true);
}

bool monitor_engine_is_cheap(void)
{
	return collector.interval_ns >= TIMER_INTERVAL_NS;
}

void monitor_engine_arm(struct thread *thread)
{
	struct sigevent event = {.sigev_signo = CLOCK_SIGNAL_MONITOR,
				 .sigev_notify = SIGEV_THREAD_ID};
	struct itimerspec every = {.it_interval = {0}, .it_value = {0}};
	int timer;

	if (!atomic_load(&running) || !monitor_engine_is_cheap() || thread->timer)
		return;
	event.sigev_value.sival_ptr = (void *)MONITOR_COOKIE;
	event._sigev_un._tid =
		atomic_load(&thread->tid); /* sigev_notify_thread_id, which glibc does not name */
	every.it_interval.tv_nsec = (long)(collector.interval_ns % 1000000000u);
	every.it_interval.tv_sec = (time_t)(collector.interval_ns / 1000000000u);
	every.it_value = every.it_interval;
	if (sys_call(SYS_timer_create, clock_cpu_id(thread->tid), &event, &timer, 0))
		return;
	sys_call(SYS_timer_settime, timer, 0, &every, 0);
	thread->timer = timer + 1;
}

void monitor_engine_disarm(struct thread *thread)
{
	if (thread->timer)
		sys_call(SYS_timer_delete, thread->timer - 1, 0, 0, 0);
	thread->timer = 0;
}

static void send_tick(int tid)
{
	siginfo_t info = {.si_signo = CLOCK_SIGNAL_MONITOR, .si_code = SI_QUEUE};

	info.si_value.sival_ptr = (void *)MONITOR_COOKIE;
	atomic_store(&sending, 1);
	if (!atomic_load(&paused))
		sys_call(SYS_rt_tgsigqueueinfo, atomic_load(&collector.pid), tid,
			 CLOCK_SIGNAL_MONITOR, &info);
	atomic_store(&sending, 0);
}

/* Nothing ran since the last look: the wait that we know goes on. */
static bool still_waiting(const struct thread *thread, const struct clock_remote *remote)
{
	return thread->clock.remote_stack && remote->slices == thread->clock.remote_slices;
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
		clock_look_stopped(tick->dir, thread, remote);
	if (!thread_try_lock(thread))
		return;
	if (atomic_load(&thread->tid) == tid && remote->cpu_ns >= thread->clock.last.cpu_ns)
		clock_remote_wait(thread, remote, clock_now_ns());
	thread_unlock(thread);
}

/* The known wait has ended since the last look: up to then its time has its stack. */
static void end_wait(struct thread *thread, int tid)
{
	if (!thread_try_lock(thread))
		return;
	if (atomic_load(&thread->tid) == tid)
		clock_remote_until(thread, thread->files.waiting_ns);
	thread->files.waiting_ns = 0;
	thread_unlock(thread);
}

static void look_at(struct thread *thread, void *arg)
{
	struct tick *tick = arg;
	int tid = atomic_load(&thread->tid);
	struct clock_remote remote;

	tick->known++;
	if (thread->files.tid != tid) {
		clock_files_close(&thread->files);
		/* Most short threads never need to be looked at. */
		if (tick->now_ns - thread->clock.last.now_ns < collector.interval_ns)
			return;
		clock_files_open(&thread->files, tick->dir, thread);
	}
	if (!clock_look_sums(&thread->files, &remote)) {
		if (sys_call(SYS_tgkill, atomic_load(&collector.pid), tid, 0, 0) == -ESRCH)
			thread_bury(thread, tid);
		return;
	}
	if (still_waiting(thread, &remote)) {
		thread->files.waiting_ns = tick->now_ns;
		if (tick->now_ns - thread->clock.last.now_ns < WAIT_FLUSH_NS)
			return;
	} else if (thread->files.waiting_ns) {
		end_wait(thread, tid);
	}
	clock_look_call(&thread->files, &remote);
	if (remote.blocked)
		sample_blocked(thread, tick, tid, &remote);
	else if (!thread->timer && worth_a_signal(thread, tid, tick->now_ns) &&
		 !is_under_way(thread, tick->now_ns))
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
	if (unknown && unknown != sys_gettid() && unknown != keeper_tid())
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
	uint32_t count = 0, ours = keeper_tid() ? 2 : 1;

	tasks_for_each(tick->dir, count_task, &count);
	if (count > tick->known + ours && collector.proc_pid == atomic_load(&collector.pid))
		tasks_for_each(tick->dir, greet, NULL);
}

static void sleep_until(uint64_t *next_ns)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t every_ns = collector.interval_ns * (atomic_load(&seldom) ? SELDOM : 1);
	uint64_t jitter = (now_ns * 0x9e3779b97f4a7c15u >> 40) % (every_ns / 4 + 1);

	*next_ns += every_ns - every_ns / 8 + jitter;
	if (*next_ns < now_ns) /* late: do not try to catch up */
		*next_ns = now_ns;
	struct timespec until = {.tv_sec = (time_t)(*next_ns / 1000000000u),
				 .tv_nsec = (long)(*next_ns % 1000000000u)};
	sys_call6(SYS_futex, SYS_ARG(&stopping), FUTEX_WAIT_BITSET_PRIVATE, 0, SYS_ARG(&until), 0,
		  FUTEX_BITSET_MATCH_ANY);
}

static void monitor(void)
{
	struct tick tick;
	uint64_t next_ns = clock_now_ns(), searched_ns = 0;

	tick.dir = tasks_open_alone();
	atomic_store(&looking, true);
	while (!atomic_load(&stopping) && tick.dir >= 0) {
		sleep_until(&next_ns);
		tick.now_ns = clock_now_ns();
		if (atomic_load(&paused) || !atomic_load(&collector.recording))
			continue;
		tick.known = 0;
		thread_for_each(look_at, &tick);
		if (tick.now_ns - searched_ns > SEARCH_NS) {
			search(&tick);
			searched_ns = tick.now_ns;
		}
	}
	rawthread_exit(&running);
}

bool monitor_engine_prepare(void)
{
	return signal_take(CLOCK_SIGNAL_MONITOR, on_signal);
}

bool monitor_engine_start(void)
{
	if (!monitor_engine_prepare())
		return false;
	if (!stack)
		stack = sys_mmap(MONITOR_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);
	if (!stack)
		return false;
	atomic_store(&paused, false);
	atomic_store(&stopping, 0);
	atomic_store(&running, 1);
	atomic_store(&looking, false);
	monitor_tid = rawthread_start(monitor, stack, MONITOR_STACK, true);
	if (monitor_tid > 0 && thread_current_if_known())
		monitor_engine_arm(thread_current_if_known());
	return monitor_tid > 0;
}

void monitor_engine_wait_until_looking(void)
{
	while (atomic_load(&running) && !atomic_load(&looking))
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
}

static void arm(struct thread *thread, void *unused)
{
	(void)unused;
	monitor_engine_arm(thread);
}

bool monitor_engine_take_over(void)
{
	collector.engine = ENGINE_MONITOR;
	if (!monitor_engine_start()) {
		collector.engine = ENGINE_PERF;
		return false;
	}
	thread_for_each(arm, NULL);
	return true;
}

uint64_t monitor_engine_cpu_ns(void)
{
	return monitor_tid > 0 ? clock_other_cpu_ns(monitor_tid) : 0;
}

void monitor_engine_pause(void)
{
	atomic_store(&paused, true);
	if (thread_current_if_known())
		monitor_engine_disarm(thread_current_if_known());
	/* A signal sent is delivered before the system call that waits here returns. */
	while (atomic_load(&sending))
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	sys_call(SYS_sched_yield, 0, 0, 0, 0);
}

static void forget_signal(struct thread *thread, void *unused)
{
	(void)unused;
	atomic_store_explicit(&thread->signalled_ns, 0, memory_order_relaxed);
}

void monitor_engine_resume(void)
{
	atomic_store(&paused, false);
	/* Those noted as under way were held back, or came while nothing was recorded. */
	thread_for_each(forget_signal, NULL);
	if (thread_current_if_known())
		monitor_engine_arm(thread_current_if_known());
}

static void disarm(struct thread *thread, void *unused)
{
	(void)unused;
	monitor_engine_disarm(thread);
}

static void forget_files(struct thread *thread, void *unused)
{
	(void)unused;
	thread->files.tid = 0; /* the descriptors were the monitor's, which is gone */
}

void monitor_engine_stop(void)
{
	monitor_engine_pause();
	thread_for_each(disarm, NULL);
	if (monitor_tid <= 0)
		return;
	atomic_store(&stopping, 1);
	sys_call(SYS_futex, &stopping, FUTEX_WAKE_PRIVATE, 1, 0);
	while (sys_call(SYS_tgkill, atomic_load(&collector.pid), monitor_tid, 0, 0) != -ESRCH)
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	thread_for_each(forget_files, NULL);
	monitor_tid = 0;
}

void monitor_engine_forget(void)
{
	thread_for_each(forget_files, NULL);
	monitor_tid = 0;
	atomic_store(&running, 0);
	atomic_store(&sending, 0);
}
