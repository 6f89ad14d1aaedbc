/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runtimes that speak OMPT (libomp of LLVM, and those made of it): their callbacks as calls of
 * omp.h.
 *
 * What a thread goes back to lies in memory of its own, as stacks: of the regions that it has
 * encountered, of its shares of regions, of tasks, of waits.  All of them are nested, however deep:
 * what goes beyond the first entries has rooms of its own, which stay where they are.  A worker
 * hears of the end of the barrier at a region's end when the next region begins: its share is over
 * when the barrier begins.
 */
#include "collector/runtimes/ompt.h"

#include "collector/arch/sys.h"
#include "collector/core/log.h"
#include "collector/runtimes/omp.h"
#include "collector/runtimes/omp_lock.h"

#include <stddef.h>
#include <sys/mman.h>

enum { DEEP = 16, TASKS_DEEP = 256, ROOMS = 16 };

struct ompt_share {
	struct omp_region *region;
	struct omp_share share;
	bool is_over;
};

struct ompt_task {
	struct omp_before before;
	uint32_t construct;
	uint64_t created;
};

struct ompt_wait {
	struct omp_before before;
	bool is_region_end; /* the share's end has said it */
};

/* Entries beyond the first ones: room k has first << k of them, and is made when it is needed. */
struct ompt_rooms {
	void *room[ROOMS];
};

struct ompt_thread {
	struct omp_region regions[DEEP];
	struct ompt_share shares[DEEP];
	struct ompt_task tasks[TASKS_DEEP];
	struct ompt_wait waits[TASKS_DEEP];
	struct omp_lock_wait lock; /* a critical section, a lock, an ordered section */
	/* How many are open, be there room for them or not. */
	uint32_t region_count, share_count, task_count, wait_count;
	struct ompt_rooms more_regions, more_shares, more_tasks, more_waits;
};

static ompt_get_task_info get_task_info;

/* The calling thread's, made at its first region or share; NULL: nothing is recorded of it. */
static struct ompt_thread *state_of_thread(bool make)
{
	struct thread *thread = omp_thread();

