/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function vfork.  Its child returns first, over its frame: so it has none.  Each processor's
 * file provides
 *
 *   ARCH_DEFINE_VFORK(before, next)
 *     a global function vfork, with its CFI, that calls before(), then next(), and goes on, with
 *     the stack as it was, in the function that next() returned
 */
#ifndef HELIO_COLLECTOR_ARCH_VFORK_H
#define HELIO_COLLECTOR_ARCH_VFORK_H

#if defined(__x86_64__)
#include "collector/arch/x86_64/vfork.h"
#elif defined(__aarch64__)
#include "collector/arch/aarch64/vfork.h"
#else
#error "no directory of src/collector/arch is this processor's"
#endif

#endif
