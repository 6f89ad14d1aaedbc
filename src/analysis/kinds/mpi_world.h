/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who the processes of MPI programs are: their ranks, and the communicators that join them.
 * Private to this module.
 */
#ifndef HELIO_ANALYSIS_MPI_WORLD_H
#define HELIO_ANALYSIS_MPI_WORLD_H

#include "analysis/session/session_state.h"
#include "base/hash.h"

enum { MPI_RANK_UNKNOWN = -1 };

/* Ranks a, a + step, ...: kept as they are written, for a short text may list millions. */
struct mpi_range {
	int32_t first, step;
	uint64_t before, count; /* ranks in the ranges before this one, and in this one */
};

struct mpi_ranks {
	VEC(struct mpi_range) ranges;
	uint64_t count; /* of ranks */
};

/* A communicator, or the group of a window or file. */
struct mpi_comm {
	uint32_t world; /* whose ranks it has */
	uint32_t both; /* index of the one that has this number for both its groups, or of itself */
	const char *name;     /* "" : it has none */
	const char *identity; /* what its members call it beside the name: N:RANKS */
	/* The ranks in MPI_COMM_WORLD of its members, and of those that one communicates with. */
	struct mpi_ranks members;
	struct mpi_ranks peers; /* of an inter-communicator; else none: the members are */
};

/* The processes of one MPI_COMM_WORLD. */
struct mpi_world {
	uint32_t group; /* of comparisons, that its processes are of */
};

struct mpi_process {
	int32_t rank; /* MPI_RANK_UNKNOWN: it is none */
	uint32_t world;
	size_t texts;
	uint32_t *comms;     /* by number of a text: 1 + index of a communicator, 0: none */
	uint32_t *functions; /* likewise: 1 + number of the function's name, 0: none */
};

struct mpi_clocks;

struct mpi_worlds {
	struct arena arena;
	VEC(struct mpi_world) worlds;
	struct hash_map taken; /* world << 32 | rank → the process that has it */
	VEC(struct mpi_comm) comms;
	struct string_table identities; /* "world identity" → index of a communicator */
	struct string_table functions;	/* names */
	struct mpi_process *of;		/* by process of the session */
	size_t processes;
	struct mpi_clocks *clocks;			/* mpi_match.h; NULL: not asked for yet */
	void (*free_clocks)(struct mpi_clocks *clocks); /* what made them sets it */
};

/* Made when it is first asked for; lives as long as the session. */
struct mpi_worlds *mpi_worlds_of(struct session *session);

/* The rank in MPI_COMM_WORLD of an event's peer, or MPI_RANK_UNKNOWN. */
int32_t mpi_peer_rank(const struct mpi_worlds *worlds, const struct mpi_process *process,
		      uint64_t communicator, uint64_t peer);
/* Of an event: 1 + index of its communicator, 0: none; the same of its function's name. */
uint32_t mpi_comm_of(const struct mpi_process *process, uint64_t text);
uint32_t mpi_function_of(const struct mpi_process *process, uint64_t text);

#endif
