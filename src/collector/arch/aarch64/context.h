/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_AARCH64_CONTEXT_H
#define HELIO_COLLECTOR_ARCH_AARCH64_CONTEXT_H

static inline uint64_t arch_pc(const ucontext_t *context)
{
	return context->uc_mcontext.pc;
}

static inline void arch_set_pc(ucontext_t *context, uint64_t pc)
{
	context->uc_mcontext.pc = pc;
}

static inline uint64_t arch_sp(const ucontext_t *context)
{
	return context->uc_mcontext.sp;
}

static inline long arch_result(const ucontext_t *context)
{
	return (long)context->uc_mcontext.regs[0];
}

static inline void arch_set_result(ucontext_t *context, long result)
{
	context->uc_mcontext.regs[0] = (unsigned long long)result;
}

static inline long arch_number(const ucontext_t *context)
{
	enum { NUMBER = 8 };

	return (long)context->uc_mcontext.regs[NUMBER];
}

static inline long arch_argument(const ucontext_t *context, int which)
{
	return (long)context->uc_mcontext.regs[which];
}

#endif
