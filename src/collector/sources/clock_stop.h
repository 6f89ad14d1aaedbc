/* SPDX-License-Identifier: Apache-2.0 */
/* Stops of the whole process, for the monitor engine. */
#ifndef HELIO_COLLECTOR_CLOCK_STOP_H
#define HELIO_COLLECTOR_CLOCK_STOP_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* The monitor runs at this moment. */
void stop_alive(uint64_t now_ns);
uint64_t stop_last_alive_ns(void);
/* The process stood still since the monitor was last alive, but for the time that it was queued.
 * False: somebody has noted it before. */
bool stop_note(uint64_t since_ns, uint64_t now_ns, uint64_t queued_ns);
bool stop_is_noted(uint64_t since_ns);
/* The thread's guard, a timer that expires where the monitor does not look in time.  With the
 * thread's lock, or for the calling thread. */
void stop_guard(struct thread *thread, uint64_t every_ns, uint64_t now_ns);
bool stop_guard_is_due(const struct thread *thread, uint64_t every_ns, uint64_t now_ns);
void stop_unguard(struct thread *thread);
void stop_unguard_all(void);
/* The thread's guard has expired, and its handler has not run. */
bool stop_guard_waits(const struct thread *thread);
/* Once the guard of the calling thread has expired: there was a stop, which is noted now. */
bool stop_met(struct thread *thread);

#endif
