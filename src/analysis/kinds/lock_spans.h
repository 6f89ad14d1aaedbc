/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who held a lock while threads waited for it: at first whoever did when one asked, until that one
 * let go; then whoever was granted it after having waited, too.  In between it is not known: a lock
 * that is free is taken without a record.  Of OpenMP's nothing tells when they are released: who
 * has got one has it until the next one has.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_LOCK_SPANS_H
#define HELIO_ANALYSIS_LOCK_SPANS_H

#include "analysis/kinds/lock_holders.h"

enum { LOCK_PART_WAITERS = 4 };

/* A wait for something that threads hold. */
struct lock_request {
	uint32_t process_number; /* the waiter's, of the session, from 0 */
	uint64_t object;	 /* its address there */
	uint64_t waiter;	 /* not 0; what it is is the caller's */
	struct lock_hold hold; /* the holder at the request (process NULL: not known), all along */
	uint64_t known_ns;     /* set: of that, how long it is known who had it */
};

/* A time in which one thread had a lock and some waited for it, each all along. */
struct lock_part {
	struct lock_hold hold;
	size_t request; /* one for the same object, the last that began to wait by then */
	/* The smallest of those who waited at its begin, these and others; 0: no more. */
	uint64_t waiters[LOCK_PART_WAITERS];
};

/* A type of wait for what some thread has, whoever that is. */
bool lock_is_held(unsigned type);

/*
 * Calls add() for each part of the waits of which the holder is known.  Those who wait from one
 * change of holders to the next are in one part: there are no more than two for each wait and one
 * for each change.
 */
void lock_spans_find(const struct session *session, struct lock_request *requests, size_t count,
		     void (*add)(void *arg, const struct lock_part *part), void *arg);

#endif
