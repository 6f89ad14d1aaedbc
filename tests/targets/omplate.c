/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omplate: a runtime of OpenMP, as a tool sees it, that tells of a lock's release only when the
 * next thread has the lock already, as libomp does now and then.  Three threads take it one after
 * the other; prints "SECONDS WAITS": what the second and the third waited for it by their own
 * clocks.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PARALLEL_BEGIN = 3, RELEASED = 17, ACQUIRE = 26, ACQUIRED = 27, CALLBACKS = 40, LOCK = 1 };
enum { STEP_US = 50000 };

typedef void callback(void);
typedef callback *look_up(const char *name);

struct tool {
	int (*begin)(look_up *look_up, int device, void *data);
};

static callback *callbacks[CALLBACKS];
static uint64_t the_lock, parallel, task;
static pthread_barrier_t step;
static double waited;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int set_callback(int which, callback *function)
{
	if (which < CALLBACKS)
		callbacks[which] = function;
	return 5;
}

static callback *find(const char *name)
{
	return strcmp(name, "ompt_set_callback") ? NULL : (callback *)set_callback;
}

static void acquire(void)
{
	((void (*)(int, unsigned, unsigned, uint64_t, const void *))callbacks[ACQUIRE])(
		LOCK, 0, 0, (uint64_t)&the_lock, (void *)acquire);
}

static void acquired(void)
{
	((void (*)(int, uint64_t, const void *))callbacks[ACQUIRED])(LOCK, (uint64_t)&the_lock,
								     (void *)acquired);
}

static void released(void)
{
	((void (*)(int, uint64_t, const void *))callbacks[RELEASED])(LOCK, (uint64_t)&the_lock,
								     (void *)released);
}

static void wait_for_lock(void)
{
	double begin = now();

	acquire();
	usleep(STEP_US);
	waited += now() - begin;
	acquired();
}

/* The first has it, and tells of its end when the second has it already; then the third waits. */
static void *run(void *number)
{
	long me = (long)number;

	if (me == 0) {
		acquire();
		acquired();
	}
	pthread_barrier_wait(&step);
	if (me == 1)
		wait_for_lock();
	pthread_barrier_wait(&step);
	if (me == 0)
		released();
	pthread_barrier_wait(&step);
	if (me == 2)
		wait_for_lock();
	if (me == 1) {
		usleep(STEP_US / 2);
		released();
	}
	pthread_barrier_wait(&step);
	return NULL;
}

int main(void)
{
	struct tool *(*start)(unsigned, const char *) =
		(struct tool * (*)(unsigned, const char *)) dlsym(RTLD_DEFAULT, "ompt_start_tool");
	struct tool *tool = start ? start(201811, "late") : NULL;
	pthread_t threads[3];

	if (!tool || !tool->begin(find, 0, NULL))
		return 1;
	((void (*)(void *, void *, void *, unsigned, int, const void *))callbacks[PARALLEL_BEGIN])(
		&task, NULL, &parallel, 3, 0, (void *)main);
	pthread_barrier_init(&step, NULL, 3);
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%.6f 2\n", waited);
	return 0;
}
