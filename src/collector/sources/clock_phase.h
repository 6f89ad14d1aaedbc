/* SPDX-License-Identifier: Apache-2.0 */
/* Whose stack gets the CPU time of threads and processes that live shortly. */
#ifndef HELIO_COLLECTOR_CLOCK_PHASE_H
#define HELIO_COLLECTOR_CLOCK_PHASE_H

#include "collector/core/thread_state.h"
#include "format/format.h"

#include <stdbool.h>
#include <stdint.h>

/* A thread of pthread_create begins, before it is adopted; or a process, in its first thread. */
void phase_begin(struct thread *thread);
void phase_begin_process(struct thread *thread);
/* Before the first thread where no process begins (helio attach). */
void phase_prepare(void);
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
/*
 * The calling thread ends the recording: what it settles of other threads, and no tick of theirs
 * covers, is kept from the first call on; the second divides it among the last ticks.
 */
void phase_collect_unsampled(void);
void phase_distribute_unsampled(void);
/* Ticks of the perf event are nothing to a young thread, whose timer ticks. */
bool phase_has_timer(const struct thread *thread);
/* Perf engine, a process's young first thread: has a tick come before its time on the CPU clock,
 * from which the kernel may leave out what the event counts?  Until the next tick; else 0. */
bool phase_step_is_early(const struct thread *thread);
uint64_t phase_step_delay_ns(const struct thread *thread);
void phase_forget(void); /* in the child of a fork */
/*
 * Sets when the first tick of the process is due, and returns the CPU time until then.  What is
 * less than `least_ns` is left to a timer (timer_first), or made so long.
 */
uint64_t phase_process_first_ns(struct thread *thread, uint64_t least_ns);
/* The process ends, or becomes another program: what it leaves the next one begins with. */
void phase_leave_process(void);

/* The timer has expired before its time on the CPU clock came: no tick; it is set again. */
bool phase_timer_was_early(struct thread *thread, const struct unwind_regs *regs);
/* … in time; taken: with a tick. */
void phase_timer_expired(struct thread *thread, bool taken);

#endif
