/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock profiling: where the time of each thread goes.
 *
 * Time is never counted in ticks.  Each event reads the thread's clocks and
 * accounts for all that passed since the thread's previous event: CPU time, time on
 * a run queue, time blocked.  An event only decides which call stack and which
 * state gets what is pending.  So the sum over states is the thread's life
 * time, whatever the events' rate, and a lost event loses no time.
 */
#ifndef HELIO_COLLECTOR_CLOCK_H
#define HELIO_COLLECTOR_CLOCK_H

#include "collector/core/core.h"
#include "format/attach.h"

/* Reads the calling thread's clocks. */
void clock_read(struct clock_reading *reading);

/* The accounting of the calling thread begins: now for main and after a fork, else at its birth. */
void clock_begin(struct thread *thread);

/* A tick of the thread's CPU clock: the pending CPU time belongs to these registers' stack. */
void clock_tick(struct thread *thread, const struct unwind_regs *regs);

/* Whether the calling thread has given up its processor, in a wait that is not accounted for. */
bool clock_has_waited(const struct thread *thread);

/* How often the calling thread has waited in its life; whether a signal has met it in a call. */
uint64_t clock_own_waits(void);
bool clock_is_in_call(const struct unwind_regs *regs);
/* clock_state.c: what a tick, or the end of a wait, at these registers stands for. */
enum format_state clock_cpu_state(struct thread *thread, const struct unwind_regs *regs);
enum format_state clock_wait_state(const struct clock_account *clock,
				   const struct unwind_regs *regs);

/* The thread comes out of a stop of the process, in which it stood at these registers. */
void clock_stopped(struct thread *thread, const struct unwind_regs *regs);

/* The thread runs again after a wait: the pending wait belongs to these registers' stack. */
void clock_switched_in(struct thread *thread, const struct unwind_regs *regs);

/* Whether the calling thread has waits on its account that are worth a call stack. */
bool clock_has_waits(const struct thread *thread);
/* Accounts for everything up to now; `stack` is where the thread is. For the calling thread. */
void clock_settle(struct thread *thread, uint32_t stack);

/* The same for another thread, found blocked or running from outside (thread lock held). */
void clock_settle_other(struct thread *thread);

/* How a thread stands in the kernel, read from /proc from outside. */
struct clock_remote {
	const struct clock_files *files; /* by which it was seen */
	bool blocked;			 /* in a system call, `pc` and `sp` are valid */
	bool hidden;			 /* blocked, but the kernel does not tell us where */
	uint64_t pc, sp;
	long call; /* its number; -1: blocked outside a system call */
	uint64_t argument[6];
	uint64_t cpu_ns, delay_ns, slices;
	/* See clock_look_status: by a signal or a debugger; how often others took its processor. */
	bool stopped;
	char state; /* as the file has it */
	uint64_t preempted;
};
/* `dir` is from tasks_open(). What cannot be opened is as if it said nothing. */
void clock_files_open(struct clock_files *files, int dir, const struct thread *thread);
void clock_files_close(struct clock_files *files);
bool clock_look(const struct clock_files *files, struct clock_remote *remote);
/* Its two halves, in this order: the sums, and what the thread is blocked in, which costs as much.
 */
bool clock_look_sums(const struct clock_files *files, struct clock_remote *remote);
void clock_look_call(const struct clock_files *files, struct clock_remote *remote);
/* Says so in the log, once, where a wait was hidden; not in a handler. … In the child of a fork. */
void clock_say_hidden(void);
void clock_forget_hidden(void);
/* What a thread waits for in a system call. After calls that cannot wait, it was stopped. */
enum format_state clock_call_state(long call);
/* One look, with files of its own. */
bool clock_look_at(const struct thread *thread, struct clock_remote *remote);

/* The clock id of a thread's CPU time, and that time up to this moment. */
long clock_cpu_id(int tid);
uint64_t clock_other_cpu_ns(int tid);
/* Whether this moment of the thread is to be recorded: no pause, and within -t. */
bool clock_is_recording(const struct thread *thread, uint64_t now_ns);
/* How much of the time between two moments was, with the recording clock of the first one; the
 * thread's recording runs at the second. */
uint64_t clock_recorded_since(const struct thread *thread, uint64_t since_ns, uint64_t recorded_ns,
			      uint64_t now_ns);

