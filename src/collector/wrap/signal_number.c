/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's signals by number, through syscall(3).  Sandboxes set all actions of a new
 * process back so (Chromium), and without us in between an event would then find no handler of
 * ours, and end the program.
 */
#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/core/signals.h"
#include "collector/wrap/handler_entry.h"
#include "collector/wrap/handler_wrapper.h"
#include "collector/wrap/signal_fd.h"

#include <string.h>
#include <unistd.h>

/* The kernel's own struct sigaction and sigset_t, on all machines with SA_RESTORER. */
typedef uint64_t kernel_set;

struct kernel_action {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	kernel_set mask;
};

static void set_from_kernel(sigset_t *to, kernel_set from)
{
	sigemptyset(to);
	memcpy(to, &from, sizeof(from));
}

static kernel_set set_to_kernel(const sigset_t *from)
{
	kernel_set to;

	memcpy(&to, from, sizeof(to));
	return to;
}

static long result_of(long result)
{
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

/* One of ours: the program's action is only remembered. */
static long taken_action(int number, const struct kernel_action *action, struct kernel_action *old)
{
	struct sigaction new_action, before;

	if (action) {
		new_action = (struct sigaction){.sa_flags = (int)action->flags};
		memcpy(&new_action.sa_handler, &action->handler, sizeof(action->handler));
		memcpy(&new_action.sa_restorer, &action->restorer, sizeof(action->restorer));
		set_from_kernel(&new_action.sa_mask, action->mask);
	}
	sigaction(number, action ? &new_action : NULL, &before);
	if (!old)
		return 0;
	*old = (struct kernel_action){.flags = (uint32_t)before.sa_flags};
	memcpy(&old->handler, &before.sa_handler, sizeof(old->handler));
	memcpy(&old->restorer, &before.sa_restorer, sizeof(old->restorer));
	old->mask = set_to_kernel(&before.sa_mask);
	return 0;
}

/* What the program installs so has no wrapper, but it must not see one either. */
static long action_by_number(int number, const struct kernel_action *action,
			     struct kernel_action *old, size_t size)
{
	if (size == sizeof(kernel_set) && signal_is_taken(number))
		return taken_action(number, action, old);
	const void *before = handler_entry_handler(number);
	long result = sys_call(SYS_rt_sigaction, number, action, old, size);

	if (!result && old && before && old->handler == (uint64_t)(uintptr_t)handler_wrapper.enter)
		old->handler = (uint64_t)(uintptr_t)before;
	return result_of(result);
}

static int raw_mask(int how, const sigset_t *set, sigset_t *old)
{
	return (int)result_of(sys_call(SYS_rt_sigprocmask, how, set, old, sizeof(kernel_set)));
}

static long mask_by_number(int how, const kernel_set *set, kernel_set *old, size_t size)
{
	sigset_t theirs, before;

	if (size != sizeof(kernel_set))
		return result_of(sys_call(SYS_rt_sigprocmask, how, set, old, size));
	if (set)
		set_from_kernel(&theirs, *set);
	sigemptyset(&before);
	int result = signal_change_mask(how, set ? &theirs : NULL, &before, raw_mask);

	if (!result && old)
		*old = set_to_kernel(&before);
	return result;
}

static int raw_signalfd(int fd, const sigset_t *set, int flags)
{
	return (int)result_of(sys_call(SYS_signalfd4, fd, set, sizeof(kernel_set), flags));
}

static long signalfd_by_number(int fd, const kernel_set *set, size_t size, int flags)
{
	sigset_t theirs;

	if (size != sizeof(kernel_set))
		return result_of(sys_call(SYS_signalfd4, fd, set, size, flags));
	set_from_kernel(&theirs, *set);
	return signal_fd_make(fd, &theirs, flags, raw_signalfd);
}

static int raw_wait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	return (int)NEXT(syscall)(SYS_rt_sigtimedwait, (long)set, (long)info, (long)timeout,
				  sizeof(kernel_set), 0, 0);
}

/* Apart from sigtimedwait, which calls some senders by another name. */
static long wait_by_number(const kernel_set *set, siginfo_t *info, const struct timespec *timeout,
			   size_t size)
{
	sigset_t theirs;

	if (size != sizeof(kernel_set) || !set)
		return NEXT(syscall)(SYS_rt_sigtimedwait, (long)set, (long)info, (long)timeout,
				     (long)size, 0, 0);
	set_from_kernel(&theirs, *set);
	return signal_wait_by(&theirs, info, timeout, raw_wait);
}

static long pending_by_number(kernel_set *set, size_t size)
{
	signal_open_again();
	return result_of(sys_call(SYS_rt_sigpending, set, size, 0, 0));
}

bool signal_is_number(long number)
{
	return number == SYS_rt_sigaction || number == SYS_rt_sigprocmask ||
	       number == SYS_signalfd4 || number == SYS_rt_sigtimedwait ||
	       number == SYS_rt_sigpending;
}

long signal_by_number(long number, long a, long b, long c, long d)
{
	switch (number) {
	case SYS_rt_sigaction:
		return action_by_number((int)a, (const struct kernel_action *)b,
					(struct kernel_action *)c, (size_t)d);
	case SYS_rt_sigprocmask:
		return mask_by_number((int)a, (const kernel_set *)b, (kernel_set *)c, (size_t)d);
	case SYS_rt_sigtimedwait:
		return wait_by_number((const kernel_set *)a, (siginfo_t *)b,
				      (const struct timespec *)c, (size_t)d);
	case SYS_rt_sigpending:
		return pending_by_number((kernel_set *)a, (size_t)b);
	default:
		return signalfd_by_number((int)a, (const kernel_set *)b, (size_t)c, (int)d);
	}
}
