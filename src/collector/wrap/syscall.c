/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall(3): what we must know of, by number.  Calls that have a wrapper and that meet
 * something of ours go its way.  Every other call goes on as it came, by a jump: what a child
 * of a raw clone finds on its stack is what it expects.
 */
#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/core/signals.h"
#include "collector/core/wrappers.h"
#include "collector/sources/io.h"
#include "collector/sources/sync.h"
#include "collector/storage/descriptor.h"
#include "collector/storage/recording.h"

#include <dirent.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <unistd.h>

/* Defined under the name of a variadic function, whose arguments are in the same places. */
COLLECTOR_EXPORT long wrapped_syscall(long number, long a, long b, long c, long d, long e,
				      long f) __asm__("syscall");

static bool has_wrapper(long number, long a, long b)
{
	switch (number) {
	case SYS_execve:
	case SYS_execveat:
	case SYS_unshare:
	case SYS_setns:
	case SYS_getdents64:
		return true;
	case SYS_ptrace:
		return a == PTRACE_TRACEME;
	case SYS_close:
		return descriptor_is_hidden((int)a);
#if defined(SYS_dup2)
	case SYS_dup2:
#endif
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
	case SYS_unshare:
		return unshare((int)a);
	case SYS_setns:
		return setns((int)a, (int)b);
	case SYS_getdents64:
		return getdents64((int)a, (void *)b, (size_t)c);
	case SYS_ptrace:
		return ptrace(PTRACE_TRACEME, b, c, d);
	case SYS_close:
		return close((int)a);
#if defined(SYS_dup2)
	case SYS_dup2:
		return dup2((int)a, (int)b);
#endif
	case SYS_dup3:
		return dup3((int)a, (int)b, (int)c);
	default:
		return close_range((unsigned)a, (unsigned)b, (int)c);
	}
}

/* What clone and clone3 by number make. */
struct child {
	bool any;
	bool goes_on; /* where the call stands, on a copy of the caller's stack */
	unsigned long flags;
};

static struct child child_of(long number, long a, long b)
{
	const struct clone_args *args = (const struct clone_args *)a;

	if (number == SYS_clone)
		return (struct child){.any = true, .flags = (unsigned long)a, .goes_on = !b};
	if (number == SYS_clone3 && args && (size_t)b >= CLONE_ARGS_SIZE_VER0)
		return (struct child){.any = true, .flags = args->flags, .goes_on = !args->stack};
	return (struct child){0};
}

static bool forks(long number, const struct child *child)
{
#if defined(SYS_fork)
	if (number == SYS_fork)
		return true;
#endif
	return (child->any && child->goes_on && fork_has_own_memory(child->flags));
}

long wrapped_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	seccomp_before_syscall(number, a, b, c);
	if (has_wrapper(number, a, b))
		return call_wrapper(number, a, b, c, d, e);
	if (signal_is_number(number))
		return signal_by_number(number, a, b, c, d);
	if (number == SYS_futex && sync_is_on() && sys_futex_waits(b))
		return sync_futex(a, b, c, d, e, f);
	if (io_is_number(number))
		return io_by_number(number, a, b, c, d, e, f);
	const struct child child = child_of(number, a, b);

	if (child.any)
		fork_before_clone(child.flags);
	if (forks(number, &child))
		return fork_by_number(number, a, b, c, d, e, f);
	if (number == SYS_exit_group)
		end_before();
	bool aside = (number == SYS_pivot_root || number == SYS_chroot) && namespace_before_move();
	long result = NEXT(syscall)(number, a, b, c, d, e, f);

	namespace_come_back(aside);
	return result;
}
