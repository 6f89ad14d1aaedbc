/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stack our handlers run on: the thread's own, or its alternate one.
 *
 * The kernel writes on the alternate stack before we run, so it must be free for us.  That is what
 * a program with a handler there (SA_ONSTACK) keeps it for; and one whose stack has overflowed, or
 * is a coroutine's, has room nowhere else.  Not so where
 *
 * - no handler runs there: the memory may long be something else;
 * - two threads have the same one (varnishd), for a handler that ends the process.
 *
 * Code of some runtimes runs on stacks that have no room for a signal: Go with cgo, OCaml 5, and
 * Erlang.  They have all of their handlers on the alternate stack, not those of faults only.
 */
#include "collector/wrap/signal_stack.h"

#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/core/signals.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/storage/recording.h"
#include "format/attach.h"

#include <errno.h>

enum { LAST_SIGNAL = 64 };

static const uint64_t faults = FORMAT_SIGNAL_BIT(SIGSEGV) | FORMAT_SIGNAL_BIT(SIGBUS) |
			       FORMAT_SIGNAL_BIT(SIGILL) | FORMAT_SIGNAL_BIT(SIGFPE) |
			       FORMAT_SIGNAL_BIT(SIGABRT) | FORMAT_SIGNAL_BIT(SIGTRAP) |
			       FORMAT_SIGNAL_BIT(SIGSYS);

static _Atomic uint64_t there; /* the signals that the program handles on an alternate stack */
static _Atomic bool shared;    /* two threads have, or had, the same one */
static bool small;	       /* code that runs on stacks without room */

bool signal_stack_is_alternate(void)
{
	uint64_t handled = atomic_load(&there);

	if (small)
		return true;
	if (atomic_load(&shared))
		return false;
	/* Where it ran already we don't know whose the stacks are. */
	return collector.late ? handled & ~faults : handled;
}

static bool has_small_stacks(void)
{
	return next_program_exports("crosscall2") || next_program_exports("caml_alloc_main_stack");
}

uint64_t signal_stack_look(void)
{
	struct sigaction action;
	uint64_t found = 0, handled = 0;
	int error = errno; /* after attach the program's, and libc refuses its own signals */

	for (int number = 1; number <= LAST_SIGNAL; number++) {
		if (NEXT(sigaction)(number, NULL, &action) || action.sa_handler == SIG_DFL ||
		    action.sa_handler == SIG_IGN)
			continue;
		handled |= FORMAT_SIGNAL_BIT(number);
		if (action.sa_flags & SA_ONSTACK && !signal_is_taken(number))
			found |= FORMAT_SIGNAL_BIT(number);
	}
	errno = error;
	atomic_store(&there, found);
	small = has_small_stacks();
	return handled;
}

void signal_stack_note(int number, const struct sigaction *action)
{
	uint64_t bit;

	if (!action || number < 1 || number > LAST_SIGNAL || !collector_is_ours())
		return;
	bit = FORMAT_SIGNAL_BIT(number);
	if (action->sa_flags & SA_ONSTACK && action->sa_handler != SIG_DFL &&
	    action->sa_handler != SIG_IGN)
		atomic_fetch_or(&there, bit);
	else
		atomic_fetch_and(&there, ~bit);
	signal_follow_stacks();
}

struct range {
	const struct thread *owner;
	uint64_t low, high;
};

static void compare(struct thread *thread, void *argument)
{
	const struct range *range = argument;

	if (thread != range->owner && thread->alternate_low < range->high &&
	    range->low < thread->alternate_high)
		atomic_store(&shared, true);
}

/*
 * What the thread has now: a call may fail after it has set a stack (EFAULT for `old`), and may
 * write over what it was given.
 */
static void note(struct thread *thread)
{
	struct range range = {thread, 0, 0};
	stack_t now;

	if (sys_call(SYS_sigaltstack, 0, &now, 0, 0))
		return;
	if (!(now.ss_flags & SS_DISABLE)) {
		range.low = (uint64_t)now.ss_sp;
		range.high = range.low + now.ss_size;
	}
	if (thread->alternate_low == range.low && thread->alternate_high == range.high)
		return;
	thread->alternate_low = range.low;
	thread->alternate_high = range.high;
	thread_for_each(compare, &range);
	signal_follow_stacks();
}

COLLECTOR_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	bool ours = stack && atomic_load(&collector.recording) && collector_is_ours();
	struct thread *thread = ours ? thread_current() : NULL;

	if (!thread)
		return NEXT(sigaltstack)(stack, old);
	/* None may be written there before it is known whose the stack is. */
	uint64_t mask = sys_block_signals();
	int result = NEXT(sigaltstack)(stack, old), error = errno;

	note(thread);
	sys_restore_signals(mask);
	errno = error;
	return result;
}
