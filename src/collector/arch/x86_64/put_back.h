/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel has overwritten rcx, with where the call returns to, and r11: no program uses them. */
#ifndef HELIO_COLLECTOR_ARCH_X86_64_PUT_BACK_H
#define HELIO_COLLECTOR_ARCH_X86_64_PUT_BACK_H

#include "collector/arch/call.h"
#include "collector/arch/context.h"

static inline uint64_t arch_call_site(const ucontext_t *context)
{
	return call_site(arch_pc(context), (uint64_t)context->uc_mcontext.gregs[REG_RCX]);
}

static inline void arch_put_back(ucontext_t *context, uint64_t site, long call)
{
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)site;
	context->uc_mcontext.gregs[REG_RAX] = call;
}

static inline void arch_leave_call(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_RIP] = context->uc_mcontext.gregs[REG_RCX];
}

static inline void arch_disown_call(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_RCX] = 0;
}

static inline uint64_t arch_mark(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_R11];
}

static inline void arch_set_mark(ucontext_t *context, uint64_t mark)
{
	context->uc_mcontext.gregs[REG_R11] = (greg_t)mark;
}

#endif
