/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread behind a system call is put back onto its instruction, and word of that is left in
 * registers that the program does not use there (wrap/wait.c).  Each processor's file provides
 *
 *   uint64_t arch_call_site(const ucontext_t *)
 *     the instruction of the system call that the thread is before or behind; 0: of none, or of
 *     one that is no longer ours
 *   void arch_put_back(ucontext_t *, uint64_t site, long call)
 *     all its arguments are as they were
 *   void arch_leave_call(ucontext_t *)
 *     a thread before its call is put behind it
 *   void arch_disown_call(ucontext_t *)
 *     arch_call_site tells of none from now on
 *   uint64_t arch_mark(const ucontext_t *), void arch_set_mark(ucontext_t *, uint64_t)
 *     the word left
 */
#ifndef HELIO_COLLECTOR_ARCH_PUT_BACK_H
#define HELIO_COLLECTOR_ARCH_PUT_BACK_H

#include <stdint.h>
#include <ucontext.h>

#if defined(__x86_64__)
#include "collector/arch/x86_64/put_back.h"
#elif defined(__aarch64__)
#include "collector/arch/aarch64/put_back.h"
#else
#error "no directory of src/collector/arch is this processor's"
#endif

#endif