/* Fills in `stopped` and `preempted`: one more file, so only for a wait that is new. */
void clock_look_status(struct clock_files *files, int dir, const struct thread *thread,
		       struct clock_remote *remote);
/* The lines of such a file, each cut to what all that are wanted have room in. */
void clock_each_line(int fd, void (*take)(const char *line, void *arg), void *arg);

/* It has not run since it was seen: what was read from its stack meanwhile is true. */
bool clock_still_waits(const struct clock_remote *remote);
/* One of the calling thread's files in /proc, or a negative errno. */
int clock_open_own(const char *name);
/* The calling thread's run-queue delay; 0 where /proc does not tell. */
uint64_t clock_own_delay_ns(void);
/* Its two halves, for who asks often: a descriptor or a negative errno; false leaves the value. */
int clock_open_delay(void);
bool clock_read_delay(int fd, uint64_t *delay_ns);
/*
 * How long the calling thread can have been queued before it ran for `ran_ns`, by the kernel's load
 * tracking; UINT64_MAX: that does not tell.  And the same for averages that have been read.
 */
uint64_t clock_own_queue_bound(uint64_t ran_ns);
uint64_t clock_queue_bound(int64_t runnable, int64_t running, uint64_t ran_ns);
/* What of a delay that the kernel counts is possible; it was preempted so often, too. */
uint64_t clock_queue_possible(uint64_t delay_ns, uint64_t bound_ns, uint64_t preempted);

/* The wait that was seen before went on until `now_ns` at least. */
void clock_remote_until(struct thread *thread, uint64_t now_ns);

/* The wait of a blocked thread, as seen by clock_look, goes on with this stack. */
void clock_remote_wait(struct thread *thread, const struct clock_remote *remote, uint64_t now_ns);

/*
 * For threads that ran before the recording began.  The accounting of thread `tid` begins now,
 * seen from outside; `dir` is an open /proc/self/task.
 */
void clock_begin_other(struct thread *thread, int dir);
/* Its first own event: what cannot be read from outside is read.  False: the thread is
 * another one, which has got the same number. */
bool clock_join(struct thread *thread);

/* clock_phase.c: whose stack gets the CPU time of threads and processes that live shortly. */

/* A thread of pthread_create begins, before it is adopted; or a process, in its first thread. */
void phase_begin(struct thread *thread);
void phase_begin_process(struct thread *thread);
static inline bool phase_is_young(const struct thread *thread)
{
	return thread->clock.phase.mode != PHASE_OLD;
}
/* A tick, at which pending CPU time is charged; false: what is still pending is the tick's own. */
bool phase_tick(struct thread *thread, enum format_state state, uint32_t stack);
/* The thread's recording pauses; what is pending has been charged. */
void phase_pause(struct thread *thread);
/* Charges what is pending without a tick: of an old thread whose recording has paused, else false;
 * of a young one. */
bool phase_rest_of_old(struct thread *thread);
void phase_settle(struct thread *thread, enum format_state state);
/* The thread ends: what it leaves of its interval the next one begins with. */
void phase_leave(struct thread *thread);
/* Ticks of the perf event are nothing to a young thread, whose timer ticks. */
bool phase_has_timer(const struct thread *thread);
void phase_forget(void); /* in the child of a fork */
/* What lies between two ticks: an interval, give or take a quarter; and a part of one. */
uint64_t phase_jitter(uint64_t interval_ns);
static inline uint64_t phase_longest(uint64_t interval_ns)
{
	return interval_ns + interval_ns / 4;
}
uint64_t phase_random(uint64_t below_ns);
/*
 * Sets when the first tick of the process is due, and returns the CPU time until then.  What is
 * less than `least_ns` is left to a timer (timer_first), or made so long.
 */
uint64_t phase_process_first_ns(struct thread *thread, uint64_t least_ns);
/* The process ends, or becomes another program: what it leaves the next one begins with. */
void phase_leave_process(void);

/* The CPU time until the next tick of the thread's timer. */
uint64_t phase_timer_delay_ns(struct thread *thread);
/* The timer has expired before its time on the CPU clock came: no tick; it is set again. */
bool phase_timer_was_early(struct thread *thread, const struct unwind_regs *regs);
void phase_timer_expired(struct thread *thread);

