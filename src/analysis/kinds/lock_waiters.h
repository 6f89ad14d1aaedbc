/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Those who wait at a moment, of which the smallest are found: numbers in order, with sums of how
 * many of them wait in a tree (Fenwick's).  Private to this module.
 */
#ifndef HELIO_ANALYSIS_LOCK_WAITERS_H
#define HELIO_ANALYSIS_LOCK_WAITERS_H

#include "base/memory.h"

/* Zero-initialised knows nobody. */
struct lock_waiters {
	VEC(uint64_t) all; /* in order, once it is ready */
	uint32_t *waits;   /* how often each does now */
	uint32_t *tree;	   /* from 1 on: of some before it, how many do */
	size_t count;	   /* that do */
};

/* One of all that ever will. */
void lock_waiters_know(struct lock_waiters *waiters, uint64_t waiter);
/* All are known. */
void lock_waiters_ready(struct lock_waiters *waiters);
void lock_waiters_add(struct lock_waiters *waiters, uint64_t waiter);
void lock_waiters_remove(struct lock_waiters *waiters, uint64_t waiter);
/* The smallest of those who wait, 0 where there are no more. */
void lock_waiters_first(const struct lock_waiters *waiters, uint64_t *first, size_t most);
void lock_waiters_fini(struct lock_waiters *waiters);

#endif
