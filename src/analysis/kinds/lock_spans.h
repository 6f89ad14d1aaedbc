/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who held a lock while a thread waited for it: at first whoever did when it asked, until that one
 * let go; then whoever was granted it after having waited, too.  In between it is not known: a lock
 * that is free is taken without a record.  Of OpenMP's nothing tells when they are released: who
 * has got one has it until the next one has.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_LOCK_SPANS_H
#define HELIO_ANALYSIS_LOCK_SPANS_H

#include "analysis/kinds/lock_holders.h"

/* A wait for something that threads hold. */
struct lock_request {
	const struct experiment *experiment; /* the waiter's */
	const struct process *process;
	uint32_t process_number; /* of the session, from 0 */
	uint64_t object;	 /* its address there */
	struct lock_hold hold; /* the holder at the request (process NULL: not known), all along */
};

/* A type of wait for what some thread has, whoever that is. */
bool lock_is_held(unsigned type);

/* The thread of any process that had a thread id at a time; false: it is not known. */
bool lock_holder_find(const struct session *session, uint64_t tid, uint64_t time_us,
		      struct lock_hold *hold);

/* Adds to the holds of `holders` the parts of the waits of which the holder is known. */
void lock_spans_find(const struct lock_request *requests, size_t count,
		     struct lock_holders *holders);

#endif
