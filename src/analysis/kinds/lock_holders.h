/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the holders of a lock did while others waited for it: by their clock profile.  Each moment
 * counts once for each thread that waited then, so the sum is the part of the waits that is
 * explained, and a call stack's share is what its waiters lost by it.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_LOCK_HOLDERS_H
#define HELIO_ANALYSIS_LOCK_HOLDERS_H

#include "analysis/kinds/lock_scan.h"

/* Part of one or several waits for a lock, in which a thread held it. */
struct lock_hold {
	const struct experiment *experiment;
	const struct process *process;
	uint32_t process_number; /* of the session, from 0 */
	uint32_t waits;
	uint64_t thread; /* the holder's number */
	uint64_t begin_ns, end_ns;
	bool is_released; /* it ended as the holder let go: that ran at the end, and did not wait */
};

struct lock_blame {
	struct lock_place place;
	uint64_t ns;
};

struct lock_holders {
	VEC(struct lock_hold) holds;   /* the caller's */
	VEC(struct lock_blame) blames; /* most first */
	uint64_t ns;		       /* of all */
};

/* From `holds`, which it sorts, to `blames`. */
void lock_holders_find(struct lock_holders *holders);
void lock_holders_fini(struct lock_holders *holders);

#endif
