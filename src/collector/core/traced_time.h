/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls that are traced take in our wrappers.  This is told and not bounded: a call that is
 * left out would be a wrong count.
 */
#ifndef HELIO_COLLECTOR_TRACED_TIME_H
#define HELIO_COLLECTOR_TRACED_TIME_H

#include <stdint.h>

/* At the begin of a recording. */
void traced_time_reset(void);
/* A call took so many ticks of the processor's counter, and stands for `calls`. */
void traced_time_add(uint64_t ticks, uint32_t calls);
uint64_t traced_time_ns(void);

#endif
