/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_X86_64_TICKS_H
#define HELIO_COLLECTOR_ARCH_X86_64_TICKS_H

static inline uint64_t arch_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

#endif
