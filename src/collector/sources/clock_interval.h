/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default interval is short at first and longer later, by what the whole
 * family has had of it.  Each event has the time that passed, so no total depends on it.
 */
#ifndef HELIO_COLLECTOR_CLOCK_INTERVAL_H
#define HELIO_COLLECTOR_CLOCK_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

/* The kernel's tick is 4 ms or less (CONFIG_HZ of 250 and more). */
enum { TIMER_INTERVAL_NS = 4 * 1000 * 1000 };

/* The parameter `p` (format/params.h). */
void interval_read_param(const char *value);
/* Once the engine is known, before it starts: sets collector.interval_ns. */
void interval_begin(void);
/*
 * Makes it as long as ticks of perf need for the bound of the overhead.  Where a timer's interrupt
 * takes longer than the interval the next one is due when it returns: neither the program nor a
 * handler gets on, so that no handler could find that out.
 */
void interval_raise(void);
/* Whether what it needs for that has been measured in the family. */
bool interval_knows_delivery(void);
/* Anything that the interval makes happen has taken so much; may widen it.  Not with the thread's
 * lock. */
void interval_spent(uint64_t cost_ns);
/* Makes the interval the longer one in this process.  False: it is that already. */
bool interval_widen(void);
/* Who has to be told when it becomes longer: in a handler, where the perf engine is at work. */
void interval_call_when_widened(void (*function)(void));
/* Of the monitor, from one look to the next: an interval, or what timers of CPU clocks need; at
 * this interval its looks are no more than those need. */
uint64_t interval_look_ns(void);
bool interval_looks_are_cheap(void);
/* Attributes for the event `counters` in the log. */
struct text;
void interval_log(struct text *line);

#endif
