/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall(3): what we must know of, by number.  Calls that have a wrapper and that meet
 * something of ours go its way.  Every other call goes on as it came, by a jump: what a child
 * of a raw clone finds on its stack is what it expects.
 */
#include "collector/core/core.h"
#include "collector/core/sys.h"
#include "collector/sources/io.h"
#include "collector/sources/sync.h"
#include "collector/wrap/descriptor.h"
#include "collector/wrap/next.h"

#include <unistd.h>

/* Defined under the name of a variadic function, whose arguments are in the same places. */
COLLECTOR_EXPORT long wrapped_syscall(long number, long a, long b, long c, long d, long e,
				      long f) __asm__("syscall");

static bool has_wrapper(long number, long a, long b)
{
	switch (number) {
	case SYS_execve:
	case SYS_execveat:
		return true;
	case SYS_close:
		return descriptor_is_hidden((int)a);
	case SYS_dup2:
	case SYS_dup3:
		return descriptor_is_hidden((int)a) || descriptor_is_hidden((int)b);
	case SYS_close_range:
		return true;
	default:
		return false;
	}
}

static long call_wrapper(long number, long a, long b, long c, long d, long e)
{
	switch (number) {
	case SYS_execve:
		return execve((const char *)a, (char *const *)b, (char *const *)c);
	case SYS_execveat:
		return execveat((int)a, (const char *)b, (char *const *)c, (char *const *)d,
				(int)e);
	case SYS_close:
		return close((int)a);
	case SYS_dup2:
		return dup2((int)a, (int)b);
	case SYS_dup3:
		return dup3((int)a, (int)b, (int)c);
	default:
		return close_range((unsigned)a, (unsigned)b, (int)c);
	}
}

/* A child that goes on where the call stands, with memory of its own. */
static bool forks(long number, long flags, long stack)
{
	return number == SYS_fork ||
	       (number == SYS_clone && !stack && fork_has_own_memory((unsigned long)flags));
}

long wrapped_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	seccomp_before_syscall(number, a, b, c);
	if (has_wrapper(number, a, b))
		return call_wrapper(number, a, b, c, d, e);
	if (number == SYS_futex && sync_is_on() && sync_futex_waits(b))
		return sync_futex(a, b, c, d, e, f);
	if (io_is_number(number))
		return io_by_number(number, a, b, c, d, e, f);
	if (forks(number, a, b))
		return fork_by_number(number, a, b, c, d, e, f);
	if (number == SYS_exit_group)
		end_before();
	else if (number == SYS_pivot_root || number == SYS_chroot)
		namespace_keep_place();
	return NEXT(syscall)(number, a, b, c, d, e, f);
}
