/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pthread_create and thrd_create: each thread gets its state before it runs,
 * begins its accounting when it begins, and settles it when it ends, however
 * short it lives and however it ends (return, pthread_exit, cancellation): a
 * destructor of thread-specific data, which puts itself back until the last
 * round, runs after all the program's own.
 *
 * In a program that was attached to these are no wrappers, but pthread_create itself leads here
 * (format/attach.h).  There a recording can end at any moment, and its files with it.  Whoever ends
 * it waits for threads that have all signals blocked, as our handlers have.
 */
#include "collector/core/thread.h"

#include "collector/arch/create.h"
#include "collector/arch/sys.h"
#include "collector/core/child_io.h"
#include "collector/core/ended_stack.h"
#include "collector/core/next_functions.h"
#include "collector/core/signals.h"
#include "collector/core/stack.h"
#include "collector/core/thread_name.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/core/wrappers.h"
#include "collector/core/writer.h"
#include "collector/runtimes/omp.h"
#include "collector/runtimes/ompt.h"
#include "collector/sources/clock.h"
#include "collector/sources/clock_perf.h"
#include "collector/sources/clock_phase.h"
#include "collector/sources/counter.h"
#include "collector/sources/overhead.h"
#include "collector/storage/own_use.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "collector/unwind/unwind.h"
#include "format/attach.h"

#include <limits.h>
#include <stdlib.h>

static pthread_key_t end_key;
static pthread_once_t end_key_once = PTHREAD_ONCE_INIT;

/* From here on this thread is as good as in a handler. For late_open. */
static uint64_t late_close(void)
{
	return collector.late ? signal_hold_all() : 0;
}

static void late_open(uint64_t mask)
{
	if (collector.late)
		signal_release(mask);
}

/* A thread that is about to vanish: what it waited last belongs to its start routine. */
static void finish_thread(struct thread *thread)
{
	if (!collector_is_ours() || thread_current_if_known() != thread)
		return;
	if (collector.late && !atomic_load(&collector.recording)) {
		thread_end();
		return;
	}
	if (thread_is_alone(thread)) /* the C library calls exit on it */
		return;
	counter_thread_end(thread);
	omp_thread_end(thread);
	ompt_thread_end(thread);
	overhead_thread_end(thread);
	thread_lock(thread);
	clock_settle(thread, FORMAT_NO_STACK);
	phase_leave(thread);
	thread_name_end(thread);
	writer_thread_end(thread, thread->clock.last.now_ns);
	thread_unlock(thread);
	child_io_thread_end();
	ended_stack_note(thread->stack_size);
	thread_end();
}

static void on_thread_data(void *value)
{
	struct thread *thread = value;

	if (++thread->destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(end_key, thread);
		return;
	}
	uint64_t mask = late_close();

	finish_thread(thread);
	late_open(mask);
}

static void make_end_key(void)
{
	pthread_key_create(&end_key, on_thread_data);
}

void thread_watch_end(struct thread *thread)
{
	pthread_once(&end_key_once, make_end_key);
	pthread_setspecific(end_key, thread);
}

/* The stack holds our frames' callers up to the thread's descriptor at its top (glibc puts it
 * there). */
static void set_stack_bounds(struct thread *thread, uint64_t size)
{
	enum { SLACK = UNWIND_STACK_SLACK }; /* guard page, static TLS, descriptor */
	uint64_t top = (uint64_t)__builtin_thread_pointer();

	if (size <= 2 * SLACK || (uint64_t)__builtin_frame_address(0) > top)
		return;
	thread->stack_high = top;
	thread->stack_low = top - (size - SLACK);
}

/* False: nothing is recorded of it. */
static bool begin(struct thread *thread)
{
	/* Not by a later recording than the one that it was prepared for. */
	bool wanted = atomic_load(&collector.recording) && !thread_current_if_known() &&
		      thread->clock.last.now_ns >= collector.begin_ns;

	/* No event may account for anything before the clocks have been read. */
	if (wanted) {
		thread_lock(thread);
		phase_begin(thread);
		counter_thread_begin(thread);
		thread_adopt(thread, thread->clock.last.now_ns);
	} else {
		thread_release(thread);
	}
	atomic_fetch_sub(&collector.threads_to_begin,
			 1); /* not before: an event would make a second state */
	if (!wanted)
		return false;
	clock_begin(thread);
	thread->start_stack =
		stacktable_intern_leaf(stack_of_caller(thread), (uint64_t)thread->start_routine);
	thread_unlock(thread);
	return true;
}