/* clock_line.c: what a process leaves of its interval, as a word; 0: nothing. */
struct format_family;
uint64_t line_word(uint64_t left_ns, uint64_t interval_ns, uint32_t wary);
/* False: nothing, or nothing that line_word makes. */
bool line_read(uint64_t word, uint64_t interval_ns, uint64_t *left_ns, uint32_t *wary);
uint64_t line_take(struct format_family *family);
void line_give(struct format_family *family, uint64_t word);

/* Charges `*pending_ns` to a stack in whole microseconds, and leaves the rest. */
/* … at a stack that was taken when the context was that one. */
void clock_charge(struct thread *thread, enum format_state state, int64_t *pending_ns,
		  uint32_t stack, const struct runtime_context *then);

/*
 * clock_interval.c: the default interval is short at first and longer later, by what the whole
 * family has had of it.  Each event has the time that passed, so no total depends on it.
 */
/* The parameter `p` (format/params.h). */
void interval_read_param(const char *value);
/* Once the engine is known, before it starts: sets collector.interval_ns. */
void interval_begin(void);
/* Anything that the interval makes happen has taken so much; may widen it.  Not with the thread's
 * lock. */
void interval_spent(uint64_t cost_ns);
/* Makes the interval the longer one in this process.  False: it is that already. */
bool interval_widen(void);
/* Attributes for the event `counters` in the log. */
struct text;
void interval_log(struct text *line);

/*
 * clock_timer.c: a timer of the thread's own, which expires once: on its CPU clock, with the first
 * tick of the kernel after its time; or on the wall clock (phase.wall), in time if the
 * thread is on a processor until then, else too early.
 */

/* The kernel's tick is 4 ms or less (CONFIG_HZ of 250 and more). */
enum { TIMER_INTERVAL_NS = 4 * 1000 * 1000 };
/* Sets the thread's timer to its next tick, makes it where it has none, and ends it where none is
 * wanted any more. */
void timer_arm(struct thread *thread);
void timer_disarm(struct thread *thread);
void timer_arm_all(void);
void timer_disarm_all(void);
/* si_value of our own signals: tells them from the program's. */
#define MONITOR_COOKIE	    0x48454c494fu
#define MONITOR_COOKIE_WALL 0x48454c494f77u /* of a timer of the wall clock */
#define MONITOR_COOKIE_STOP 0x48454c494f73u /* of a guard */

/* clock_stop.c: stops of the whole process, for the monitor engine. */

/* The monitor runs at this moment. */
void stop_alive(uint64_t now_ns);
uint64_t stop_last_alive_ns(void);
/* The process stood still since the monitor was last alive, but for the time that it was queued.
 * False: somebody has noted it before. */
bool stop_note(uint64_t since_ns, uint64_t now_ns, uint64_t queued_ns);
bool stop_is_noted(uint64_t since_ns);
/* The thread's guard, a timer that expires where the monitor does not look in time.  With the
 * thread's lock, or for the calling thread. */
void stop_guard(struct thread *thread, uint64_t every_ns, uint64_t now_ns);
bool stop_guard_is_due(const struct thread *thread, uint64_t every_ns, uint64_t now_ns);
void stop_unguard(struct thread *thread);
void stop_unguard_all(void);
/* The thread's guard has expired, and its handler has not run. */
bool stop_guard_waits(const struct thread *thread);
/* Once the guard of the calling thread has expired: there was a stop, which is noted now. */
bool stop_met(struct thread *thread);

/* The engines. */
/*
 * All our events of perf raise SIGTRAP, with sig_data PERF_COOKIE, which tells them from the
 * program's own, and a number: the engine's, or from PERF_EVENT_COUNTER on a counter's.
 */
#define PERF_COOKIE 0x48454c494f000000u
enum { TRAP_PERF_CODE = 6 }; /* si_code TRAP_PERF: newer than Debian 12's headers */
enum {
	PERF_EVENT_TICK = 1,
	PERF_EVENT_SWITCH = 2,
	PERF_EVENT_LATER = 3, /* a tick at the longer interval */
	PERF_EVENT_COUNTER = 16,
};
bool perf_signal_take(void);
/* Signals that were sent by us, not by the program. */
bool perf_signal_is_ours(const siginfo_t *info);
bool monitor_signal_is_ours(const siginfo_t *info);
/* Takes the engine's signal, and nothing else yet. */
bool perf_engine_prepare(void);
bool monitor_engine_prepare(void);
/*
 * Why the program would be harmed by signals other than a timer's; NULL: it is not.  One that is
 * pending when a thread executes another program ends that one, unless it is a timer's, which the
 * kernel discards.  Our wrappers of exec see to it that none is, but Go's runtime and qemu's guests
 * execute by a system call instruction of their own.
 */
