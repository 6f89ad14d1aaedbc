/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a program that was attached to, which were not seen to begin. */
#ifndef HELIO_COLLECTOR_UNSEEN_THREADS_H
#define HELIO_COLLECTOR_UNSEEN_THREADS_H

#include <stdint.h>

/*
 * Says in the log, at the end of the recording, how many of them had an event, and what part
 * of the CPU time is in none.
 */
void unseen_threads_log(uint64_t cpu_ns, uint64_t recorded_ns);

#endif
