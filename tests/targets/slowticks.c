/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into programs to measure: a machine whose timer events are slow. Each event of a perf
 * clock takes SLOWTICKS_US microseconds more of the thread's time. System calls are made directly:
 * the collector shows a program its own signals only.
 */
#include "collector/arch/sys.h"
#include "collector/sources/clock_signals.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { TRAP_PERF = 6, SIGINFO_PERF_DATA = 24 };

struct kernel_action {
	void (*handler)(int signal, siginfo_t *info, void *context);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

static struct kernel_action before;
static uint64_t tick_ns;

static uint64_t own_time_ns(void)
{
	struct timespec now;

	sys_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Not one for a switch. */
static bool is_tick(const siginfo_t *info)
{
	uint64_t data;

	memcpy(&data, (const char *)info + SIGINFO_PERF_DATA, sizeof(data));
	return info->si_code == TRAP_PERF && data == (PERF_COOKIE | PERF_EVENT_TICK);
}

static void slow_handler(int signal, siginfo_t *info, void *context)
{
	uint64_t end = own_time_ns() + tick_ns;

	while (is_tick(info) && own_time_ns() < end)
		;
	before.handler(signal, info, context); /* a jump: the handler sees the stack as it was */
}

/* The handler's flags and way back stay as they are. */
static void become_slow(void)
{
	const char *text = getenv("SLOWTICKS_US");

	tick_ns = text ? strtoull(text, NULL, 10) * 1000 : 0;
	if (!tick_ns || sys_call(SYS_rt_sigaction, SIGTRAP, 0, &before, sizeof(before.mask)) ||
	    !before.handler || !(before.flags & SA_SIGINFO))
		return;
	struct kernel_action action = before;

	action.handler = slow_handler;
	sys_call(SYS_rt_sigaction, SIGTRAP, &action, 0, sizeof(action.mask));
}

typedef int (*start_function)(int (*main)(int, char **, char **), int argc, char **argv,
			      void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
			      void *stack_end);

/* Called when all libraries are ready: what handles the events is in place. */
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
	start_function next = (start_function)dlsym(RTLD_NEXT, "__libc_start_main");

	become_slow();
	return next(main, argc, argv, init, fini, loader_fini, stack_end);
}
