/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts that many threads use at once, under ThreadSanitizer: the stack table, the list of
 * load objects, and the writer with its block file.  A race ends the program with a report;
 * beside that, what was written must be there afterwards.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/core/modules.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/core/time.h"
#include "collector/core/writer.h"
#include "collector/storage/descriptor.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"
#include "collector/unwind/modules.h"

enum { THREADS = 4, STACKS = 40000, DISTINCT = 3000, EVENTS = 30000, LOADS = 150 };

struct collector collector;

/* What the parts want of those that are not under test. */
uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int descriptor_number(_Atomic int *owner)
{
	return *owner;
}

bool descriptor_hold(int fd, _Atomic int *owner)
{
	*owner = fd;
	return true;
}

/* Who looks at snapshots: each has a state, and its lock meanwhile. */
static struct thread states[THREADS + 1];

void thread_for_each_state(void (*visit)(struct thread *thread, void *arg), void *arg)
{
	for (int i = 0; i <= THREADS; i++)
		visit(&states[i], arg);
}

struct thread *thread_state_at(uint32_t index)
{
	return &states[index];
}

static void lock(struct thread *thread)
{
	atomic_store(&thread->busy, LOCK_TAKEN);
}

static void unlock(struct thread *thread)
{
	atomic_store_explicit(&thread->busy, LOCK_FREE, memory_order_release);
}

static _Atomic int stop;

static void run(void *(*body)(void *), void *(*beside)(void *))
{
	pthread_t threads[THREADS], other;

	atomic_store(&stop, 0);
	if (beside)
		assert_int_equal(pthread_create(&other, NULL, beside, NULL), 0);
	for (long i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&stop, 1);
	if (beside)
		pthread_join(other, NULL);
}

/* ---- the stack table ---- */

/* Stack `number` is three frames deep; its root is shared by many. */
static uint32_t intern(uint64_t number)
{
	uint32_t root = stacktable_intern(0, 0x1000 + number % 7, NULL);
	uint32_t middle = stacktable_intern(root, 0x2000 + number % 97, NULL);

	return stacktable_intern(middle, 0x10000 + number, NULL);
}

static void *intern_many(void *thread)
{
	for (uint64_t i = 0; i < STACKS; i++)
		intern((i * 2654435761u + (uint64_t)thread) % DISTINCT);
	return NULL;
}

static void *turn_epochs(void *unused)
{
	const struct timespec nap = {.tv_nsec = 2000000};

	while (!atomic_load(&stop)) {
		stacktable_next_epoch();
		nanosleep(&nap, NULL);
	}
	return unused;
}

static void test_stacktable(void **state)
{
	(void)state;
	run(intern_many, turn_epochs);
	/* Nobody adds any more: the same stack has the same node, another one another. */
	for (uint64_t i = 0; i < DISTINCT; i++) {
		uint32_t node = intern(i);

		assert_true(node > 0);
		assert_int_equal(intern(i), node);
		assert_int_not_equal(intern((i + 1) % DISTINCT), node);
	}
}

/* ---- the writer ---- */

static struct thread *threads_of_lanes[THREADS];

static void *write_many(void *number)
{
	struct thread *thread = threads_of_lanes[(long)number];

	writer_thread_begin(thread, clock_now_ns());
	for (uint64_t i = 0; i < EVENTS; i++)
		writer_event(thread, clock_now_ns(), FORMAT_STATE_USER, i % 1000, (uint32_t)i % 50);
	writer_thread_end(thread, clock_now_ns());
	return NULL;
}

static void test_writer(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < THREADS; i++) {
		threads_of_lanes[i] = calloc(1, sizeof(struct thread));
		threads_of_lanes[i]->number = i + 1;
	}
	atomic_store(&collector.events, 0);
	run(write_many, NULL);
	assert_int_equal(atomic_load(&collector.events), THREADS * EVENTS);
	assert_int_equal(atomic_load(&collector.dropped), 0);
	for (uint32_t i = 0; i < THREADS; i++)
		free(threads_of_lanes[i]);
}

/* ---- load objects ---- */

/* As a handler does: looks at the snapshot, at the memory of a module, learns. */
static void *look_around(void *unused)
{
	const struct timespec nap = {.tv_nsec = 20000};
	uint64_t known = (uint64_t)&qsort;
	struct thread *thread = &states[THREADS];

	while (!atomic_load(&stop)) {
		lock(thread);

		const struct unwind_modules *modules = modules_get();
		const struct unwind_module *module = modules_find(modules, known);

		if (!module || known >= module->end)
			abort();
		if (modules_enter()) {
			if (*(const volatile uint8_t *)module->eh_frame_hdr != 1)
				abort();
			modules_leave();
		}
		modules_learn(known, false);
		unlock(thread);
		nanosleep(&nap, NULL);
	}
	return unused;
}

/* As dlclose's wrapper does. */
static void close_object(void *handle)
{
	modules_update();
	unwind_modules_hold();
	while (!unwind_modules_quiet())
		sched_yield();
	dlclose(handle);
	modules_update();
	unwind_modules_release();
}

static const char *plugin;

/* Each thread has a copy of the plugin, which is an object of its own. */
static void *load_and_unload(void *number)
{
	char file[PATH_MAX_HERE + 32], command[2 * PATH_MAX_HERE];
	struct thread *thread = &states[(long)number];

	snprintf(file, sizeof(file), "%s/%ld.so", collector.directory, (long)number);
	snprintf(command, sizeof(command), "cp '%s' '%s'", plugin, file);
	if (system(command))
		abort();
	for (int i = 0; i < LOADS; i++) {
		void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);

		if (!handle)
			abort();
		lock(thread);
		modules_learn((uint64_t)dlsym(handle, "plugin_run"), true);
		unlock(thread);
		close_object(handle);
	}
	return NULL;
}

static void test_modules(void **state)
{
	(void)state;
	modules_update();
	run(load_and_unload, look_around);
	assert_non_null(unwind_module_find((uint64_t)&qsort));
}

static int setup(void **state)
{
	for (uint32_t i = 0; i <= THREADS; i++)
		states[i].index = i;
	char directory[] = "/tmp/helio-races-XXXXXX";

	(void)state;
	if (!mkdtemp(directory))
		return 1;
	strcpy(collector.directory, directory);
	collector.start_ns = clock_now_ns();
	stacktable_open();
	return modules_open() || writer_open();
}

static int teardown(void **state)
{
	char command[PATH_MAX_HERE + 32];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", collector.directory);
	return system(command);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacktable),
		cmocka_unit_test(test_writer),
		cmocka_unit_test(test_modules),
	};

	plugin = argc > 1 ? argv[1] : "";
	return cmocka_run_group_tests(tests, setup, teardown);
}