static __attribute__((noinline)) void begin_counted(struct thread *thread)
{
	struct own_use_span span;
	uint64_t mask = late_close();

	own_use_begin(&span);
	ended_stack_forget();
	set_stack_bounds(thread, thread->stack_high);
	bool wanted = begin(thread);

	late_open(mask);
	if (wanted) {
		signal_open_again();
		thread_watch_end(thread);
	}
	own_use_end(&span);
}

/*
 * With nothing on its stack: the routine takes its place.  A frame of ours would need its frame
 * pointer, which is not known of a thread that is seen waiting from outside, and could not be
 * searched for: libc calls us through a pointer.
 */
static void *trampoline(void *argument)
{
	struct thread *thread = argument;
	void *(*routine)(void *) = thread->start_routine;
	void *routine_argument = thread->start_argument;

	begin_counted(thread);
	return routine(routine_argument);
}

/* Whether the thread is to run on memory of the program's. */
static bool gives_stack(const pthread_attr_t *attributes)
{
	void *low = NULL;
	size_t size = 0;

	/* glibc reckons down from the stack's end, which is 0 where there is none. */
	return !pthread_attr_getstack(attributes, &low, &size) && (uintptr_t)low + size;
}

/* A state for a thread that is to run `routine`, or NULL when it should run unseen. */
static struct thread *prepare(const pthread_attr_t *attributes, void *(*routine)(void *),
			      void *argument)
{
	struct thread *creator, *thread = NULL;
	bool gives = attributes && gives_stack(attributes);
	size_t size = collector.default_stack_size;
	struct own_use_span span;

	if (atomic_load(&collector.recording) && collector_is_ours()) {
		own_use_begin(&span);
		thread = thread_new();
		own_use_end(&span);
	}
	if (!thread)
		return NULL;
	creator = thread_own_state();
	perf_engine_before_thread();
	atomic_fetch_add(&collector.threads_to_begin, 1);
	if (attributes)
		pthread_attr_getstacksize(attributes, &size);
	thread->start_routine = routine;
	thread->start_argument = argument;
	thread->stack_size = gives ? 0 : size;
	thread->stack_high = size; /* until the thread knows where its stack is */
	thread->clock.last.now_ns = clock_now_ns();
	if (creator)
		thread->blocked = creator->blocked;
	return thread;
}

static void not_created(struct thread *thread)
{
	atomic_fetch_sub(&collector.threads_to_begin, 1);
	thread_release(thread);
}

typedef int create_function(pthread_t *id, const pthread_attr_t *attributes,
			    void *(*routine)(void *), void *argument);

/* `readable`: the attributes, or NULL. */
static int create(create_function *next, pthread_t *id, const pthread_attr_t *attributes,
		  const pthread_attr_t *readable, void *(*routine)(void *), void *argument)
{
	struct thread *thread = prepare(readable, routine, argument);

	/* Where a recording has just ended the creator may not have got its mask back yet. */
	if (!thread && !collector.late)
		return next(id, attributes, routine, argument);
	signal_close();
	int result = thread ? next(id, attributes, trampoline, thread)
			    : next(id, attributes, routine, argument);
	signal_open_again();
	if (thread && result)
		not_created(thread);
	return result;
}

COLLECTOR_EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes,
				    void *(*routine)(void *), void *argument)
{
	return create(NEXT(pthread_create), id, attributes, attributes, routine, argument);
}

struct format_attach_create thread_create_goes_on;

create_function thread_create_late, thread_create_original;

/* thrd_create comes by here, too, with an address that is none. */
int thread_create_late(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *),
		       void *argument)
{
	bool c11 = (uintptr_t)attributes == UINTPTR_MAX;

	return create(thread_create_original, id, attributes, c11 ? NULL : attributes, routine,
		      argument);
}

ARCH_DEFINE_CREATE(thread_create_entered, thread_create_original, thread_create_late,
		   thread_create_goes_on)

static int c11_trampoline(void *argument)
{
	return (int)(intptr_t)trampoline(argument);
}

COLLECTOR_EXPORT int thrd_create(thrd_t *id, thrd_start_t routine, void *argument)
{
	/* The two kinds of routine differ only in the width of the result, which stays in its
	 * register. */
	struct thread *thread = prepare(NULL, (void *(*)(void *))(void *)routine, argument);

	if (!thread)
		return NEXT(thrd_create)(id, routine, argument);
	signal_close();
	int result = NEXT(thrd_create)(id, c11_trampoline, thread);
	signal_open_again();
	if (result != thrd_success)
		not_created(thread);
	return result;
}
