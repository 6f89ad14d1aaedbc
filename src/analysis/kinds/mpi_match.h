/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two ends of messages, and what waits for what.
 *
 * On one communicator the messages with one sender, receiver and tag are received in the order in
 * which they were sent: the n-th send belongs to the n-th receive that has had, by its status, that
 * sender and tag.  Receives count in the order of their posting.
 *
 * late sender: a receive, or a wait for one, was there before the send began: the time up to that.
 * late receiver: a blocking send was there before the receive began, and was over only after that.
 * wait at a collective: from a member's begin to that of the last one.
 */
#ifndef HELIO_ANALYSIS_MPI_MATCH_H
#define HELIO_ANALYSIS_MPI_MATCH_H

#include "base/arena.h"
#include "base/memory.h"

struct query;
struct session;

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
	VEC(struct mpi_wait) waits; /* the longest first */
	VEC(struct mpi_path) paths;
	struct arena arena; /* theirs */
};

/*
 * Ends are matched over all events, whatever filters choose, for both are needed.  Waits count
 * where the call that waited is chosen; messages and collective calls where one of their ends is.
 */
void mpi_match(struct session *session, const struct query *query, enum mpi_waits_by by,
	       struct mpi_matches *matches);
void mpi_matches_fini(struct mpi_matches *matches);

#endif
