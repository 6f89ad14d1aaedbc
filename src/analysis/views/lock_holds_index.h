/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All holds of a tally in order of time, so that a part of the time is answered without another
 * look at the events.  It takes some 70 bytes for each hold.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_LOCK_HOLDS_INDEX_H
#define HELIO_ANALYSIS_LOCK_HOLDS_INDEX_H

#include "analysis/views/lock_holds.h"
#include "base/key_numbers.h"
#include "base/spans.h"

struct tally;

/* A thread, and a lock that it had at some time. */
struct lock_holder {
	uint32_t process; /* id */
	uint64_t thread;  /* number */
	const char *lock; /* its title */
};

struct kept_hold {
	uint64_t waited_ns;
	uint32_t holder;
	uint32_t waits;
	uint32_t waiters[HOLD_WAITERS]; /* numbers from 1, the first to wait first; 0: no more */
};

/* A wait of which it is not known, or not of all of it, for whom it was. */
struct unknown_wait {
	struct span span;
	uint64_t ns;
	uint32_t process; /* of the session, from 0 */
};

struct lock_holds_index {
	struct spans hold_spans;
	VEC(struct kept_hold) holds; /* of these */
	struct spans unknown_spans;
	VEC(uint64_t) unknown_ns; /* of these */
	VEC(struct lock_holder) holders;
	struct key_numbers waiters; /* process << 32 | number of the thread */
	struct arena arena;	    /* owns the titles */
	size_t size;		    /* bytes */
};

/* That of a tally, made when it is first asked for; in part where the work was cancelled. */
const struct lock_holds_index *lock_holds_index_of(struct tally *tally);
/* The caller has done with it: it is kept unless it is of no use. */
void lock_holds_index_put(struct tally *tally);

#endif
