/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that the kernel would continue: restart_syscall(2) in our handler, since the kernel forgets
 * what remains when a handler returns.
 *
 * Our signals are open in that wait, as the program may be sent one of these numbers.  A handler of
 * ours that comes on top of it must not return, either: it records its event as one of the place
 * where the program is, and jumps back to where the wait begins.  Only on an alternate stack with
 * little room are ours blocked.
 */
#include "collector/wrap/wait_restart.h"

#include "collector/arch/context.h"
#include "collector/arch/open_wait.h"
#include "collector/arch/sys.h"
#include "collector/core/signals.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"
#include "collector/wrap/handler_room.h"
#include "collector/wrap/wait_call.h"

static const struct request restart = {.call = SYS_restart_syscall};

long wait_restart(ucontext_t *context, long call)
{
	struct thread *thread = thread_current_if_known();

	if (!thread || !handler_has_room(context))
		return wait_make_call(context, call, &restart);
	struct open_wait *wait = &thread->continued.open;
	struct call_place before = thread->continued;
	uint64_t closed;

	thread->continued = (struct call_place){.pc = arch_pc(context),
						.sp = arch_sp(context),
						.call = call,
						.open = {.program = context, .result = WAIT_LASTS}};
	__builtin_setjmp(wait->again);
	arch_wait_open(wait, (const uint64_t *)&context->uc_sigmask, &closed);
	long result = wait->result;

	thread->continued = before;
	return result;
}

/* The open wait that this handler of ours has come on top of, or NULL. */
static struct open_wait *open_wait(const ucontext_t *context)
{
	struct thread *thread = thread_current_if_known();
	uint64_t pc = arch_pc(context);
	struct open_wait *wait = thread ? &thread->continued.open : NULL;

	return wait && wait->program && pc >= wait->begin && pc <= wait->end ? wait : NULL;
}

const void *wait_program_context(const void *context)
{
	const struct open_wait *wait = open_wait(context);

	return wait ? wait->program : context;
}

bool wait_goes_on_again(ucontext_t *context)
{
	struct open_wait *wait = open_wait(context);

	if (!wait)
		return false;
	bool over = arch_pc(context) == wait->behind && arch_result(context) != -EINTR;

	if (wait->result != WAIT_LASTS || over || signal_forward_pending(context))
		return true;
	/* With what is blocked from now on (signal.c). */
	*(uint64_t *)&((ucontext_t *)wait->program)->uc_sigmask =
		*(const uint64_t *)&context->uc_sigmask;
	__builtin_longjmp(wait->again, 1);
}
