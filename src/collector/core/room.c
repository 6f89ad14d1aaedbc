/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a recording needs more stack than an alternate signal stack may have: a handler that
 * ends the program there (_exit) knows only what it needs itself.
 */
#include "collector/core/core.h"
#include "collector/core/sys.h"

#include <signal.h>

static bool is_on_small_stack(void)
{
	enum { ENOUGH = 32 * 1024 };
	stack_t stack;
	uint64_t here = (uint64_t)__builtin_frame_address(0);

	return !sys_call(SYS_sigaltstack, 0, &stack, 0, 0) && stack.ss_flags & SS_ONSTACK &&
	       here - (uint64_t)stack.ss_sp < ENOUGH;
}

/* No signal meanwhile: the kernel would take the alternate stack for free, from its top. */
static void run_on_own_stack(void (*work)(void))
{
	static char room[64 * 1024] __attribute__((aligned(16)));
	uint64_t mask = sys_block_signals();

	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "mov %[top], %%rsp\n\t"
			 "call *%[work]\n\t"
			 "mov %%rbx, %%rsp"
			 :
			 : [top] "r"(room + sizeof(room)), [work] "r"(work)
			 : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
			   "memory", "cc");
	sys_restore_signals(mask);
}

void run_with_room(void (*work)(void))
{
	if (is_on_small_stack())
		run_on_own_stack(work);
	else
		work();
}
