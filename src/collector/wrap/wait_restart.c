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

#include "collector/core/core.h"
#include "collector/core/sys.h"
#include "collector/wrap/gate.h"
#include "collector/wrap/next.h"
#include "collector/wrap/transfer.h"
#include "collector/wrap/wait.h"

#include <stddef.h>

static const struct request restart = {.call = SYS_restart_syscall};

/* In one piece: where in it a signal has come tells how far the call is. */
static void restart_open(struct open_wait *wait, const uint64_t *open, uint64_t *closed)
{
	__asm__ volatile("lea 1f(%%rip), %%rax\n\t"
			 "mov %%rax, %c[begin](%[wait])\n\t"
			 "lea 2f(%%rip), %%rax\n\t"
			 "mov %%rax, %c[behind](%[wait])\n\t"
			 "lea 3f(%%rip), %%rax\n\t"
			 "mov %%rax, %c[end](%[wait])\n"
			 "1:\n\t"
			 "mov %[sigprocmask], %%eax\n\t"
			 "mov %[setmask], %%edi\n\t"
			 "mov %[open], %%rsi\n\t"
			 "mov %[closed], %%rdx\n\t"
			 "mov $8, %%r10d\n\t"
			 "syscall\n\t"
			 "mov %[restart], %%eax\n\t"
			 "syscall\n"
			 "2:\n\t"
			 "mov %%rax, %c[result](%[wait])\n\t"
			 "mov %[sigprocmask], %%eax\n\t"
			 "mov %[setmask], %%edi\n\t"
			 "mov %[closed], %%rsi\n\t"
			 "xor %%edx, %%edx\n\t"
			 "mov $8, %%r10d\n\t"
			 "syscall\n"
			 "3:"
			 :
			 : [wait] "r"(wait), [open] "r"(open), [closed] "r"(closed),
			   [begin] "i"(offsetof(struct open_wait, begin)),
			   [behind] "i"(offsetof(struct open_wait, behind)),
			   [end] "i"(offsetof(struct open_wait, end)),
			   [result] "i"(offsetof(struct open_wait, result)),
			   [sigprocmask] "i"(SYS_rt_sigprocmask), [setmask] "i"(SIG_SETMASK),
			   [restart] "i"(SYS_restart_syscall)
			 : "rax", "rcx", "rdx", "rdi", "rsi", "r8", "r9", "r10", "r11", "cc",
			   "memory");
}

long wait_restart(ucontext_t *context, long call)
{
	const greg_t *regs = context->uc_mcontext.gregs;
	struct thread *thread = thread_current_if_known();

	if (!thread || !gate_has_room(context))
		return wait_make_call(context, call, &restart);
	struct open_wait *wait = &thread->continued.open;
	struct call_place before = thread->continued;
	uint64_t closed;

	thread->continued = (struct call_place){.pc = (uint64_t)regs[REG_RIP],
						.sp = (uint64_t)regs[REG_RSP],
						.call = call,
						.open = {.program = context, .result = WAIT_LASTS}};
	__builtin_setjmp(wait->again);
	restart_open(wait, (const uint64_t *)&context->uc_sigmask, &closed);
	long result = wait->result;

	thread->continued = before;
	return result;
}

/* The open wait that this handler of ours has come on top of, or NULL. */
static struct open_wait *open_wait(const ucontext_t *context)
{
	struct thread *thread = thread_current_if_known();
	uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
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
	const greg_t *regs = context->uc_mcontext.gregs;
	struct open_wait *wait = open_wait(context);

	if (!wait)
		return false;
	bool over = (uint64_t)regs[REG_RIP] == wait->behind && regs[REG_RAX] != -EINTR;

	if (wait->result != WAIT_LASTS || over || signal_forward_pending(context))
		return true;
	/* With what is blocked from now on (signal.c). */
	*(uint64_t *)&((ucontext_t *)wait->program)->uc_sigmask =
		*(const uint64_t *)&context->uc_sigmask;
	__builtin_longjmp(wait->again, 1);
}
