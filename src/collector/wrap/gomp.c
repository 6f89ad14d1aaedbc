/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgomp tells nobody what it does, but programs reach it through functions that can be wrapped.
 * What it does by itself (the barrier at the end of a region, threads without work) is seen by the
 * function that it is given for each thread: ours, which calls the program's.
 *
 * Where another runtime has these names (libomp has), ours do nothing but call it: that one tells
 * us itself (ompt.c).  Which one it is that a caller finds, gomp_find.c looks up.  Critical
 * sections, locks, atomic constructs and ordered sections are in omp_lock.c.
 */
#include "collector/wrap/gomp.h"
#include "collector/runtimes/omp.h"

typedef void body_function(void *data);
typedef void copy_function(void *to, void *from);

/* ---- regions ---- */

/* The program's function, as what it calls is looked up from. */
static void call_body(body_function *body, void *data)
{
	const void *before = gomp_body;
	void *function;

	memcpy(&function, &body, sizeof(function));
	gomp_body = function;
	body(data);
	gomp_body = before;
}

/* What libgomp calls in each thread of a team. */
static void run_share(void *argument)
{
	struct omp_region *region = argument;
	struct omp_share share = omp_share_begin(region);
	body_function *body;

	memcpy(&body, &region->body, sizeof(body));
	call_body(body, region->data);
	omp_share_end(region, &share);
}

/* Of a region whose tasks reduce: libgomp reads the first word, as of the program's data. */
struct reducing {
	void *reductions;
	struct omp_region *region;
};

static void run_reducing_share(void *argument)
{
	run_share(((const struct reducing *)argument)->region);
}

/*
 * `region`, and then the call, which has `run_share` and `region` in the place of the program's
 * function and data.
 */
#define REGION(kind, call)                                                                         \
	char room[OMP_REGION_ROOM];                                                                \
	struct omp_region *region = omp_region_in(room);                                           \
                                                                                                   \
	region->body = (void *)(uintptr_t)body;                                                    \
	region->data = data;                                                                       \
	omp_region_begin(region, omp_encounter(kind, region->body, __builtin_frame_address(0)));   \
	call;                                                                                      \
	omp_region_end(region)

/* Without a runtime behind it the program is one that never had threads. */
#define PARALLEL(name, kind, parameters, ...)                                                      \
	COLLECTOR_EXPORT void name parameters;                                                     \
	void name parameters                                                                       \
	{                                                                                          \
		REAL(void, name, parameters);                                                      \
                                                                                                   \
		if (!real) {                                                                       \
			body(data);                                                                \
			return;                                                                    \
		}                                                                                  \
		if (found.is_other || !trace_is_wanted(TRACE_OMP)) {                               \
			real(body, data, __VA_ARGS__);                                             \
			return;                                                                    \
		}                                                                                  \
		REGION(kind, real(run_share, region, __VA_ARGS__));                                \
	}

PARALLEL(GOMP_parallel, OMP_PARALLEL,
	 (body_function * body, void *data, unsigned threads, unsigned flags), threads, flags)
PARALLEL(GOMP_parallel_sections, OMP_PARALLEL,
	 (body_function * body, void *data, unsigned threads, unsigned count, unsigned flags),
	 threads, count, flags)
PARALLEL(GOMP_teams_reg, OMP_TEAMS,
	 (body_function * body, void *data, unsigned teams, unsigned limit, unsigned flags), teams,
	 limit, flags)

#define PARALLEL_LOOP(schedule)                                                                    \
	PARALLEL(GOMP_parallel_loop_##schedule, OMP_PARALLEL,                                      \
		 (body_function * body, void *data, unsigned threads, long start, long end,        \
		  long step, long chunk, unsigned flags),                                          \
		 threads, start, end, step, chunk, flags)

PARALLEL_LOOP(static)
PARALLEL_LOOP(dynamic)
PARALLEL_LOOP(guided)
PARALLEL_LOOP(nonmonotonic_dynamic)
PARALLEL_LOOP(nonmonotonic_guided)

#define PARALLEL_LOOP_RUNTIME(schedule)                                                            \
	PARALLEL(GOMP_parallel_loop_##schedule, OMP_PARALLEL,                                      \
		 (body_function * body, void *data, unsigned threads, long start, long end,        \
		  long step, unsigned flags),                                                      \
		 threads, start, end, step, flags)

PARALLEL_LOOP_RUNTIME(runtime)
PARALLEL_LOOP_RUNTIME(nonmonotonic_runtime)
PARALLEL_LOOP_RUNTIME(maybe_nonmonotonic_runtime)

typedef unsigned reductions_function(body_function *body, void *data, unsigned threads,
				     unsigned flags);

static unsigned reduce(reductions_function *real, struct omp_region *region, unsigned threads,
		       unsigned flags)
{
	struct reducing reducing = {*(void **)region->data, region};

	return real(run_reducing_share, &reducing, threads, flags);
}

