/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into the tools: a machine where each perf event takes 50 ms of CPU time to open, as the
 * first one does where the kernel is slow to change its own code.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>

enum { SLOW_MS = 50 };

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

long syscall(long number, ...)
{
	typedef long (*call)(long, ...);
	call next = (call)dlsym(RTLD_NEXT, "syscall");
	long words[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(list, long);
	va_end(list);
	for (double end = cpu_ms() + SLOW_MS; number == SYS_perf_event_open && cpu_ms() < end;)
		;
	return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