	if (!thread || thread->omp.ompt || !make)
		return thread ? thread->omp.ompt : NULL;
	thread->omp.ompt = sys_mmap(sizeof(struct ompt_thread), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return thread->omp.ompt;
}

/* ---- entries ---- */

static size_t room_size(unsigned k, uint32_t first, size_t size)
{
	return ((size_t)first << k) * size;
}

static void say_too_deep(void)
{
	static _Atomic bool said;

	if (!atomic_exchange(&said, true))
		log_warning("OpenMP's nesting is too deep: the innermost regions and tasks are "
			    "not counted",
			    0);
}

/* NULL: there is no memory for it. */
static void *entry_in(struct ompt_rooms *rooms, uint32_t level, uint32_t first, size_t size)
{
	unsigned k = 31 - (unsigned)__builtin_clz(level / first);
	uint32_t in_room = level - (first << k);

	if (k < ROOMS && !rooms->room[k])
		rooms->room[k] = sys_mmap(room_size(k, first, size), PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (k < ROOMS && rooms->room[k])
		return (char *)rooms->room[k] + in_room * size;
	say_too_deep();
	return NULL;
}

static void free_rooms(struct ompt_rooms *rooms, uint32_t first, size_t size)
{
	for (unsigned k = 0; k < ROOMS; k++)
		if (rooms->room[k])
			sys_munmap(rooms->room[k], room_size(k, first, size));
}

static struct omp_region *region_at(struct ompt_thread *state, uint32_t level)
{
	return level < DEEP ? &state->regions[level]
			    : entry_in(&state->more_regions, level, DEEP, sizeof(*state->regions));
}

static struct ompt_share *share_at(struct ompt_thread *state, uint32_t level)
{
	return level < DEEP ? &state->shares[level]
			    : entry_in(&state->more_shares, level, DEEP, sizeof(*state->shares));
}

static struct ompt_task *task_at(struct ompt_thread *state, uint32_t level)
{
	return level < TASKS_DEEP
		       ? &state->tasks[level]
		       : entry_in(&state->more_tasks, level, TASKS_DEEP, sizeof(*state->tasks));
}

static struct ompt_wait *wait_at(struct ompt_thread *state, uint32_t level)
{
	return level < TASKS_DEEP
		       ? &state->waits[level]
		       : entry_in(&state->more_waits, level, TASKS_DEEP, sizeof(*state->waits));
}

/* ---- regions ---- */

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
			      unsigned threads, int flags, const void *code)
{
	struct ompt_thread *state = state_of_thread(true);
	struct omp_region *region;

	(void)task, (void)frame, (void)threads, (void)flags;
	parallel->ptr = NULL;
	if (!state)
		return;
	region = region_at(state, state->region_count++);
	if (!region)
		return;
	omp_region_begin(region,
			 omp_encounter_call(OMP_PARALLEL, code, __builtin_frame_address(0)));
	parallel->ptr = region;
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code)
{
	struct ompt_thread *state = state_of_thread(false);

	(void)task, (void)flags, (void)code;
	if (!state || !state->region_count)
		return;
	state->region_count--;
	if (parallel->ptr)
		omp_region_end(parallel->ptr);
}

static void end_share(struct ompt_share *share)
{
	if (!share)
		return;
	if (!share->is_over && share->region)
		omp_share_end(share->region, &share->share);
	share->is_over = true;
}

static void on_implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned team,
			     unsigned index, int flags)
{
	struct ompt_thread *state = state_of_thread(endpoint == OMPT_BEGIN);
	struct ompt_share *share;

	(void)team, (void)index;
	if (!state || flags & OMPT_TASK_INITIAL)
		return;
	if (endpoint == OMPT_BEGIN) {
		task->value = 0;
		share = share_at(state, state->share_count++);
		if (!share)
			return;
		share->region = parallel ? parallel->ptr : NULL;
		share->is_over = false;
		if (share->region)
			share->share = omp_share_begin(share->region);
	} else if (state->share_count) {
		end_share(share_at(state, --state->share_count));
	}
}

/* ---- waits ---- */

static enum format_omp_state state_of_sync(int kind)
{
	switch (kind) {
	case OMPT_BARRIER:
	case OMPT_BARRIER_EXPLICIT:
		return OMP_STATE_EXPLICIT_BARRIER;
	case OMPT_TASKWAIT:
	case OMPT_TASKGROUP:
		return OMP_STATE_TASK_WAIT;
	case OMPT_SYNC_REDUCTION:
		return OMP_STATE_REDUCTION;
	default:
		return OMP_STATE_IMPLICIT_BARRIER;
	}
}

/* Whether the thread has returned from the region's function: its task has no frame any more. */
static bool is_at_end(const struct ompt_thread *state)
{
	ompt_data_t *task = NULL, *parallel = NULL;
	ompt_frame_t *frame = NULL;
	int flags = 0, number = 0;

	return state->share_count && get_task_info &&
	       get_task_info(0, &flags, &task, &frame, &parallel, &number) == OMPT_AVAILABLE &&
	       flags & OMPT_TASK_IMPLICIT && frame && !frame->exit_frame.ptr;
}

static void begin_wait(struct ompt_thread *state, int kind)
{
	enum format_omp_state now = state_of_sync(kind);
	struct ompt_wait *wait = wait_at(state, state->wait_count++);

	if (!wait)
		return;
	*wait = (struct ompt_wait){.is_region_end =
					   now == OMP_STATE_IMPLICIT_BARRIER && is_at_end(state)};
	if (!wait->is_region_end)
		wait->before = omp_enter(now);
	else
		end_share(share_at(state, state->share_count - 1));
}