COLLECTOR_EXPORT reductions_function GOMP_parallel_reductions;
unsigned GOMP_parallel_reductions(body_function *body, void *data, unsigned threads, unsigned flags)
{
	unsigned result;
	REAL(unsigned, GOMP_parallel_reductions, (body_function *, void *, unsigned, unsigned));

	if (!real) {
		body(data);
		return 1;
	}
	if (found.is_other || !trace_is_wanted(TRACE_OMP))
		return real(body, data, threads, flags);
	REGION(OMP_PARALLEL, result = reduce(real, region, threads, flags));
	return result;
}

/* ---- waits ---- */

/* Calls that wait, from here to the end of the call. */
#define WAIT(result, name, parameters, arguments, wait)                                            \
	COLLECTOR_EXPORT result name parameters;                                                   \
	result name parameters                                                                     \
	{                                                                                          \
		struct omp_before before;                                                          \
		REAL(result, name, parameters);                                                    \
                                                                                                   \
		if (!real)                                                                         \
			return (result)0;                                                          \
		if (found.is_other)                                                                \
			return real arguments;                                                     \
		before = omp_enter(wait);                                                          \
		result value = real arguments;                                                     \
                                                                                                   \
		omp_leave(&before);                                                                \
		return value;                                                                      \
	}

/* The same of those without a result: what is in the result's register nobody reads. */
#define WAIT_VOID(name, parameters, arguments, wait)                                               \
	COLLECTOR_EXPORT void name parameters;                                                     \
	void name parameters                                                                       \
	{                                                                                          \
		struct omp_before before;                                                          \
		REAL(void, name, parameters);                                                      \
                                                                                                   \
		if (!real)                                                                         \
			return;                                                                    \
		if (found.is_other) {                                                              \
			real arguments;                                                            \
			return;                                                                    \
		}                                                                                  \
		before = omp_enter(wait);                                                          \
		real arguments;                                                                    \
		omp_leave(&before);                                                                \
	}

WAIT_VOID(GOMP_barrier, (void), (), OMP_STATE_EXPLICIT_BARRIER)
WAIT(bool, GOMP_barrier_cancel, (void), (), OMP_STATE_EXPLICIT_BARRIER)
WAIT_VOID(GOMP_loop_end, (void), (), OMP_STATE_IMPLICIT_BARRIER)
WAIT(bool, GOMP_loop_end_cancel, (void), (), OMP_STATE_IMPLICIT_BARRIER)
WAIT_VOID(GOMP_sections_end, (void), (), OMP_STATE_IMPLICIT_BARRIER)
WAIT(bool, GOMP_sections_end_cancel, (void), (), OMP_STATE_IMPLICIT_BARRIER)
WAIT_VOID(GOMP_workshare_task_reduction_unregister, (bool cancelled), (cancelled),
	  OMP_STATE_IMPLICIT_BARRIER)
WAIT(void *, GOMP_single_copy_start, (void), (), OMP_STATE_IMPLICIT_BARRIER)
WAIT_VOID(GOMP_single_copy_end, (void *data), (data), OMP_STATE_IMPLICIT_BARRIER)
WAIT_VOID(GOMP_taskwait, (void), (), OMP_STATE_TASK_WAIT)
WAIT_VOID(GOMP_taskwait_depend, (void **depend), (depend), OMP_STATE_TASK_WAIT)
WAIT_VOID(GOMP_taskgroup_end, (void), (), OMP_STATE_TASK_WAIT)
/*
 * Variadic: as many numbers as loops are nested, of which there are no more than 32.  Those that
 * are not given are whatever the places of such arguments hold, and libgomp does not look at them.
 */
#define NUMBERS_8(type, n)                                                                         \
	type n##0, type n##1, type n##2, type n##3, type n##4, type n##5, type n##6, type n##7
#define NAMES_8(n) n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7
#define NUMBERS(type)                                                                              \
	(NUMBERS_8(type, a), NUMBERS_8(type, b), NUMBERS_8(type, c), NUMBERS_8(type, d))
#define NAMES (NAMES_8(a), NAMES_8(b), NAMES_8(c), NAMES_8(d))
WAIT_VOID(GOMP_doacross_wait, NUMBERS(long), NAMES, OMP_STATE_ORDERED_WAIT)
WAIT_VOID(GOMP_doacross_ull_wait, NUMBERS(unsigned long long), NAMES, OMP_STATE_ORDERED_WAIT)

/* ---- explicit tasks ---- */

/*
 * What libgomp copies in place of the program's data: this, and behind it, where that has its
 * alignment, the data.  In the encountering function's frame it is without data, and says where
 * they are: libgomp copies by copy_task() always, at once.
 */
