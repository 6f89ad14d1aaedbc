/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view of OpenMP's constructs: what the executions of each parallel region took, and what of
 * its threads' time was lost.
 *
 * With T threads, a region that lasts D has T * D of its threads' time, less what regions take that
 * they encounter in it: that is time of the inner ones, and <Total> has it once.  What of it is
 * work is measured in each thread; the rest is lost: at the region's barrier, in waits within, and
 * before threads begin.  T times what its longest thread worked, less the work of all, is what is
 * lost because work is unequal: it would be gone if all had the same.
 */
#ifndef HELIO_ANALYSIS_OMP_REGIONS_H
#define HELIO_ANALYSIS_OMP_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

struct query;
struct table;

/* One row per region, the one that most is lost in first; columns of its own. */
void view_omp_regions(struct session *session, const struct query *query, struct table *table);
/* The same of explicit tasks: their time, how many, from creation to begin. */
void view_omp_tasks(struct session *session, const struct query *query, struct table *table);

/* What is worth saying of one: shares are of its threads' time. */
struct omp_finding {
	const char *name;
	uint64_t calls, threads;
	double seconds; /* its duration */
	double lost, unequal;
	bool is_crowded; /* more threads than processors: no other work would save what is lost */
};

/*
 * Regions in which much of the program's time is lost, most first; at most `most`.  Returns how
 * many; names live as long as the session.
 */
size_t omp_find_lossy(struct session *session, const struct query *query, size_t most,
		      struct omp_finding *found);

#endif
