/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenMP, whichever runtime it is: what a thread does in which construct (its context, see
 * storage/context.h), which constructs there are, and what their executions took.
 *
 * All of it is called by the thread that it is about, in the program's own calls of the runtime.  A
 * thread that the collector does not know (NULL) runs unseen.
 *
 * A construct is a directive as it was reached: (call stack, construct around it, function).  Its
 * number is a small one: however often it is executed, it is recorded once, and its executions are
 * summed while they are short.
 */
#ifndef HELIO_COLLECTOR_OMP_H
#define HELIO_COLLECTOR_OMP_H

#include "collector/arch/ticks.h"
#include "collector/core/stamp.h"
#include "collector/core/thread.h"
#include "collector/core/trace.h"
#include "format/kind_omp.h"

/* Of the processor's counter where that is the kernel's clock, else ns. */
static inline uint64_t omp_ticks(void)
{
	return stamp_trusted ? arch_ticks() : clock_now_ns();
}

/* The calling thread, if it is recorded and OpenMP is; or NULL. */
static inline struct thread *omp_thread(void)
{
	struct thread *thread = thread_current_if_known();

	return thread && atomic_load_explicit(&collector.recording, memory_order_relaxed) ? thread
											  : NULL;
}

static inline uint32_t omp_field(const struct thread *thread, unsigned field)
{
	return thread->context.field[RUNTIME_OPENMP][field];
}

static inline void omp_set(struct thread *thread, unsigned field, uint32_t value)
{
	context_set(&thread->context, RUNTIME_OPENMP, field, value);
}

/* Of ticks of the clock so far; and a millisecond in ticks.  0: it is too early to tell. */
uint64_t omp_ns(uint64_t ticks);
uint64_t omp_ms_ticks(void);
/* Executions, and waits, in that time are one record. */
uint64_t omp_sum_ticks(void);

/* What a thread goes back to. */
struct omp_before {
	struct thread *thread; /* NULL: nothing was changed */
	uint32_t state, region, task;
	uint32_t generation; /* of the recording: in the child of a fork it is another one */
	uint32_t until_value;
	const struct team_ends *until;
	uint64_t since;
	uint64_t executed, waited; /* of the thread so far */
};

/* As omp_enter(), but only what omp_leave() needs is noted. */
static inline void omp_wait_begin(struct omp_before *before, enum format_omp_state state)
{
	struct thread *thread = omp_thread();

	before->thread = thread;
	if (!thread)
		return;
	before->state = omp_field(thread, OMP_CONTEXT_STATE);
	before->generation = trace_generation();
	before->executed = thread->omp.executed;
	omp_set(thread, OMP_CONTEXT_STATE, state);
	before->since = omp_ticks();
}

/* A wait, or another state, from here to omp_leave(). */
struct omp_before omp_enter(enum format_omp_state state);
void omp_leave(const struct omp_before *before);
/* The same of the recording in hand: where the caller has read the clock; after what was no wait.
 */
void omp_leave_at(const struct omp_before *before, uint64_t now);
void omp_leave_unwaited(const struct omp_before *before);
/* False: nothing was changed; or in the child of a fork, where the thread and all numbers are
 * others. */
bool omp_is_same_recording(const struct omp_before *before);

/*
 * The number of the construct that the caller of a wrapped function encounters; frame: that
 * function's __builtin_frame_address(0).  0: it is not recorded.
 */
uint32_t omp_encounter(enum format_omp_construct kind, void *function, const void *frame);

/* The same where only the call is known, by its return address: its function is found later. */
uint32_t omp_encounter_call(enum format_omp_construct kind, const void *code, const void *frame);

enum { OMP_LINE = 64 }; /* bytes that processors hand each other at once */

/* An execution of a parallel region, of the thread that encountered it; lives as long. */
struct omp_region {
	/* What its threads read when they begin, and all but that one add to at their end: a line.
	 */
	_Alignas(OMP_LINE) struct thread *thread; /* which encountered it; NULL: not recorded */
	const struct team_ends *until;
	uint32_t construct, until_value;
	_Atomic uint32_t threads;
	_Atomic uint64_t worked, longest;
	void *body, *data; /* of the runtime's layer */
	/* That thread's alone, with what its own shares are. */
	_Alignas(OMP_LINE) struct omp_before before;
	uint32_t stack, own_threads;
	uint64_t own_worked, own_longest;
	struct omp_over over; /* of the region around it */
};

/* Room for one on a call stack, whose frames are not aligned so. */
#define OMP_REGION_ROOM (sizeof(struct omp_region) + OMP_LINE)
static inline struct omp_region *omp_region_in(char *room)
{
	return (struct omp_region *)(((uintptr_t)room + OMP_LINE - 1) & ~(uintptr_t)(OMP_LINE - 1));
}

/* A thread's share of it. */
struct omp_share {
	struct thread *thread; /* NULL: nothing was changed */
	uint32_t generation;   /* of the recording */
	uint64_t since, waited;
};

/* construct: of omp_encounter().  Leaves body and data alone. */
void omp_region_begin(struct omp_region *region, uint32_t construct);
void omp_region_end(struct omp_region *region);
/* A thread's share of it: code of the program, from here to omp_share_end(). */
struct omp_share omp_share_begin(const struct omp_region *region);
void omp_share_end(struct omp_region *region, const struct omp_share *share);

/* An explicit task is executed: of that construct, in that region, created at that tick. */
struct omp_before omp_task_begin(uint32_t construct, uint32_t region);
void omp_task_end(const struct omp_before *before, uint32_t construct, uint64_t created);

/* Its waits that have not been written yet (omp_lock.c); the caller has the thread's lock. */
void omp_lock_write_all(struct thread *thread);
/* A thread ends: what it has not written yet. */
void omp_thread_end(struct thread *thread);

#endif
