/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_X86_64_TICKS_H
#define HELIO_COLLECTOR_ARCH_X86_64_TICKS_H

#include <cpuid.h>

static inline uint64_t arch_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* The invariant time stamp counter. */
static inline bool arch_ticks_are_steady(void)
{
	enum { POWER = 0x80000007, INVARIANT = 1 << 8 };
	unsigned a, b, c, d;

	return __get_cpuid(POWER, &a, &b, &c, &d) && d & INVARIANT;
}

#endif