static void end_wait(struct ompt_thread *state)
{
	const struct ompt_wait *wait =
		state->wait_count ? wait_at(state, --state->wait_count) : NULL;

	if (wait && !wait->is_region_end)
		omp_leave(&wait->before);
}

static void on_sync_region(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task,
			   const void *code)
{
	struct ompt_thread *state = state_of_thread(false);

	(void)parallel, (void)task, (void)code;
	if (!state)
		return;
	if (endpoint == OMPT_BEGIN)
		begin_wait(state, kind);
	else if (endpoint == OMPT_END)
		end_wait(state);
}

/* What a wait for a mutex is recorded as; OMP_TYPES: a test, which does not wait. */
static enum format_omp_type type_of_mutex(int kind)
{
	switch (kind) {
	case OMPT_LOCK:
	case OMPT_NEST_LOCK:
		return OMP_LOCK;
	case OMPT_CRITICAL:
		return OMP_CRITICAL;
	case OMPT_ATOMIC:
		return OMP_ATOMIC;
	case OMPT_ORDERED:
		return OMP_ORDERED;
	default:
		return OMP_TYPES;
	}
}

/* The runtime's own address of a lock tells it from others; that of the program's has a name. */
static void request_lock(struct ompt_thread *state, enum format_omp_type type, const void *lock)
{
	const struct thread *thread = omp_thread();
	const void *name = thread ? thread->omp.lock_name : NULL;

	omp_lock_request(&state->lock, type, lock, name ? name : lock);
}

static void on_mutex_acquire(int kind, unsigned hint, unsigned how, uint64_t object,
			     const void *code)
{
	struct ompt_thread *state = state_of_thread(true);
	enum format_omp_type type = type_of_mutex(kind);

	(void)hint, (void)how, (void)code;
	/* A test does not wait, and nothing tells that it got nothing. */
	if (state && type != OMP_TYPES)
		request_lock(state, type, (const void *)object);
}

static void on_mutex_acquired(int kind, uint64_t object, const void *code)
{
	struct ompt_thread *state = state_of_thread(false);

	(void)code;
	if (!state)
		return;
	if (type_of_mutex(kind) != OMP_TYPES) {
		omp_lock_grant(&state->lock, __builtin_frame_address(0));
		state->lock.before.thread = NULL;
	} else if (kind == OMPT_TEST_LOCK || kind == OMPT_TEST_NEST_LOCK) {
		omp_lock_taken((const void *)object);
	}
}

static void on_mutex_released(int kind, uint64_t object, const void *code)
{
	(void)kind, (void)code;
	omp_lock_released((const void *)object);
}

/* A nested lock is taken once more, or let go of as often, by the thread that has it. */
static void on_nest_lock(int endpoint, uint64_t object, const void *code)
{
	struct ompt_thread *state = state_of_thread(false);

	(void)code;
	if (!state)
		return;
	if (endpoint == OMPT_END) {
		omp_lock_released((const void *)object);
		return;
	}
	omp_lock_taken((const void *)object);
	/* its request was one like others */
	omp_leave(&state->lock.before);
	state->lock.before.thread = NULL;
}

/* ---- explicit tasks ---- */

/* What a task has in its word: construct, region, and when it was created; 0: none of these. */
enum { NUMBER_BITS = 16, NUMBER_MASK = (1 << NUMBER_BITS) - 1, TICKS_SHIFT = 12 };

static void on_task_create(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *made,
			   int flags, int has_dependences, const void *code)
{
	struct thread *thread = omp_thread();
	uint32_t construct;

	(void)task, (void)frame, (void)has_dependences;
	made->value = 0;
	if (!thread || !(flags & OMPT_TASK_EXPLICIT))
		return;
	construct = omp_encounter_call(OMP_TASK, code, __builtin_frame_address(0));
	if (construct && construct <= NUMBER_MASK)
		made->value = construct |
			      (omp_field(thread, OMP_CONTEXT_REGION) & NUMBER_MASK) << NUMBER_BITS |
			      omp_ticks() >> TICKS_SHIFT << 2 * NUMBER_BITS;
}

