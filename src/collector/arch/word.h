/* SPDX-License-Identifier: Apache-2.0 */
/* Integers as they lie in memory: at any address, whatever was stored there. */
#ifndef HELIO_COLLECTOR_UNWIND_WORD_H
#define HELIO_COLLECTOR_UNWIND_WORD_H

#include <stdint.h>

typedef uint16_t word16 __attribute__((aligned(1), may_alias));
typedef uint32_t word32 __attribute__((aligned(1), may_alias));
typedef uint64_t word64 __attribute__((aligned(1), may_alias));

#endif
