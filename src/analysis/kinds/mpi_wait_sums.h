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
	uint32_t call;	   /* its number among the process's */
	uint32_t node;	   /* of the process's stacks: the call path */
	uint32_t function; /* 1 + number of its name; 0: it has none */
	bool is_chosen;
};

/* A wait, before it is known whether it is the longest of its call. */
struct mpi_found_wait {
	struct mpi_wait_of {
		enum mpi_wait_kind kind;
		uint32_t world;
		int32_t waiter, other; /* ranks */
	} of;
	const struct mpi_place *waiter, *other; /* the caller's, until mpi_wait_sums_end */
	uint64_t ns;
};

struct mpi_wait_sums {
	struct session *session;
	enum mpi_waits_by by;
	struct mpi_matches *matches;
	VEC(struct mpi_found_wait) found;
	struct hash_map rows;	/* hash of what makes waits one row → index of the row */
	struct stack_set paths; /* by paths */
};

/*
 * Notes a wait if the call that waited is chosen.  Of several waits of one call, which all begin
 * with it, only the longest counts: that of an exchange for its sender and for its receiver, those
 * of a call that waits for many requests.
 */
void mpi_wait_sums_add(struct mpi_wait_sums *sums, const struct mpi_found_wait *wait);
/* Sums the waits up, sorts the sums, the longest first, and writes the call paths out. */
void mpi_wait_sums_end(struct mpi_wait_sums *sums);

#endif
