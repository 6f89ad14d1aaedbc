/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way over the events: those that the filter and the selections choose, as pieces of
 * runs, by as many threads as there are processors.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_SCAN_H
#define HELIO_ANALYSIS_SCAN_H

#include "analysis/tree/tally.h"

/* A piece of a run, at most ROWS_PAGE long, whose columns can be read. */
struct scan_piece {
	const struct tally *tally;
	const struct session_process *process;
	const struct event_run *run;
	struct measuring measuring; /* all but the sums */
};

/* How many threads a scan may use, by HELIO_THREADS or the processors: as many states to make. */
size_t scan_threads(void);
/* How many of them so many rows are worth. */
size_t scan_threads_for(size_t rows);
/*
 * Calls visit(piece, states[i]) for all pieces of a process; a state is used by one thread at a
 * time.  Which pieces go to which state depends on the number of threads: what is made of all
 * states together must not.
 */
void scan_process(const struct tally *tally, const struct session_process *process,
		  void (*visit)(const struct scan_piece *piece, void *state), void *const *states);
/* The same by one thread: kind by kind, each in the order of the file. */
void scan_in_order(const struct tally *tally, const struct session_process *process,
		   void (*visit)(const struct scan_piece *piece, void *state), void *state);

#endif
