/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views of synchronization tracing: what was waited for.
 *
 * A lock is a variable of a load object, in whichever processes, or an address in processes that
 * are forks of each other.  Joins of threads are one row: thread handles are used again.
 */
#ifndef HELIO_ANALYSIS_LOCKS_H
#define HELIO_ANALYSIS_LOCKS_H

#include "base/arena.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query;
struct session;
struct table;

/* One row per lock, most waited for first; columns of its own. */
void view_locks(struct session *session, const struct query *query, struct table *table);

/* A critical section, a lock and so on of OpenMP that is waited for. */
struct lock_finding {
	const char *name; /* lives as long as the session */
	const char *kind; /* "critical section" */
	uint64_t count, waiters;
	double seconds;
};

/* Those that were waited for at least so long, most first; at most `most`.  Returns how many. */
size_t locks_find_omp(struct session *session, const struct query *query, double seconds,
		      size_t most, struct lock_finding *found);

/* Waits that have something in common. */
struct lock_waits {
	uint64_t count, failed;
	double seconds, longest;
};

struct lock_type {
	const char *name;
	struct lock_waits waits;
};

struct lock_pair {
	const char *waiter; /* "Process 1, Thread 2 (tid 123)" */
	const char *holder; /* NULL: not known */
	struct lock_waits waits;
};

struct lock_stack {
	const char **frames; /* leaf first: "f + 0x0000001c, a.c:12" */
	size_t depth;
	struct lock_waits waits;
};

struct lock_detail {
	const char *name;
	const char *object; /* path of its load object, or NULL */
	struct lock_waits waits;
	struct lock_stack maker; /* who allocated its block of memory; depth 0: not known */
	/* most waited first, and no more of each than the query's limit */
	VEC(struct lock_type) types;
	VEC(struct lock_pair) pairs;
	VEC(struct lock_stack) stacks;
	/* what its holders did meanwhile, by their clock profile: only waits.seconds */
	VEC(struct lock_stack) holders;
	double held_seconds;	/* in all: of the time waited, what is known of */
	double unknown_seconds; /* … and what is not, of a lock whose holders the clock may know */
	struct arena arena;	/* owns the texts */
};

/*
 * One lock: by its place in the list, from 1, or by its name, with or without the types of waits.
 * False: there is none.
 */
bool view_lock(struct session *session, const struct query *query, const char *which,
	       struct lock_detail *detail);
void lock_detail_fini(struct lock_detail *detail);

#endif
