/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_AARCH64_TICKS_H
#define HELIO_COLLECTOR_ARCH_AARCH64_TICKS_H

static inline uint64_t arch_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

/* The generic timer is, by the architecture. */
static inline bool arch_ticks_are_steady(void)
{
	return true;
}

#endif
