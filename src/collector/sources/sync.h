/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synchronization tracing: what a wrapped call that may wait does around the call.
 *
 *   if (sync_leaves_out(return address)) … just the call
 *   … the function that tries: it was free …
 *   sync_found_free(type, object, owner)
 * or
 *   wait = sync_request(type, object, owner)
 *   … the call …
 *   sync_grant(&wait, error)
 *
 * A lock that others wait for when it is released costs its holder a system call, so there the
 * moment is recorded, too: what the thread does from then on is not what they wait for.
 *
 * Nothing is raised or taken between the two, so a thread may leave the call by cancellation
 * or by a longjmp in a signal handler: then there is no event.  What waits at the end of the
 * recording is recorded then (pending_call.h).
 */
#ifndef HELIO_COLLECTOR_SYNC_H
#define HELIO_COLLECTOR_SYNC_H

#include "collector/core/thread_state.h"
#include "format/kinds.h"

#include <stdbool.h>
#include <stdint.h>

/* What a call waited less than is not recorded; SYNC_OFF: nothing is. */
#define SYNC_OFF UINT64_MAX
extern uint64_t sync_threshold_ns;

/* The same of Java's monitors. */
extern uint64_t sync_java_threshold_ns;

static inline bool sync_is_on(void)
{
	return sync_threshold_ns != SYNC_OFF;
}

/*
 * Calls from the code of a machine within [low, high) are left out from now on, where the calling
 * thread is the machine's own.
 */
typedef bool sync_is_own(void);
void sync_leave_out(uint64_t low, uint64_t high, sync_is_own *is_own);
extern struct sync_machine {
	uint64_t low;
	_Atomic uint64_t size; /* 0: nothing is left out; is set last, for other threads look */
	uint64_t since_ns;
	sync_is_own *is_own;
} sync_machine;

/* Whether the calling thread is in a wait that a runtime tells of. */
bool sync_runtime_waits(void);

/*
 * Whether a wrapped call is to be just the call; caller: its return address.  Where a runtime's
 * waits alone are recorded, the call in which such a wait is spent is none: it is what tells of it
 * at the end of the recording.
 */
static inline bool sync_leaves_out(const void *caller)
{
	if (!sync_is_on())
		return sync_java_threshold_ns == SYNC_OFF || !sync_runtime_waits();
	return (uint64_t)caller - sync_machine.low <
		       atomic_load_explicit(&sync_machine.size, memory_order_acquire) &&
	       sync_machine.is_own();
}

/*
 * A lock that can be tried was free: request and grant are one moment, so the clock is read once,
 * and only where such calls are recorded at all.  owner: as of sync_request; frame:
 * __builtin_frame_address(0) of the wrapped function.  Keeps errno.
 */
void sync_record_free(enum format_sync_type type, const void *object, uint64_t owner,
		      const void *frame);

static inline __attribute__((always_inline)) void
sync_found_free(enum format_sync_type type, const void *object, uint64_t owner)
{
	if (!sync_threshold_ns)
		sync_record_free(type, object, owner, __builtin_frame_address(0));
}

/* object: address, or pthread_t of a thread; owner: id of the thread that held it then; 0: not
 * known.  caller: where the call returns to.
 */
struct pending_call sync_request(enum format_sync_type type, const void *object, uint64_t owner,
				 const void *caller);
/* The moment before a lock that others wait for is released, and, after that, that it was. */
uint64_t sync_now_ns(void);
void sync_release(const void *object, uint64_t time_ns);
/* The call is back; error: its errno, or 0. Keeps errno. */
void sync_grant(const struct pending_call *wait, int error);

/*
 * A wait that a runtime tells of, not in a handler: the calling thread's.  What it calls meanwhile
 * to wait is no event beside it.  At the end of the recording that call stands for it.
 */
void sync_runtime_begin(enum format_sync_type type, uint64_t object);
void sync_runtime_end(enum format_sync_type type, int error);

/* futex(2) with an operation that waits, by syscall(2). */
long sync_futex(long address, long operation, long value, long timeout, long other, long bits);

#endif
