/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traced calls that have begun and not ended: what is known of them, so that at the end of
 * the recording those that still wait are recorded, with the time so far.
 *
 * A call may be left without a word, by a jump or a cancellation.  So what a thread has noted
 * is believed only of a call whose wrapped function is found on the thread's stack, while the
 * thread is blocked in the kernel, or spins.  One that runs otherwise at that moment is not
 * recorded.
 */
#ifndef HELIO_COLLECTOR_PENDING_CALL_H
#define HELIO_COLLECTOR_PENDING_CALL_H

#include "collector/core/trace.h"

/* As deep as calls lie in handlers that interrupted calls; those beyond are not noted. */
void pending_call_begin(const struct pending_call *call);
/* The calling thread's call that began then is over. */
void pending_call_end(uint64_t since_ns);

/*
 * Writes, for all threads but the calling one, what waits now.  From then on nothing more is
 * recorded of such a thread.
 */
void pending_call_write_all(void);
/* The recording goes on: the exec failed. */
void pending_call_exec_failed(void);
/* Whether the calling thread's call, which began then, has had its record. */
bool pending_call_was_written(const struct thread *thread, uint64_t since_ns);

#endif
