/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of our own, and calls on other stacks, which C cannot express.  Each processor's file
 * provides
 *
 *   long arch_clone_onto(long flags, void *stack_top, _Atomic int32_t *tid, void (*run)(void))
 *     the kernel's result; the new thread calls `run`, at the end of a chain of frame pointers
 *   _Noreturn void arch_exit_thread(_Atomic unsigned *flag, long status)
 *     sets *flag to 0, and uses no stack from then on
 *   void arch_call_on_stack(char *top, void (*work)(void *), void *argument)
 */
#ifndef HELIO_COLLECTOR_ARCH_THREAD_H
#define HELIO_COLLECTOR_ARCH_THREAD_H

#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#include "collector/arch/x86_64/thread.h"
#elif defined(__aarch64__)
#include "collector/arch/aarch64/thread.h"
#else
#error "no directory of src/collector/arch is this processor's"
#endif

#endif
