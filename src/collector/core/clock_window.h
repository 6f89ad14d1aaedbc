/* SPDX-License-Identifier: Apache-2.0 */
/* What of a thread's time is to be recorded. */
#ifndef HELIO_COLLECTOR_CLOCK_WINDOW_H
#define HELIO_COLLECTOR_CLOCK_WINDOW_H

#include "collector/core/thread_state.h"

/* What -t and collector_thread_pause() leave to record. */
struct window clock_window(const struct thread *thread);
/* Whether this moment of the thread is to be recorded: no pause, and within -t. */
bool clock_is_recording(const struct thread *thread, uint64_t now_ns);
/* How much of the time between two moments was, with the recording clock of the first one; the
 * thread's recording runs at the second. */
uint64_t clock_recorded_since(const struct thread *thread, uint64_t since_ns, uint64_t recorded_ns,
			      uint64_t now_ns);

#endif
