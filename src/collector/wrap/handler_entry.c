/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrapper through which the program's signal handlers are entered: it looks at the
 * context first (wait.h), and then is gone, by a jump.  The kernel knows the
 * wrapper only, the program its handlers only.  A handler that is installed by a raw system call,
 * or by a child of vfork for itself, has none.
 *
 * What a handler computes has ticks although it blocks all signals: the kernel does not get to know
 * that it blocks the engines', where the program has no handler for them that could run meanwhile.
 */
#include "collector/wrap/handler_entry.h"

#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/core/signals.h"
#include "collector/runtimes/java.h"
#include "collector/storage/recording.h"
#include "collector/wrap/handler_room.h"
#include "collector/wrap/handler_wrapper.h"
#include "collector/wrap/signal_stack.h"
#include "collector/wrap/wait.h"
#include "format/attach.h"

#include <ucontext.h>

enum { LAST_SIGNAL = 64 };

static _Atomic(signal_handler *) handlers[LAST_SIGNAL + 1];
/* Signals that the handler blocks, and the kernel has not been told of: masks as the kernel's. */
static _Atomic uint64_t left_open[LAST_SIGNAL + 1];

/*
 * A signal of ours needs room for its frame and our handler.  Where the program's handler runs on
 * an alternate stack that has not so much, ours wait until it returns: the kernel goes back
 * to the mask of before.
 */
static void keep_room(const ucontext_t *context)
{
	uint64_t ours = FORMAT_ENGINE_SIGNALS;

	if (atomic_load_explicit(&collector.recording, memory_order_relaxed) &&
	    !handler_has_room(context))
		sys_call(SYS_rt_sigprocmask, SIG_BLOCK, &ours, 0, sizeof(ours));
}

/* Both kinds of handler find their arguments in the same registers. */
static void wrapper(int number, siginfo_t *info, void *context)
{
	if (number == SIGSEGV && info->si_code > 0 && java_take_fault(context))
		return;
	keep_room(context);
	wait_meets_handler(number, context);
	atomic_load_explicit(&handlers[number], memory_order_acquire)(number, info, context);
}

const struct handler_wrapper handler_wrapper = {.enter = wrapper};

static bool needs_wrapper(int number, const struct sigaction *action)
{
	return action && number > 0 && number <= LAST_SIGNAL && action->sa_handler != SIG_DFL &&
	       action->sa_handler != SIG_IGN && action->sa_handler != SIG_ERR &&
	       action->sa_handler != SIG_HOLD && action->sa_sigaction != wrapper &&
	       collector_is_ours();
}

/* An alternate stack may have no room for ours, and keep_room comes after the first instructions.
 */
static bool may_be_open(const struct sigaction *action)
{
	return !(action->sa_flags & SA_ONSTACK);
}

/* The kernel's part of a set. */
static uint64_t *word_of(sigset_t *set)
{
	return (uint64_t *)(void *)set;
}

int handler_entry_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	signal_handler *before = NULL;
	struct sigaction real;
	bool wrapped = needs_wrapper(number, action);
	uint64_t open_before = 0, open = 0;

	if (number > 0 && number <= LAST_SIGNAL) {
		before = atomic_load(&handlers[number]);
		open_before = atomic_load(&left_open[number]);
	}
	if (wrapped) {
		real = *action;
		real.sa_sigaction = wrapper;
		open = may_be_open(&real) ? *word_of(&real.sa_mask) & signal_numbers_unhandled()
					  : 0;
		*word_of(&real.sa_mask) &= ~open;
		atomic_store(&left_open[number], open);
		atomic_store_explicit(&handlers[number], action->sa_sigaction,
				      memory_order_release);
	}
	int result = NEXT(sigaction)(number, wrapped ? &real : action, old);

	if (result && wrapped) {
		atomic_store(&handlers[number], before);
		atomic_store(&left_open[number], open_before);
	}
	if (!result)
		signal_stack_note(number, action);
	if (!result && old && old->sa_sigaction == wrapper) {
		old->sa_sigaction = before;
		*word_of(&old->sa_mask) |= open_before;
	}
	return result;
}

void handler_entry_follow(int ours, bool open)
{
	uint64_t bit = FORMAT_SIGNAL_BIT(ours);

	for (int number = 1; number <= LAST_SIGNAL; number++) {
		struct sigaction action;
		uint64_t left = atomic_load(&left_open[number]);

		if (!atomic_load(&handlers[number]) || (!open && !(left & bit)) ||
		    NEXT(sigaction)(number, NULL, &action) || action.sa_sigaction != wrapper ||
		    (open && (!may_be_open(&action) || !(*word_of(&action.sa_mask) & bit))))
			continue;
		*word_of(&action.sa_mask) ^= bit;
		atomic_store(&left_open[number], left ^ bit);
		NEXT(sigaction)(number, &action, NULL);
	}
}

__sighandler_t handler_entry_signal(int number, __sighandler_t handler,
				    __sighandler_t (*next)(int, __sighandler_t))
{
	struct sigaction action = {.sa_handler = handler}, wrapped = {.sa_sigaction = wrapper};
	bool changes = needs_wrapper(number, &action);
	signal_handler *before = NULL;

	if (number > 0 && number <= LAST_SIGNAL)
		before = atomic_load(&handlers[number]);
	if (changes) {
		atomic_store_explicit(&handlers[number], action.sa_sigaction, memory_order_release);
		atomic_store(&left_open[number], 0); /* it blocks none but its own */
	}
	__sighandler_t old = next(number, changes ? wrapped.sa_handler : handler);

	if (old != SIG_ERR)
		signal_stack_note(number, &action);
	if (old == SIG_ERR && changes)
		atomic_store(&handlers[number], before);
	if (old != wrapped.sa_handler)
		return old;
	action.sa_sigaction = before;
	return action.sa_handler;
}

const void *handler_entry_handler(int number)
{
	signal_handler *handler =
		number > 0 && number <= LAST_SIGNAL ? atomic_load(&handlers[number]) : NULL;

	return (const void *)handler;
}

void handler_entry_all(uint64_t handled)
{
	struct sigaction action;

	for (int number = 1; number <= LAST_SIGNAL; number++)
		if (handled & FORMAT_SIGNAL_BIT(number) &&
		    !NEXT(sigaction)(number, NULL, &action) && needs_wrapper(number, &action))
			handler_entry_sigaction(number, &action, NULL);
}
