/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program and our signals.
 *
 * The signal of the engine in use belongs to us.  The program may still set an
 * action for it or block it: we remember what it set, show it when asked, and
 * forward foreign signals to it; in the kernel our handler stays and the signal
 * stays open.
 */
#include "collector/core/core.h"
#include "collector/core/sys.h"
#include "collector/wrap/next.h"

#include <string.h>

static int taken; /* the signal that is ours; 0: none */
static struct sigaction program_action;
static struct sigaction our_action;

bool signal_take(int signal, signal_handler *handler)
{
	our_action = (struct sigaction){.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	our_action.sa_sigaction = handler;
	/* No handler of the program may run on top of ours. */
	memset(&our_action.sa_mask, 0xff, sizeof(our_action.sa_mask));
	if (taken == signal)
		return true;
	if (NEXT(sigaction)(signal, &our_action, &program_action))
		return false;
	taken = signal;

	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, signal);
	NEXT(pthread_sigmask)(SIG_UNBLOCK, &ours, NULL);
	return true;
}

void signal_forward(int signal, siginfo_t *info, void *context)
{
	if (program_action.sa_flags & SA_SIGINFO) {
		program_action.sa_sigaction(signal, info, context);
	} else if (program_action.sa_handler == SIG_DFL) {
		/* As if we were not here: both signals kill by default. */
		struct sigaction by_default = {.sa_handler = SIG_DFL};

		NEXT(sigaction)(signal, &by_default, NULL);
		sys_call(SYS_tgkill, sys_getpid(), sys_gettid(), signal, 0);
	} else if (program_action.sa_handler != SIG_IGN) {
		program_action.sa_handler(signal);
	}
}

void signal_show_real(void)
{
	struct thread *thread = thread_current_if_known();
	bool blocked = thread && (taken == SIGTRAP ? thread->mask_trap : thread->mask_prof);
	sigset_t set;

	if (!taken)
		return;
	if (!(program_action.sa_flags & SA_SIGINFO) && program_action.sa_handler == SIG_IGN)
		NEXT(sigaction)(taken, &program_action, NULL);
	sigemptyset(&set);
	sigaddset(&set, taken);
	if (blocked)
		NEXT(pthread_sigmask)(SIG_BLOCK, &set, NULL);
}

void signal_hide_again(void)
{
	sigset_t set;

	if (!taken)
		return;
	sigemptyset(&set);
	sigaddset(&set, taken);
	NEXT(sigaction)(taken, &our_action, NULL);
	NEXT(pthread_sigmask)(SIG_UNBLOCK, &set, NULL);
}

COLLECTOR_EXPORT int sigaction(int signal, const struct sigaction *new_action,
			       struct sigaction *old)
{
	if (!taken || signal != taken || !collector_is_ours())
		return NEXT(sigaction)(signal, new_action, old);
	struct sigaction before = program_action;

	if (new_action)
		program_action = *new_action;
	if (old)
		*old = before;
	return 0;
}

static __sighandler_t set_handler(int signal, __sighandler_t handler, int flags,
				  __sighandler_t (*next)(int, __sighandler_t))
{
	if (!taken || signal != taken || !collector_is_ours())
		return next(signal, handler);
	__sighandler_t before = program_action.sa_handler;

	program_action = (struct sigaction){.sa_handler = handler, .sa_flags = flags};
	return before;
}

COLLECTOR_EXPORT __sighandler_t signal(int number, __sighandler_t handler)
{
	return set_handler(number, handler, SA_RESTART, NEXT(signal));
}

/* Old, and no longer in the headers. */
__sighandler_t bsd_signal(int number, __sighandler_t handler);

COLLECTOR_EXPORT __sighandler_t bsd_signal(int number, __sighandler_t handler)
{
	return set_handler(number, handler, SA_RESTART, NEXT(bsd_signal));
}

COLLECTOR_EXPORT __sighandler_t sysv_signal(int number, __sighandler_t handler)
{
	return set_handler(number, handler, (int)SA_RESETHAND, NEXT(sysv_signal));
}

COLLECTOR_EXPORT __sighandler_t sigset(int number, __sighandler_t handler)
{
	return set_handler(number, handler, 0, NEXT(sigset));
}

/* What the thread believes about our signal; NULL where nothing is to be hidden. */
static bool *belief(void)
{
	struct thread *thread = taken && collector_is_ours() ? thread_current() : NULL;

	return !thread ? NULL : taken == SIGTRAP ? &thread->mask_trap : &thread->mask_prof;
}

static int change_mask(int how, const sigset_t *set, sigset_t *old,
		       int (*next)(int, const sigset_t *, sigset_t *))
{
	bool *blocked = belief();
	bool before = blocked && *blocked;
	sigset_t real;

	if (set && blocked) {
		bool named = sigismember(set, taken) == 1;

		real = *set;
		sigdelset(&real, taken);
		if (how == SIG_SETMASK)
			*blocked = named;
		else if (named)
			*blocked = how == SIG_BLOCK;
		if (how != SIG_UNBLOCK)
			set = &real;
	}
	int result = next(how, set, old);
	if (result && blocked)
		*blocked = before;
	if (!result && old && before)
		sigaddset(old, taken);
	return result;
}

COLLECTOR_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return change_mask(how, set, old, NEXT(sigprocmask));
}

COLLECTOR_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return change_mask(how, set, old, NEXT(pthread_sigmask));
}
