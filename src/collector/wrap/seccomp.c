/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp: from the moment that the program restricts itself, a system call of
 * ours could be its death.  So the recording ends just before, with a word in the
 * log, and whatever is left of us makes no system call any more.  The same before what makes
 * a signal of each system call (as Wine does), or of each look at the processor's clock.
 */
#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/core/start.h"
#include "collector/core/wrappers.h"
#include "collector/sources/clock_monitor.h"
#include "collector/storage/recording.h"
#include "collector/storage/stacktable.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

/* Defined under the name of a variadic function, whose arguments are in the same places. */
COLLECTOR_EXPORT int wrapped_prctl(int option, long a, long b, long c, long d) __asm__("prctl");

/* A filter at NULL is none: programs ask what the kernel knows by trying to set it. */
static void before_restriction(bool strict, bool filter, long program)
{
	if (strict || (filter && program))
		collector_disable("the program restricts its system calls (seccomp): nothing "
				  "is recorded from here on");
}

static void before_prctl(long option, long mode, long program)
{
	/* Comes before the rules of landlock. */
	if (option == PR_SET_NO_NEW_PRIVS && atomic_load(&collector.recording) &&
	    collector_is_ours())
		stacktable_make_file();
	/* Files of its threads are root's from then on. */
	if (option == PR_SET_DUMPABLE && !mode && atomic_load(&collector.recording) &&
	    collector_is_ours())
		monitor_engine_open_files();
	if (option == PR_SET_SYSCALL_USER_DISPATCH && mode != PR_SYS_DISPATCH_OFF)
		collector_disable("the program has system calls raise signals "
				  "(PR_SET_SYSCALL_USER_DISPATCH): nothing is recorded from "
				  "here on");
	if (option == PR_SET_TSC && mode == PR_TSC_SIGSEGV)
		collector_disable("the program may not read the processor's clock "
				  "(PR_SET_TSC): nothing is recorded from here on");
	if (option == PR_SET_SECCOMP)
		before_restriction(mode == SECCOMP_MODE_STRICT, mode == SECCOMP_MODE_FILTER,
				   program);
}

static void before_seccomp(long operation, long program)
{
	before_restriction(operation == SECCOMP_SET_MODE_STRICT,
			   operation == SECCOMP_SET_MODE_FILTER, program);
}

int wrapped_prctl(int option, long a, long b, long c, long d)
{
	before_prctl(option, a, b);
	return NEXT(prctl)(option, a, b, c, d);
}

void seccomp_before_syscall(long number, long a, long b, long c)
{
	if (number == SYS_seccomp)
		before_seccomp(a, c);
	else if (number == SYS_prctl)
		before_prctl(a, b, c);
}
