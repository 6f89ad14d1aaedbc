/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that had a thread id at a time.  The lives of all threads are put in order once: a
 * lock's owner is looked for at each wait.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_LOCK_OWNERS_H
#define HELIO_ANALYSIS_LOCK_OWNERS_H

#include "analysis/kinds/lock_holders.h"

/* A time in which a thread had an id; of several that had one, the first of the session. */
struct lock_owner {
	uint64_t begin_us, end_us; /* both are of it */
	uint32_t tid;
	uint32_t process; /* of the session, from 0 */
	uint32_t thread;  /* its index there */
};

/* Zero-initialised, it is made when it is first asked. */
struct lock_owners {
	VEC(struct lock_owner) list; /* by id and time, without overlaps */
	bool is_made;
};

/* Sets who has the lock, if that is known; else hold->process is NULL, and it returns false. */
bool lock_owners_find(struct lock_owners *owners, const struct session *session, uint64_t tid,
		      uint64_t time_us, struct lock_hold *hold);
void lock_owners_fini(struct lock_owners *owners);

#endif
