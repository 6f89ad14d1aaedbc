/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers of an interrupted thread, in the ucontext that a handler is given.  Each
 * processor's file provides
 *
 *   uint64_t arch_pc(const ucontext_t *), void arch_set_pc(ucontext_t *, uint64_t)
 *   uint64_t arch_sp(const ucontext_t *)
 *   long arch_result(const ucontext_t *), void arch_set_result(ucontext_t *, long)
 *     what a system call that has ended has returned
 *   long arch_number(const ucontext_t *)
 *     of the system call whose instruction is the next
 *   long arch_argument(const ucontext_t *, int which)
 *     of a system call, from 0; the first one is gone when the call has ended, on some
 */
#ifndef HELIO_COLLECTOR_ARCH_CONTEXT_H
#define HELIO_COLLECTOR_ARCH_CONTEXT_H

#include <stdint.h>
#include <ucontext.h>

#if defined(__x86_64__)
#include "collector/arch/x86_64/context.h"
#elif defined(__aarch64__)
#include "collector/arch/aarch64/context.h"
#else
#error "no directory of src/collector/arch is this processor's"
#endif

#endif
