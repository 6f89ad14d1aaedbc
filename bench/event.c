/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector adds to a clock event: everything between the kernel's
 * signal and our return, called in a loop from a handler at a known depth.
 *
 * Rows: the event with the stack of the time before (the usual case), with the leaf moved, and
 * with nothing remembered; beside them the two system calls that every event
 * makes, and glibc's backtrace() of the same stack.
 */
#include "collector/core/modules.h"
#include "collector/core/thread.h"
#include "collector/core/time.h"
#include "collector/core/writer.h"
#include "collector/sources/clock.h"
#include "collector/sources/clock_reading.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"

#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20000 };

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static struct thread *thread;
static volatile int depth_now; /* raise() is declared not to call back into this file */

static double time_events(const struct unwind_regs *regs, bool forget)
{
	double start = now_ns();

	for (int i = 0; i < ROUNDS; i++) {
		if (forget)
			unwind_memory_reset(thread->unwind);
		clock_tick(thread, regs);
	}
	return (now_ns() - start) / ROUNDS;
}

static double time_readings(void)
{
	struct clock_reading reading;
	double start = now_ns();

	for (int i = 0; i < ROUNDS; i++)
		clock_read(&reading);
	return (now_ns() - start) / ROUNDS;
}

static double time_backtrace(void)
{
	static void *frames[1024];
	double start = now_ns();

	for (int i = 0; i < ROUNDS / 10; i++)
		backtrace(frames, 1024);
	return (now_ns() - start) / (ROUNDS / 10);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	struct unwind_regs regs;

	unwind_regs_from_context(&regs, context);
	double same = time_events(&regs, false), fresh = time_events(&regs, true);
	double readings = time_readings(), others = time_backtrace();

	printf("%-10d %9.0f %9.0f %9.0f %12.0f %10.2f\n", depth_now, same, fresh, readings, others,
	       same / others);
}

static volatile int sink;

static __attribute__((noinline)) int descend(int depth)
{
	if (depth <= 0)
		raise(SIGUSR1);
	else
		sink += descend(depth - 1);
	return sink + depth;
}

static void begin(char *directory)
{
	snprintf(collector.directory, sizeof(collector.directory), "%s", directory);
	collector.depth = UNWIND_DEPTH_DEFAULT;
	collector.engine = ENGINE_PERF;
	collector.start_ns = clock_now_ns();
	stacktable_open();
	if (modules_open() || writer_open() || !(thread = thread_new()))
		exit(1);
	modules_update();
	clock_begin(thread);
	thread_adopt(thread, thread->clock.last.now_ns);
	thread->stack_high = (uint64_t)__builtin_frame_address(0) + 4096;
	thread->stack_low = thread->stack_high - (4 << 20);
}

int main(void)
{
	static const int depths[] = {20, 200};
	char directory[] = "/tmp/helio-event-XXXXXX", command[64];
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	if (!mkdtemp(directory))
		return 1;
	begin(directory);
	sigaction(SIGUSR1, &action, NULL);
	printf("ns per event\n%-10s %9s %9s %9s %12s %10s\n", "depth", "reused", "anew",
	       "of it: clocks", "backtrace()", "ratio");
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		depth_now = depths[i];
		descend(depths[i]);
	}
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}