const char *engine_signals_harm(void);
/* An event of another thread, or with 0 of the calling one: a descriptor or a negative errno. */
int perf_engine_open(int tid, bool switches);
/* The switch events, which there were too many of, may come again. */
void perf_engine_breathed(void);
bool perf_engine_start(char *reason, size_t size);
/* The length of the interval that is in force for the process's first thread. */
uint64_t perf_engine_interval_ns(void);
/* Before a thread is created: it inherits the length of the interval. */
void perf_engine_before_birth(void);
/* All threads' ticks come at the longer interval from now on. In a handler. */
void perf_engine_widen(void);
/* Every context switch is being signalled now. */
bool perf_engine_sees_switches(void);
/* How often they have ceased to be. */
uint32_t perf_engine_switch_pauses(void);
void perf_engine_pause(void);  /* before exec: no event may be pending */
void perf_engine_resume(void); /* … when the exec failed */
void perf_engine_forget(void); /* in the child of a fork */
/* The ticks alone, for a moment; not while the engine is paused.  False: they are not to be found.
 */
bool perf_engine_switch_ticks(bool on);
/* Until the thread that enables switch events again is gone: 20 ms at most. */
void perf_engine_wait_for_thread(void);

/* For the perf engine: looks at all threads' waits, once and until each of them has ended. */
void watch_waits(void);
void watch_stop(void);	 /* returns when its thread is gone */
void watch_forget(void); /* in the child of a fork */

bool monitor_engine_start(void);
/* The process may be stopped before the monitor looks for the first time. */
void monitor_engine_guard_first(struct thread *thread);
/* Starts in a handler, in the place of the perf engine, for all threads. */
bool monitor_engine_take_over(void);
/* For a process that switches all the time: its waits are short and many, a few of them will do. */
void monitor_engine_look_seldom(void);
/* From one look to the next, but for that: an interval, or what timers of CPU clocks need. */
uint64_t monitor_engine_look_ns(void);
/* At this interval its looks are no more than timers of CPU clocks need. */
bool monitor_engine_is_cheap(void);
bool monitor_engine_is_running(void);
/* What the monitor itself used, which the program's CPU time contains. */
uint64_t monitor_engine_cpu_ns(void);
/* Ends it: when this returns, its thread and its timers are gone. */
void monitor_engine_stop(void);
void monitor_engine_pause(void);
void monitor_engine_resume(void);
/* Before the files of threads may become root's: those of all that are known are opened. */
void monitor_engine_open_files(void);
void monitor_engine_forget(void);

/*
 * The holder of other threads' events, in a program that was attached to.  It begins when
 * the thread `tid` is not traced any more.  Where it holds no events the next four do
 * nothing and return false.
 */
bool holder_start(int tid);
bool holder_pause(void); /* returns when no event fires any more */
bool holder_resume(void);
bool holder_breathe(void);     /* no switch events for a moment */
bool holder_rest(uint64_t ns); /* no ticks for so long; in the end overhead_rested() is called */
bool holder_drop(void);
bool holder_holds(void);
int holder_tid(void); /* 0: there is none */
void holder_stop(void);
void holder_forget(void); /* in the child of a fork */

/*
 * The signals that the engines use: the program must not block or take them.  The
 * monitor's is a real-time signal, because a SIGPROF that the program sends would get lost
 * in one of ours that is pending.  Not the last one: that is taken oftener.  Under a debugger or
 * tracer it is SIGPROF all the same, which they let pass without a word, where they stop at others.
 */
enum {
	CLOCK_SIGNAL_PERF = FORMAT_SIGNAL_PERF,
	CLOCK_SIGNAL_MONITOR = FORMAT_SIGNAL_MONITOR, /* as a rule: collector.monitor_signal */
	CLOCK_SIGNAL_TRACED = SIGPROF,
};

#endif
