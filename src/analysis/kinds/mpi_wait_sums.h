/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of waits of ranks for others, by ranks or by call paths.  Private to this module. */
#ifndef HELIO_ANALYSIS_MPI_WAIT_SUMS_H
#define HELIO_ANALYSIS_MPI_WAIT_SUMS_H

#include "analysis/kinds/mpi_waits.h"
#include "analysis/tree/stack_set.h"
#include "base/hash.h"

/* A call that waited, or that was waited for. */
struct mpi_place {
	uint32_t process;  /* its index in the session */
	uint32_t node;	   /* of the process's stacks: the call path */
	uint32_t function; /* 1 + number of its name; 0: it has none */
	bool is_chosen;
};

struct mpi_wait_sums {
	struct session *session;
	enum mpi_waits_by by;
	struct mpi_matches *matches;
	struct hash_map rows;	/* hash of what makes waits one row → index of the row */
	struct stack_set paths; /* by paths */
};

/*
 * Adds a wait of `ns` if the call that waited is chosen.  `wait` has its kind, world and ranks;
 * the places give the rest.
 */
void mpi_wait_sums_add(struct mpi_wait_sums *sums, struct mpi_wait wait,
		       const struct mpi_place *waiter, const struct mpi_place *other, uint64_t ns);
/* Sorts the waits, the longest first, and writes the call paths out. */
void mpi_wait_sums_end(struct mpi_wait_sums *sums);

#endif