/* When it was created, by what is left of the time. */
static uint64_t creation(uint64_t value)
{
	uint64_t now = omp_ticks() >> TICKS_SHIFT;
	uint32_t ago = (uint32_t)now - (uint32_t)(value >> 2 * NUMBER_BITS);

	return (now - ago) << TICKS_SHIFT;
}

static void begin_task(struct ompt_thread *state, uint64_t value)
{
	struct ompt_task *task = task_at(state, state->task_count++);

	if (!task)
		return;
	*task = (struct ompt_task){.construct = (uint32_t)value & NUMBER_MASK};
	if (!task->construct)
		return;
	task->created = creation(value);
	task->before =
		omp_task_begin(task->construct, (uint32_t)(value >> NUMBER_BITS) & NUMBER_MASK);
}

static void end_task(struct ompt_thread *state)
{
	struct ompt_task *task = state->task_count ? task_at(state, --state->task_count) : NULL;

	if (task && task->construct)
		omp_task_end(&task->before, task->construct, task->created);
}

/* A task that is put aside for another one goes on when that is done. */
static void on_task_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
	struct ompt_thread *state = state_of_thread(false);

	(void)prior;
	if (!state)
		return;
	if (status == OMPT_TASK_SWITCH || status == OMPT_TASK_YIELD)
		begin_task(state, next ? next->value : 0);
	else if (status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL ||
		 status == OMPT_TASK_DETACH)
		end_task(state);
}

/* ---- the tool ---- */

static int begin(ompt_function_lookup look_up, int device, ompt_data_t *data)
{
	static const struct {
		int which;
		ompt_callback callback;
	} callbacks[] = {
		{OMPT_PARALLEL_BEGIN, (ompt_callback)on_parallel_begin},
		{OMPT_PARALLEL_END, (ompt_callback)on_parallel_end},
		{OMPT_IMPLICIT_TASK, (ompt_callback)on_implicit_task},
		{OMPT_SYNC_REGION, (ompt_callback)on_sync_region},
		{OMPT_REDUCTION, (ompt_callback)on_sync_region},
		{OMPT_MUTEX_ACQUIRE, (ompt_callback)on_mutex_acquire},
		{OMPT_MUTEX_ACQUIRED, (ompt_callback)on_mutex_acquired},
		{OMPT_MUTEX_RELEASED, (ompt_callback)on_mutex_released},
		{OMPT_NEST_LOCK_AGAIN, (ompt_callback)on_nest_lock},
		{OMPT_TASK_CREATE, (ompt_callback)on_task_create},
		{OMPT_TASK_SCHEDULE, (ompt_callback)on_task_schedule},
	};
	ompt_set_callback set = (ompt_set_callback)look_up("ompt_set_callback");

	(void)device, (void)data;
	get_task_info = (ompt_get_task_info)look_up("ompt_get_task_info");
	if (!set)
		return 0;
	for (size_t i = 0; i < sizeof(callbacks) / sizeof(*callbacks); i++)
		set(callbacks[i].which, callbacks[i].callback);
	return 1;
}

static void end(ompt_data_t *data)
{
	(void)data;
}

ompt_start_tool_result_t *ompt_tool(void)
{
	static ompt_start_tool_result_t tool = {.initialize = begin, .finalize = end};

	return &tool;
}

void ompt_thread_end(struct thread *thread)
{
	struct ompt_thread *state = thread->omp.ompt;

	if (!state)
		return;
	free_rooms(&state->more_regions, DEEP, sizeof(*state->regions));
	free_rooms(&state->more_shares, DEEP, sizeof(*state->shares));
	free_rooms(&state->more_tasks, TASKS_DEEP, sizeof(*state->tasks));
	free_rooms(&state->more_waits, TASKS_DEEP, sizeof(*state->waits));
	sys_munmap(state, sizeof(*state));
	thread->omp.ompt = NULL;
}
