/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default interval is short at first and longer later, by what the whole
 * family has had of it.  Each event has the time that passed, so no total depends on it.
 */
#ifndef HELIO_COLLECTOR_CLOCK_INTERVAL_H
#define HELIO_COLLECTOR_CLOCK_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

/* The parameter `p` (format/params.h). */
void interval_read_param(const char *value);
/* Once the engine is known, before it starts: sets collector.interval_ns. */
void interval_begin(void);
/* Anything that the interval makes happen has taken so much; may widen it.  Not with the thread's
 * lock. */
void interval_spent(uint64_t cost_ns);
/* Makes the interval the longer one in this process.  False: it is that already. */
bool interval_widen(void);
/* Attributes for the event `counters` in the log. */
struct text;
void interval_log(struct text *line);

#endif
