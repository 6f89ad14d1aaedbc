/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that began when the program ran already (`helio attach`). */
#ifndef HELIO_COLLECTOR_ATTACH_H
#define HELIO_COLLECTOR_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

/* The process that attached to this one is gone without having ended the recording. */
bool attach_is_abandoned(void);

/*
 * Where threads that began meanwhile were not seen to begin: how many had an event, and what part
 * of the CPU time is in none.
 */
void attach_say_births(uint64_t cpu_ns, uint64_t recorded_ns);

#endif
