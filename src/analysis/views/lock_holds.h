/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks in the hands of threads, while others waited for them: from the first wait's begin on, for
 * when the holder got it is not recorded.
 */
#ifndef HELIO_ANALYSIS_LOCK_HOLDS_H
#define HELIO_ANALYSIS_LOCK_HOLDS_H

#include "base/arena.h"
#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>

struct query;
struct session;

enum { HOLD_WAITERS = 4 };

/* A time in which a thread had a lock, or several such times. */
struct lock_held {
	uint32_t process;	   /* id */
	uint64_t thread;	   /* number */
	const char *holder, *lock; /* "Process 1, Thread 2 (tid 123)", a title as in the list */
	uint64_t begin_ns, end_ns;
	uint64_t holds, waits, waited_ns;
	const char *waiters[HOLD_WAITERS]; /* threads, the first to wait first; NULL: no more */
};

struct lock_holds {
	VEC(struct lock_held) list; /* by begin */
	uint64_t count;		    /* of holds that overlap the range, each as long as it is */
	uint64_t left_out;   /* of them, where more threads have held locks than rows are wanted */
	uint64_t waited_ns;  /* of all that overlap the range */
	uint64_t unknown_ns; /* waited for what threads hold, for whom is not known */
	struct arena arena;  /* owns the texts */
};

/*
 * The holds that overlap a range, as at most so many rows; end_ns 0: all of the time.  Filters
 * choose the waits.
 */
void view_lock_holds(struct session *session, const struct query *query, uint64_t begin_ns,
		     uint64_t end_ns, size_t most, struct lock_holds *holds);
void lock_holds_fini(struct lock_holds *holds);

#endif
