/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor's counter of time, which any thread may read without the kernel.  Each processor's
 * file provides
 *
 *   uint64_t arch_ticks(void)
 *     of the same rate on all processors where the kernel's clock is made of it (core/stamp.c); not
 *     ordered with what is under way in the processor
 *   bool arch_ticks_are_steady(void)
 *     of the same rate at all times
 */
#ifndef HELIO_COLLECTOR_ARCH_TICKS_H
#define HELIO_COLLECTOR_ARCH_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include "collector/arch/x86_64/ticks.h"
#elif defined(__aarch64__)
#include "collector/arch/aarch64/ticks.h"
#else
#error "no directory of src/collector/arch is this processor's"
#endif

#endif
