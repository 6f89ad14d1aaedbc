/* SPDX-License-Identifier: Apache-2.0 */
/* What waited for what in MPI: see mpi_match.h. */
#ifndef HELIO_ANALYSIS_MPI_WAITS_H
#define HELIO_ANALYSIS_MPI_WAITS_H

#include "base/arena.h"
#include "base/memory.h"

enum mpi_wait_kind { MPI_LATE_SENDER, MPI_LATE_RECEIVER, MPI_WAIT_AT_COLLECTIVE, MPI_WAIT_KINDS };

/* What makes waits one row: who waited for whom in which functions, or by which call paths. */
enum mpi_waits_by { MPI_BY_RANKS, MPI_BY_PATHS };

struct mpi_path {
	const char **frames; /* leaf first */
	size_t depth;
};

/* Waits of one kind, of one function of who waits, for one of the others'. */
struct mpi_wait {
	enum mpi_wait_kind kind;
	uint32_t world;		   /* by ranks */
	int32_t waiter, other;	   /* by ranks; of a collective function the one that came last */
	uint32_t path, other_path; /* by paths: indexes into the paths */
	const char *function, *other_function;
	uint64_t count, total_ns, longest_ns;
};

struct mpi_matches {
	uint64_t messages; /* both of whose ends are known */
	uint64_t sends_alone, receives_alone;
	uint64_t collectives;	    /* all of whose members are known */
	uint64_t parted;	    /* programs, where experiments seem to be ranks of one; or 0 */
	uint64_t clocks;	    /* that were put on one line; 0: there is one */
	uint64_t unknown_clocks;    /* … by machines' wall clocks, since no messages tell */
	double clock_error_s;	    /* how far times of two hosts may be off each other */
	VEC(struct mpi_wait) waits; /* the longest first */
	VEC(struct mpi_path) paths;
	struct arena arena; /* theirs */
};

#endif
