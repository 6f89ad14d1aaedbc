/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of code that is not ours, of which a fault is no harm: arch_guarded_call() is false if it
 * ended in one, after the handler of that signal has called arch_guard_leave().
 */
#ifndef HELIO_COLLECTOR_ARCH_GUARD_H
#define HELIO_COLLECTOR_ARCH_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* Where the call goes on after a fault; pc 0: none is under way. */
struct arch_guard {
	uint64_t pc, sp, bp, self;
};

#if defined(__x86_64__)
#include "collector/arch/x86_64/guard.h"
#endif

#endif
