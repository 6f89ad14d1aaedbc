/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/rawthread.h"

#include "collector/core/sys.h"
#include "collector/sources/clock.h"

#include <sched.h>
#include <signal.h>

static _Atomic uint64_t ended_cpu_ns;

static long clone_onto(long flags, void *stack_top, void (*run)(void))
{
	long result;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "call *%[run]\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone), "D"(flags), "S"(stack_top), "d"(0L), [run] "r"(run)
			 : "rcx", "r8", "r9", "r10", "r11", "memory");
	return result;
}

int rawthread_start(void (*run)(void), void *stack, size_t size, bool own_files)
{
	uint64_t all = ~(uint64_t)0, before;
	long flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
		     (own_files ? 0 : CLONE_FILES);
	uint64_t top = ((uint64_t)stack + size) & ~(uint64_t)15;

	/* The thread inherits the mask: it must never take one of the program's signals. */
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	long result = clone_onto(flags, (void *)top, run);
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof(before));
	return (int)result;
}

_Noreturn void rawthread_exit(_Atomic unsigned *flag)
{
	atomic_fetch_add(&ended_cpu_ns, clock_own_cpu_ns());
	__asm__ volatile("movl $0, (%0)\n\t"
			 "xor %%edi, %%edi\n\t"
			 "syscall\n\t"
			 "ud2"
			 :
			 : "r"(flag), "a"(SYS_exit)
			 : "rdi", "rcx", "r11", "memory");
	__builtin_unreachable();
}

uint64_t rawthread_ended_cpu_ns(void)
{
	return atomic_load(&ended_cpu_ns);
}
