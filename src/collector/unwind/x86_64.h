/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the unwinder knows of x86-64: register numbers (psABI figure 3.36), the
 * kernel's signal frame, and how to recognise machine code that has no CFI.
 */
#ifndef HELIO_COLLECTOR_UNWIND_X86_64_H
#define HELIO_COLLECTOR_UNWIND_X86_64_H

#include "collector/unwind/walk.h"

enum {
	ARCH_RAX,
	ARCH_RDX,
	ARCH_RCX,
	ARCH_RBX,
	ARCH_RSI,
	ARCH_RDI,
	ARCH_BP,
	ARCH_SP,
	ARCH_R8,
	ARCH_R12 = 12,
	ARCH_R15 = 15,
	ARCH_PC = 16,
};

/* The registers that a call preserves. */
#define ARCH_PRESERVED (1u << ARCH_RBX | 1u << ARCH_BP | 1u << ARCH_SP | 0xfu << ARCH_R12)

enum {
	ARCH_RETURN_SIZE = 8,  /* the return address lies right below the CFA */
	ARCH_RED_ZONE = 128,   /* bytes below sp that a leaf function may use */
	ARCH_CONTEXT_BP = 120, /* in the ucontext, where sp points when a handler has returned */
	ARCH_CONTEXT_SP = 160,
	ARCH_CONTEXT_PC = 168,
};

/* Those that a call preserves, as they are here. */
static inline __attribute__((always_inline)) void arch_regs_of_here(struct unwind_regs *regs)
{
	regs->known =
		1u << ARCH_RBX | 1u << ARCH_BP | 1u << ARCH_SP | 0xfu << ARCH_R12 | 1u << ARCH_PC;
	__asm__ volatile("lea 0(%%rip), %0" : "=r"(regs->reg[ARCH_PC]));
	__asm__ volatile("mov %%rsp, %0" : "=m"(regs->reg[ARCH_SP]));
	__asm__ volatile("mov %%rbp, %0" : "=m"(regs->reg[ARCH_BP]));
	__asm__ volatile("mov %%rbx, %0" : "=m"(regs->reg[ARCH_RBX]));
	__asm__ volatile("mov %%r12, %0" : "=m"(regs->reg[ARCH_R12]));
	__asm__ volatile("mov %%r13, %0" : "=m"(regs->reg[13]));
	__asm__ volatile("mov %%r14, %0" : "=m"(regs->reg[14]));
	__asm__ volatile("mov %%r15, %0" : "=m"(regs->reg[15]));
}

#endif
