/* SPDX-License-Identifier: Apache-2.0 */
/* The clock's events of perf. */
#ifndef HELIO_COLLECTOR_CLOCK_EVENT_H
#define HELIO_COLLECTOR_CLOCK_EVENT_H

#include <stdint.h>

/*
 * Opens one (PERF_EVENT_TICK, …) of another thread, or with 0 of the calling one: a descriptor or a
 * negative errno.  The interval is nothing to one of switches.
 */
int clock_event_open(int tid, uint64_t event, uint64_t interval_ns);

/* Likewise a tick of the calling thread that interrupts it and signals nothing. */
int clock_event_open_silent(uint64_t interval_ns);

#endif
