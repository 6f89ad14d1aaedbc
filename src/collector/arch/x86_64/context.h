/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_X86_64_CONTEXT_H
#define HELIO_COLLECTOR_ARCH_X86_64_CONTEXT_H

static inline uint64_t arch_pc(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline void arch_set_pc(ucontext_t *context, uint64_t pc)
{
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

static inline uint64_t arch_sp(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

static inline void arch_set_frame(ucontext_t *context, uint64_t pc, uint64_t sp, uint64_t bp)
{
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
	context->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
	context->uc_mcontext.gregs[REG_RBP] = (greg_t)bp;
}

static inline long arch_result(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RAX];
}

static inline void arch_set_result(ucontext_t *context, long result)
{
	context->uc_mcontext.gregs[REG_RAX] = result;
}

static inline long arch_number(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RAX];
}

static inline long arch_argument(const ucontext_t *context, int which)
{
	static const uint8_t registers[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};

	return context->uc_mcontext.gregs[registers[which]];
}

#endif
