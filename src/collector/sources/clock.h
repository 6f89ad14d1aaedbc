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

#include "collector/core/thread_state.h"
#include "format/format.h"

struct clock_remote;

/* The accounting of the calling thread begins: now for main and after a fork, else when it began.
 */
void clock_begin(struct thread *thread);

/*
 * The program goes on after the begin of a recording, in its first thread: what has passed is none
 * of the program's, and its life is recorded from now on.
 */
void clock_begin_program(struct thread *thread);

/* A tick of the thread's CPU clock: the pending CPU time belongs to these registers' stack. */
void clock_tick(struct thread *thread, const struct unwind_regs *regs);

/* The thread comes out of a stop of the process, in which it stood at these registers. */
void clock_stopped(struct thread *thread, const struct unwind_regs *regs);

/* The thread runs again after a wait: the pending wait belongs to these registers' stack. */
void clock_switched_in(struct thread *thread, const struct unwind_regs *regs);

/*
 * Whether a signal that has come for something else stands for a switch of the calling thread, too:
 * it has waited since its last reading, and each switch is signalled.
 */
bool clock_met_switch(const struct thread *thread);

/* Whether the calling thread has waited for so long, since its last event, that it is worth a call
 * stack. */
bool clock_waits_need_stack(const struct thread *thread);
/* Accounts for everything up to now; `stack` is where waits were that no event has told of. For the
 * calling thread. */
void clock_settle(struct thread *thread, uint32_t stack);

/* Accounts for the calling thread's time up to now; writes nothing, but for a pause that began. */
void clock_account_to_now(struct thread *thread);
/* … and this writes it. */
void clock_settle_accounted(struct thread *thread, uint32_t stack);

/* The same for another thread, found blocked or running from outside (thread lock held). */
void clock_settle_other(struct thread *thread);

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

#endif
