/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of OMPT is used here: the interface by which an OpenMP runtime tells a tool what it does.
 * Written from the specification (OpenMP 5.0, chapter 4); its names and numbers are the
 * specification's.
 */
#ifndef HELIO_COLLECTOR_OMPT_H
#define HELIO_COLLECTOR_OMPT_H

#include <stdint.h>

typedef union ompt_data {
	uint64_t value;
	void *ptr;
} ompt_data_t;

typedef struct ompt_frame {
	ompt_data_t exit_frame, enter_frame;
	int exit_frame_flags, enter_frame_flags;
} ompt_frame_t;

typedef void (*ompt_interface_fn)(void);
typedef ompt_interface_fn (*ompt_function_lookup)(const char *name);
typedef void (*ompt_callback)(void);

typedef int (*ompt_initialize)(ompt_function_lookup look_up, int device, ompt_data_t *tool_data);
typedef void (*ompt_finalize)(ompt_data_t *tool_data);

typedef struct ompt_start_tool_result {
	ompt_initialize initialize;
	ompt_finalize finalize;
	ompt_data_t tool_data;
} ompt_start_tool_result_t;

typedef int (*ompt_set_callback)(int which, ompt_callback callback);

typedef int (*ompt_get_task_info)(int ancestor, int *flags, ompt_data_t **task,
				  ompt_frame_t **frame, ompt_data_t **parallel, int *number);

/* What that returns where all of it is known. */
enum { OMPT_AVAILABLE = 2 };

/* ompt_callbacks_t */
enum {
	OMPT_PARALLEL_BEGIN = 3,
	OMPT_PARALLEL_END = 4,
	OMPT_TASK_CREATE = 5,
	OMPT_TASK_SCHEDULE = 6,
	OMPT_IMPLICIT_TASK = 7,
	OMPT_MUTEX_RELEASED = 17,
	OMPT_SYNC_REGION = 23,
	OMPT_MUTEX_ACQUIRE = 26,
	OMPT_MUTEX_ACQUIRED = 27,
	OMPT_NEST_LOCK_AGAIN = 28,
	OMPT_REDUCTION = 31,
};

/* ompt_scope_endpoint_t */
enum { OMPT_BEGIN = 1, OMPT_END = 2, OMPT_BEGIN_END = 3 };

/* ompt_sync_region_t */
enum {
	OMPT_BARRIER = 1,
	OMPT_BARRIER_IMPLICIT = 2,
	OMPT_BARRIER_EXPLICIT = 3,
	OMPT_BARRIER_IMPLEMENTATION = 4,
	OMPT_TASKWAIT = 5,
	OMPT_TASKGROUP = 6,
	OMPT_SYNC_REDUCTION = 7,
	OMPT_BARRIER_IMPLICIT_WORKSHARE = 8,
	OMPT_BARRIER_IMPLICIT_PARALLEL = 9,
	OMPT_BARRIER_TEAMS = 10,
};

/* ompt_mutex_t */
enum {
	OMPT_LOCK = 1,
	OMPT_TEST_LOCK = 2,
	OMPT_NEST_LOCK = 3,
	OMPT_TEST_NEST_LOCK = 4,
	OMPT_CRITICAL = 5,
	OMPT_ATOMIC = 6,
	OMPT_ORDERED = 7,
};

/* ompt_task_flag_t */
enum { OMPT_TASK_INITIAL = 1, OMPT_TASK_IMPLICIT = 2, OMPT_TASK_EXPLICIT = 4 };

/* ompt_task_status_t */
enum {
	OMPT_TASK_COMPLETE = 1,
	OMPT_TASK_YIELD = 2,
	OMPT_TASK_CANCEL = 3,
	OMPT_TASK_DETACH = 4,
	OMPT_TASK_EARLY_FULFILL = 5,
	OMPT_TASK_LATE_FULFILL = 6,
	OMPT_TASK_SWITCH = 7,
};

/* ---- ours ---- */

struct thread;

/* What is to be told to a runtime that asks for a tool. */
ompt_start_tool_result_t *ompt_tool(void);
/* A thread ends. */
void ompt_thread_end(struct thread *thread);

#endif
