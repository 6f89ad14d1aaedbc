/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls, made by the processor's instruction.  Each processor's file provides
 *
 *   long sys_call6(long number, long a, long b, long c, long d, long e, long f)
 *     the kernel's result: negative errno on failure.
 */
#ifndef HELIO_COLLECTOR_ARCH_SYSCALL_H
#define HELIO_COLLECTOR_ARCH_SYSCALL_H

#if defined(__x86_64__)
#include "collector/arch/x86_64/syscall.h"
#elif defined(__aarch64__)
#include "collector/arch/aarch64/syscall.h"
#else
#error "no directory of src/collector/arch is this processor's"
#endif

#endif
