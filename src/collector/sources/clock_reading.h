/* SPDX-License-Identifier: Apache-2.0 */
/* The calling thread's clocks and its usage. */
#ifndef HELIO_COLLECTOR_CLOCK_READING_H
#define HELIO_COLLECTOR_CLOCK_READING_H

#include <stdbool.h>
#include <stdint.h>

struct clock_reading;
struct thread;

/* Below this a gap between wall and CPU time is not worth a look at the run-queue delay. */
enum { CLOCK_GAP_WORTH_NS = 50 * 1000 };

void clock_read(struct clock_reading *reading);
/* Of that only `cpu_ns` and `now_ns`. */
void clock_read_cpu(struct clock_reading *reading);
/* At a tick, where that is enough: the usage may be the last reading's. */
void clock_read_at_tick(const struct clock_reading *last, struct clock_reading *reading);
/* How often the thread has waited in its life. */
uint64_t clock_own_waits(void);
/* Whether it has given up its processor since its last reading. */
bool clock_has_unaccounted_wait(const struct thread *thread);

#endif
