/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: their states, by thread, and who may write to one. */
#ifndef HELIO_COLLECTOR_THREAD_H
#define HELIO_COLLECTOR_THREAD_H

#include "collector/arch/sys.h"
#include "collector/core/thread_state.h"

#include <stdbool.h>
#include <stdint.h>

/* The calling thread's state, NULL before its first event; or thread_gone, once the thread has
 * ended: late events of it are not recorded. */
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));
extern struct thread thread_gone;
struct thread *thread_make_current(void);

/* As thread_current, but never makes one. */
static inline struct thread *thread_current_if_known(void)
{
	return thread_self == &thread_gone ? NULL : thread_self;
}

/* The calling thread's state, in which others may have written before the thread knew of it. */
struct thread *thread_own_state(void);

/* The calling thread's state, made on the first call; NULL: no memory. Safe in a handler. */
static inline struct thread *thread_current(void)
{
	return thread_self ? thread_current_if_known() : thread_make_current();
}

/* Whether the address is on the stack that the thread began with. */
static inline bool thread_has_stack_at(const struct thread *thread, uint64_t sp)
{
	return sp >= thread->stack_low && sp < thread->stack_high;
}

/*
 * Whether the calling task, whose frame is at `sp`, is the thread: a task that a raw clone made may
 * run on its maker's thread-local variables, and it may have stopped its maker, as
 * LeakSanitizer's does.
 */
static inline bool thread_is_caller(const struct thread *thread, uint64_t sp)
{
	return thread_has_stack_at(thread, sp) || atomic_load(&thread->tid) == sys_gettid();
}

/*
 * In a handler: the state of the thread that was interrupted there.  One made by
 * a raw clone without CLONE_SETTLS runs on its creator's thread-local variables.
 */
struct thread *thread_interrupted(const struct unwind_regs *regs);
/* The state of the thread with this number, or NULL. */
struct thread *thread_find(int tid);
/* A state for a thread about to be created, and the way back if it is not. */
struct thread *thread_new(void);
void thread_release(struct thread *thread);
/* Makes the state the calling thread's: its begin is accounted from `begin_ns`. */
void thread_adopt(struct thread *thread, uint64_t begin_ns);

/* A state for a thread that runs already and has not had an event: it finds it by its id. `dir` is
 * an open /proc/self/task. */
void thread_announce(int tid, int dir);
/* The thread `tid` has ended where we do not see that: its state is free again. */
void thread_drop_ended(struct thread *thread, int tid);
/* For a new recording in the same process: the states of living threads stay theirs. */
void thread_empty_lanes(void);

/* The calling thread is about to end: takes its state away; nothing is recorded of it any more. */
void thread_end(void);
/* pthread_create of a program that was attached to: see format/attach.h. */
void thread_create_entered(void);
struct format_attach_create;
extern struct format_attach_create thread_create_goes_on;
/* Calls visit for every live thread. */
void thread_for_each(void (*visit)(struct thread *thread, void *arg), void *arg);
uint32_t thread_count(void);
/* Whether there is no other one. */
bool thread_is_alone(const struct thread *thread);
/* … for every state, whether it is a thread's or waits for the next one. */
void thread_for_each_state(void (*visit)(struct thread *thread, void *arg), void *arg);
/* The state of that index, or NULL. */
struct thread *thread_state_at(uint32_t index);
/*
 * In the child of a fork: no thread is known any more, lanes are empty.  `in_use`, or NULL, is the
 * state of a recording that a handler has interrupted and that goes on when that returns: it
 * ends on that state, which is nobody's from now on.
 */
void thread_forget_all(const struct thread *in_use);
/* What the program believes of its signal mask goes on in the calling thread. */
void thread_inherit_masks(const struct thread *from);
bool thread_try_lock(struct thread *thread);
/*
 * For normal context: gives way until the handler or the monitor is done.  What a recording of a
 * call holds in the calling thread itself, below a handler of the program, is taken over.
 */
void thread_lock(struct thread *thread);
/* The same for a recording of a call of the thread itself. */
void thread_lock_by_call(struct thread *thread);
/* The same for another thread. False: such a recording does not end. */
bool thread_lock_other(struct thread *thread);
void thread_unlock(struct thread *thread);

#endif
