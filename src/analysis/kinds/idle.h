/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of pools that have nothing to do.  By their state alone they look like threads that
 * wait for locks: they sleep on a futex, or in epoll.
 */
#ifndef HELIO_ANALYSIS_IDLE_H
#define HELIO_ANALYSIS_IDLE_H

#include <stddef.h>
#include <stdint.h>

struct session;
struct query;

/*
 * Of the chosen clock events.  A thread but the first is idle if it spent more than half of its
 * time in calls that wait for work: conditions and semaphores (User Lock), epoll, poll and select
 * (Sleep).
 */
struct idle_threads {
	size_t lock_threads, sleep_threads; /* idle mostly in the one or the other */
	double lock_seconds, sleep_seconds; /* what all idle threads waited so */
};

void view_idle_threads(struct session *session, const struct query *query,
		       struct idle_threads *idle);

#endif
