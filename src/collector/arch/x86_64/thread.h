/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_X86_64_THREAD_H
#define HELIO_COLLECTOR_ARCH_X86_64_THREAD_H

static inline long arch_clone_onto(long flags, void *stack_top, _Atomic int32_t *tid,
				   void (*run)(void))
{
	register void (*start)(void) __asm__("r12") = run; /* not rbp, which ends call stacks */
	long result;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "call *%[run]\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone), "D"(flags), "S"(stack_top), "d"(tid), [run] "r"(start)
			 : "rcx", "r8", "r9", "r10", "r11", "memory");
	return result;
}

static inline _Noreturn void arch_exit_thread(_Atomic unsigned *flag, long status)
{
	__asm__ volatile("movl $0, (%0)\n\t"
			 "syscall\n\t"
			 "ud2"
			 :
			 : "r"(flag), "a"(SYS_exit), "D"(status)
			 : "rcx", "r11", "memory");
	__builtin_unreachable();
}

static inline void arch_call_on_stack(char *top, void (*work)(void *), void *argument)
{
	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "mov %[top], %%rsp\n\t"
			 "call *%[work]\n\t"
			 "mov %%rbx, %%rsp"
			 : "+D"(argument)
			 : [top] "r"(top), [work] "r"(work)
			 : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory",
			   "cc");
}

#endif
