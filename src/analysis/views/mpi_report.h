/* SPDX-License-Identifier: Apache-2.0 */
/* Reports on MPI tracing: functions, ranks, sizes of messages, who sends to whom. */
#ifndef HELIO_ANALYSIS_MPI_REPORT_H
#define HELIO_ANALYSIS_MPI_REPORT_H

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>

struct session;

struct query;

enum { MPI_SIZE_CLASSES = 48 }; /* 0: no byte; n: from 2^(n-1) on, below 2^n */

struct mpi_call_sums {
	uint64_t calls, total_ns, longest_ns;
	uint64_t sends, sent, receives, received, arrived;
	uint64_t errors;
};

struct mpi_function_sums {
	const char *name;
	struct mpi_call_sums sums;
};

struct mpi_rank_sums {
	uint32_t process; /* its id */
	uint32_t world;
	int32_t rank;
	uint64_t run_ns; /* of its recording */
	struct mpi_call_sums sums;
	uint64_t wait_ns, collective_ns; /* parts of the total */
};

/* Messages from one rank to another: the sender's calls that name a receiver. */
struct mpi_pair {
	uint32_t world;
	int32_t from, to;
	uint64_t messages, bytes;
};

/* A machine's clock, where a group of ranks has several (mpi_clocks.h). */
struct mpi_clock_info {
	const char *host; /* NULL: not known */
	uint64_t ranks;
	double ahead_s;	  /* of the first rank's, at the begin */
	double drift_ppm; /* how much faster it goes than that one */
	bool is_known;	  /* messages tell: */
	double error_s;	  /* … how far it may be off */
};

/* A communicator, or the group of a window or file. */
struct mpi_comm_info {
	uint32_t number; /* MPICOMM */
	uint32_t world;
	const char *name;     /* "": it has none */
	const char *identity; /* N:RANKS: docs/format.md, mpitrace */
	uint64_t size;	      /* members of all its groups */
};

struct mpi_report {
	VEC(struct mpi_function_sums) functions; /* by time, the largest first */
	VEC(struct mpi_rank_sums) ranks;	 /* by world and rank */
	VEC(struct mpi_pair) pairs;		 /* by world, sender and receiver */
	uint64_t sizes[MPI_SIZE_CLASSES];	 /* of those messages */
	uint64_t messages;
	VEC(struct mpi_clock_info) clocks; /* none: each group has one */
};

/* Of the chosen events; all texts live as long as the session. */
void view_mpi_report(struct session *session, const struct query *query, struct mpi_report *report);
void mpi_report_fini(struct mpi_report *report);
/* The communicators that traces name, by their numbers from 0 on; false: there are no more. */
bool view_mpi_comm(struct session *session, size_t index, struct mpi_comm_info *info);

#endif
