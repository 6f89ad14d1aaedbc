/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction that an event counts for, where that is not the one that was interrupted.
 * Private to this module.
 *
 *   in the kernel      the instruction that called it, not the one that it returns to
 *   watch points, and  the instruction whose access was counted: the last one before the stop
 *   precise counters   that accesses memory.  Beyond an instruction that branches lead to nobody
 *                      knows what ran before it: the event then counts for <branch target>, an
 *                      artificial instruction in front of that one
 */
#ifndef HELIO_ANALYSIS_ATTRIBUTION_H
#define HELIO_ANALYSIS_ATTRIBUTION_H

#include "analysis/session/session_state.h"

/*
 * Moves the events of one process to such instructions; before tree_add_process().  Recordings of
 * gprofng stay as they are, which charges what follows.
 */
void attribution_events(struct session *session, const struct experiment *experiment,
			struct process *process);

/* Of a counter's name, as in the log: a watch point of data, which stops behind the access. */
bool attribution_is_watch(const char *counter);
/* Whether its events are recorded some way behind the access that they are about. */
bool attribution_skids(const struct log_counter *counter);

#endif
