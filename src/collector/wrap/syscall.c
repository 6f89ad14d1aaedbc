/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall(3): what we must know of, by number.  Calls that have a wrapper and that meet
 * something of ours go its way.  Every other call goes on as it came, by a jump: what a child
 * of a raw clone finds on its stack is what it expects.
 */
#include "collector/core/core.h"
#include "collector/core/sys.h"
#include "collector/wrap/descriptor.h"
#include "collector/wrap/next.h"

#include <unistd.h>

/* Defined under the name of a variadic function, whose arguments are in the same places. */
COLLECTOR_EXPORT long wrapped_syscall(long number, long a, long b, long c, long d, long e,
				      long f) __asm__("syscall");

static bool has_wrapper(long number, long a, long b)
{
	switch (number) {
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

static long call_wrapper(long number, long a, long b, long c)
{
	switch (number) {
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

long wrapped_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	seccomp_before_syscall(number, a, b, c);
	if (has_wrapper(number, a, b))
		return call_wrapper(number, a, b, c);
	return NEXT(syscall)(number, a, b, c, d, e, f);
}