struct task {
	/* Of a loop's task: libgomp writes its range here, and reads the third word. */
	unsigned long long range[2];
	void *reductions;
	body_function *body;
	copy_function *copy; /* NULL: bytes */
	void *data;
	size_t size, offset;
	uint32_t construct, region;
	uint64_t created;
};

/* No call of the C library: the collector has none of these. */
static void copy_bytes(char *to, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = from[i];
}

static void copy_task(void *to, void *from)
{
	const struct task *task = from;
	char *data = (char *)to + task->offset;

	*(struct task *)to = *task;
	if (task->copy)
		task->copy(data, task->data);
	else
		copy_bytes(data, task->data, task->size);
}

static void run_task(void *argument)
{
	const struct task *task = argument;
	const struct task own = *task; /* libgomp may free the block while the body runs */
	struct omp_before before = omp_task_begin(own.construct, own.region);

	call_body(own.body, (char *)argument + own.offset);
	omp_task_end(&before, own.construct, own.created);
}

/* A loop's task has its range at the beginning of its data. */
static void run_loop_task(void *argument)
{
	const struct task *task = argument;

	copy_bytes((char *)argument + task->offset, (const char *)task->range, sizeof(task->range));
	run_task(argument);
}

/* False: the task is to be libgomp's alone. */
static bool describe_task(struct task *task, long *align, void *frame)
{
	task->construct = omp_encounter(OMP_TASK, (void *)(uintptr_t)task->body, frame);
	if (!task->construct)
		return false;
	if (*align < (long)_Alignof(struct task))
		*align = _Alignof(struct task);
	task->offset = (sizeof(*task) + (size_t)*align - 1) & ~((size_t)*align - 1);
	task->region = omp_thread() ? omp_field(omp_thread(), OMP_CONTEXT_REGION) : 0;
	task->created = omp_ticks();
	return true;
}

enum { TASK_DETACH = 1 << 13 }; /* libgomp writes to the data itself */

/* Callers that know fewer parameters leave the last ones as they are, and libgomp, too. */
COLLECTOR_EXPORT void GOMP_task(body_function *body, void *data, copy_function *copy, long size,
				long align, bool is_parallel, unsigned flags, void **depend,
				int priority, void *detach);
void GOMP_task(body_function *body, void *data, copy_function *copy, long size, long align,
	       bool is_parallel, unsigned flags, void **depend, int priority, void *detach)
{
	struct task task = {.body = body, .copy = copy, .data = data, .size = (size_t)size};
	REAL(void, GOMP_task,
	     (body_function *, void *, copy_function *, long, long, bool, unsigned, void **, int,
	      void *));

	if (!real) {
		body(data);
		return;
	}
	if (found.is_other || flags & TASK_DETACH ||
	    !describe_task(&task, &align, __builtin_frame_address(0))) {
		real(body, data, copy, size, align, is_parallel, flags, depend, priority, detach);
		return;
	}
	real(run_task, &task, copy_task, (long)task.offset + size, align, is_parallel, flags,
	     depend, priority, detach);
}

enum { TASK_REDUCTION = 1 << 12 };

/*
 * The encountering thread makes the tasks, executes some, and waits for all unless the program says
 * `nogroup`.  Without a runtime behind it the loop is one task.
 */
#define TASKLOOP(name, number)                                                                     \
	COLLECTOR_EXPORT void name(body_function *body, void *data, copy_function *copy,           \
				   long size, long align, unsigned flags, unsigned long tasks,     \
				   int priority, number start, number end, number step);           \
	void name(body_function *body, void *data, copy_function *copy, long size, long align,     \
		  unsigned flags, unsigned long tasks, int priority, number start, number end,     \
		  number step)                                                                     \
	{                                                                                          \
		struct task task = {                                                               \
			.body = body, .copy = copy, .data = data, .size = (size_t)size};           \
		struct omp_before before;                                                          \
		REAL(void, name,                                                                   \
		     (body_function *, void *, copy_function *, long, long, unsigned,              \
		      unsigned long, int, number, number, number));                                \
                                                                                                   \
		if (!real) {                                                                       \
			((number *)data)[0] = start;                                               \
			((number *)data)[1] = end;                                                 \
			body(data);                                                                \
			return;                                                                    \
		}                                                                                  \
		if (flags & TASK_REDUCTION)                                                        \
			task.reductions = ((void **)data)[2];                                      \
		if (found.is_other || !describe_task(&task, &align, __builtin_frame_address(0))) { \
			real(body, data, copy, size, align, flags, tasks, priority, start, end,    \
			     step);                                                                \
			return;                                                                    \
		}                                                                                  \
		before = omp_enter(OMP_STATE_TASK_WAIT);                                           \
		real(run_loop_task, &task, copy_task, (long)task.offset + size, align, flags,      \
		     tasks, priority, start, end, step);                                           \
		omp_leave(&before);                                                                \
	}

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)
