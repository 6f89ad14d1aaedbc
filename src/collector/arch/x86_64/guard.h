/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_X86_64_GUARD_H
#define HELIO_COLLECTOR_ARCH_X86_64_GUARD_H

static inline bool arch_guarded_call(struct arch_guard *guard, void (*work)(void *), void *argument)
{
	uint64_t done;

	__asm__ volatile("mov %%rbp, %c[bp](%%rbx)\n\t"
			 "mov %%rsp, %c[sp](%%rbx)\n\t"
			 "lea 1f(%%rip), %%rax\n\t"
			 "mov %%rbx, %c[self](%%rbx)\n\t"
			 "mov %%rax, %c[pc](%%rbx)\n\t"
			 "sub $128, %%rsp\n\t" /* the red zone */
			 "and $-16, %%rsp\n\t"
			 "call *%[work]\n\t"
			 "mov $1, %%eax\n\t"
			 "mov %c[sp](%%rbx), %%rsp\n\t"
			 "jmp 2f\n"
			 "1:\n\t"
			 "xor %%eax, %%eax\n"
			 "2:\n\t"
			 "movq $0, %c[pc](%%rbx)"
			 : "=a"(done), "+D"(argument), [work] "+S"(work), "+b"(guard)
			 : [pc] "i"(offsetof(struct arch_guard, pc)),
			   [sp] "i"(offsetof(struct arch_guard, sp)),
			   [bp] "i"(offsetof(struct arch_guard, bp)),
			   [self] "i"(offsetof(struct arch_guard, self))
			 : "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc",
			   "memory");
	return done;
}

/* In the handler of a fault of work(): the call returns false. */
static inline void arch_guard_leave(const struct arch_guard *guard, ucontext_t *context)
{
	greg_t *regs = context->uc_mcontext.gregs;

	regs[REG_RIP] = (greg_t)guard->pc;
	regs[REG_RSP] = (greg_t)guard->sp;
	regs[REG_RBP] = (greg_t)guard->bp;
	regs[REG_RBX] = (greg_t)guard->self;
}

#endif
