/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Critical sections, locks, atomic constructs and ordered sections of OpenMP: who waits for whom.
 * Whose turn it is in an ordered loop is a lock of the loop's team.
 *
 * The runtimes do not tell who has a lock, so each thread notes it when it has got one, and when it
 * lets go.  All of it is called by the thread that it is about.
 */
#ifndef HELIO_COLLECTOR_OMP_LOCK_H
#define HELIO_COLLECTOR_OMP_LOCK_H

#include "collector/runtimes/omp.h"

/* A call that may wait. */
struct omp_lock_wait {
	struct omp_before before;
	const void *lock;
	uint64_t object;
	uint64_t holder; /* what was noted of the lock at the request */
	enum format_omp_type type;
};

/*
 * type: OMP_CRITICAL or one behind it.  lock: what tells it from others.  object: the address that
 * is recorded, whose variable has its name.
 */
void omp_lock_request(struct omp_lock_wait *wait, enum format_omp_type type, const void *lock,
		      const void *object);
/* The thread has got it.  frame: of the function that the program or the runtime called. */
void omp_lock_grant(const struct omp_lock_wait *wait, const void *frame);
/* … without having waited for it. */
void omp_lock_taken(const void *lock);
/* Before it lets go. */
void omp_lock_release(const void *lock);
/* After it has let go: another thread may have it already. */
void omp_lock_released(const void *lock);

#endif
