/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate through which the program's signal handlers are entered: it looks at the
 * context first (wait.h), and then is gone, by a jump.  The kernel knows the
 * gate only, the program its handlers only.  A handler that is installed by a raw system call, or
 * by a child of vfork for itself, has none.
 */
#include "collector/wrap/gate.h"

#include "collector/core/core.h"
#include "collector/core/sys.h"
#include "collector/wrap/next.h"
#include "collector/wrap/signal_stack.h"
#include "collector/wrap/wait.h"
#include "format/attach.h"

#include <sys/auxv.h>
#include <ucontext.h>

enum { LAST_SIGNAL = 64 };

static _Atomic(signal_handler *) handlers[LAST_SIGNAL + 1];

bool gate_has_room(const ucontext_t *context)
{
	enum { OURS = 12 * 1024, FRAME_LEAST = 2 * 1024 };
	static _Atomic uint64_t frame;
	const stack_t *stack = &context->uc_stack;
	uint64_t low = (uint64_t)stack->ss_sp, here = (uint64_t)__builtin_frame_address(0);

	if (stack->ss_flags & SS_DISABLE || here < low || here - low >= stack->ss_size)
		return true;
	if (!atomic_load(&frame)) {
		uint64_t least = getauxval(AT_MINSIGSTKSZ);

		atomic_store(&frame, least > FRAME_LEAST ? least : FRAME_LEAST);
	}
	return here - low >= atomic_load(&frame) + OURS;
}

/*
 * A signal of ours needs room for its frame and our handler.  Where the program's handler runs on
 * an alternate stack that has not so much, ours wait until it returns: the kernel goes back
 * to the mask of before.
 */
static void keep_room(const ucontext_t *context)
{
	uint64_t ours = FORMAT_ENGINE_SIGNALS;

	if (atomic_load_explicit(&collector.recording, memory_order_relaxed) &&
	    !gate_has_room(context))
		sys_call(SYS_rt_sigprocmask, SIG_BLOCK, &ours, 0, sizeof(ours));
}

/* Both kinds of handler find their arguments in the same registers. */
static void gate(int number, siginfo_t *info, void *context)
{
	keep_room(context);
	wait_meets_handler(number, context);
	atomic_load_explicit(&handlers[number], memory_order_acquire)(number, info, context);
}

static bool needs_gate(int number, const struct sigaction *action)
{
	return action && number > 0 && number <= LAST_SIGNAL && action->sa_handler != SIG_DFL &&
	       action->sa_handler != SIG_IGN && action->sa_handler != SIG_ERR &&
	       action->sa_handler != SIG_HOLD && action->sa_sigaction != gate &&
	       collector_is_ours();
}

int gate_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	signal_handler *before = NULL;
	struct sigaction real;
	bool gated = needs_gate(number, action);

	if (number > 0 && number <= LAST_SIGNAL)
		before = atomic_load(&handlers[number]);
	if (gated) {
		real = *action;
		real.sa_sigaction = gate;
		atomic_store_explicit(&handlers[number], action->sa_sigaction,
				      memory_order_release);
	}
	int result = NEXT(sigaction)(number, gated ? &real : action, old);

	if (result && gated)
		atomic_store(&handlers[number], before);
	if (!result)
		signal_stack_note(number, action);
	if (!result && old && old->sa_sigaction == gate)
		old->sa_sigaction = before;
	return result;
}

__sighandler_t gate_signal(int number, __sighandler_t handler,
			   __sighandler_t (*next)(int, __sighandler_t))
{
	struct sigaction action = {.sa_handler = handler}, gated = {.sa_sigaction = gate};
	bool changes = needs_gate(number, &action);
	signal_handler *before = NULL;

	if (number > 0 && number <= LAST_SIGNAL)
		before = atomic_load(&handlers[number]);
	if (changes)
		atomic_store_explicit(&handlers[number], action.sa_sigaction, memory_order_release);
	__sighandler_t old = next(number, changes ? gated.sa_handler : handler);

	if (old != SIG_ERR)
		signal_stack_note(number, &action);
	if (old == SIG_ERR && changes)
		atomic_store(&handlers[number], before);
	if (old != gated.sa_handler)
		return old;
	action.sa_sigaction = before;
	return action.sa_handler;
}

bool gate_is(const void *handler)
{
	return handler == (const void *)gate;
}

const void *gate_handler(int number)
{
	signal_handler *handler =
		number > 0 && number <= LAST_SIGNAL ? atomic_load(&handlers[number]) : NULL;

	return (const void *)handler;
}

void gate_all(void)
{
	struct sigaction action;

	for (int number = 1; number <= LAST_SIGNAL; number++)
		if (!NEXT(sigaction)(number, NULL, &action) && needs_gate(number, &action))
			gate_sigaction(number, &action, NULL);
}
