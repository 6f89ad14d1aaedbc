/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long work: how far it is, and whether it is still wanted.
 *
 * A front end gives one watch with its queries.  The engine tells it, some ten times a second at
 * most and from the thread that asked, how much of the work in hand is done; an answer that was
 * cancelled is empty or in part, nothing of it is kept, and the front end throws it away.
 */
#ifndef HELIO_ANALYSIS_WATCH_H
#define HELIO_ANALYSIS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct watch {
	/* done: from 0 to 1, of one piece of the work: there may be several.  False: no more. */
	bool (*tell)(void *data, double done);
	void *data;
	bool cancelled;	  /* set by the engine once tell() has said so; reset by the front end */
	uint64_t told_ns; /* the engine's: when it was told last */
};

/*
 * Tells a watch, or not if it has been told just before.  False: cancelled.  NULL: nobody is told,
 * and nobody cancels.
 */
bool watch_tell(struct watch *watch, double done);

#endif
