/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool of OMPT: counts what the runtime tells it, and writes that to the file OMPT_COUNTS when
 * the runtime ends.  A library, or (-DMAIN) a program that has the tool in itself.
 */
#include <omp-tools.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
	_Atomic long regions, shares, tasks, waits[8]; /* by ompt_mutex_t, of 20 ms or more */
	_Atomic long barrier_ns;		       /* explicit ones */
} counts;
static _Thread_local long requested_ns, arrived_ns;

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
			      unsigned threads, int flags, const void *code)
{
	(void)task, (void)frame, (void)parallel, (void)threads, (void)flags, (void)code;
	counts.regions++;
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
			     ompt_data_t *task, unsigned team, unsigned index, int flags)
{
	(void)parallel, (void)task, (void)team, (void)index;
	counts.shares += endpoint == ompt_scope_begin && !(flags & ompt_task_initial);
}

static void on_task_create(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *made,
			   int flags, int has_dependences, const void *code)
{
	(void)task, (void)frame, (void)made, (void)has_dependences, (void)code;
	counts.tasks += (flags & ompt_task_explicit) != 0;
}

static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
			   ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
	(void)parallel, (void)task, (void)code;
	if (kind != ompt_sync_region_barrier_explicit)
		return;
	if (endpoint == ompt_scope_begin)
		arrived_ns = now_ns();
	else
		counts.barrier_ns += now_ns() - arrived_ns;
}

static void on_mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned how, ompt_wait_id_t object,
			     const void *code)
{
	(void)kind, (void)hint, (void)how, (void)object, (void)code;
	requested_ns = now_ns();
}

static void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t object, const void *code)
{
	(void)object, (void)code;
	counts.waits[kind & 7] += now_ns() - requested_ns >= 20000000;
}

static int begin(ompt_function_lookup_t look_up, int device, ompt_data_t *data)
{
	ompt_set_callback_t set = (ompt_set_callback_t)look_up("ompt_set_callback");

	(void)device, (void)data;
	set(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
	set(ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task);
	set(ompt_callback_task_create, (ompt_callback_t)on_task_create);
	set(ompt_callback_sync_region, (ompt_callback_t)on_sync_region);
	set(ompt_callback_mutex_acquire, (ompt_callback_t)on_mutex_acquire);
	set(ompt_callback_mutex_acquired, (ompt_callback_t)on_mutex_acquired);
	return 1;
}

static void end(ompt_data_t *data)
{
	const char *name = getenv("OMPT_COUNTS");
	FILE *file = name ? fopen(name, "w") : NULL;

	(void)data;
	if (!file)
		return;
	fprintf(file, "regions %ld\nshares %ld\ntasks %ld\nlock %ld\ncritical %ld\natomic %ld\n",
		counts.regions, counts.shares, counts.tasks,
		counts.waits[ompt_mutex_lock] + counts.waits[ompt_mutex_nest_lock],
		counts.waits[ompt_mutex_critical], counts.waits[ompt_mutex_atomic]);
	fprintf(file, "ordered %ld\nbarrier_ns %ld\n", counts.waits[ompt_mutex_ordered],
		counts.barrier_ns);
	fclose(file);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
	static ompt_start_tool_result_t tool = {begin, end, {0}};

	(void)version, (void)runtime;
	return &tool;
}

#ifdef MAIN
int main(void)
{
	int threads = 0;

	for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(2) reduction(+ : threads)
		threads++;
	}
	return threads != 10;
}
#endif
