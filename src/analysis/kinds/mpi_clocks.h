/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clocks of hosts put on one line.
 *
 * Times of a process count from its experiment's begin, by CLOCK_MONOTONIC of the machine that it
 * ran on (docs/format.md: clock).  Processes of one machine are put on one line exactly.  Of two
 * machines it is known that what came from the one had been sent before it was there at the other
 * (mpi_clock_fit.h); a machine that exchanges nothing with the first rank's is reached by way of
 * others.  Where nothing came both ways, the machines' wall clocks have to do, and the error is not
 * known.
 *
 * Experiments of one group of comparisons that were recorded at once are shown at once: they have
 * one line, which begins with the first of them.  One that ran alone begins at 0, as do those of
 * another group, however much later they were.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_MPI_CLOCKS_H
#define HELIO_ANALYSIS_MPI_CLOCKS_H

#include "analysis/kinds/mpi_clock_fit.h"
#include "analysis/kinds/mpi_world.h"
#include "analysis/views/mpi_report.h"

/* The time on the line is that of the clock, since base_ns, plus `line` at it. */
struct mpi_clock {
	uint32_t group;
	const char *host;	 /* NULL: not known */
	uint64_t ranks;		 /* processes of MPI that have it */
	uint64_t base_ns;	 /* where its own times count from */
	uint64_t wall_ns;	 /* what CLOCK_REALTIME showed more, modulo 2^64 */
	double begin_ns, end_ns; /* of what is recorded by it */
	struct clock_line line;
	bool is_known; /* the line and its error */
};

/* A time of the line: that of the process, its share in the drift and the shift added. */
struct clock_shift {
	int64_t shift_ns;
	double drift;
};

struct mpi_process_clock {
	uint32_t clock;	 /* its index, or HASH_NONE */
	int64_t base_ns; /* added to a time of the process: one of the clock */
	struct clock_shift shift;
};

/* Bounds between two clocks, x having the smaller index: what x shows more than y, at y's time. */
struct mpi_clock_pair {
	uint32_t x, y;
	struct clock_bounds bounds;
	struct clock_line line;
	bool is_fit;
};

struct mpi_clocks {
	VEC(struct mpi_clock) clocks;
	struct mpi_process_clock *of; /* by process of the session */
	size_t processes;
	bool are_several;	   /* of some group: what is not known is to be found out */
	bool is_partial;	   /* it was cancelled: the next question makes them anew */
	struct mpi_clocks *before; /* such ones, which the cancelled question may still read */
	VEC(struct mpi_clock_pair) pairs;
	struct hash_map pair_of; /* x << 32 | y → its pair */
};

/* Which clock each process has; nothing is known of how they differ so far. */
struct mpi_clocks *mpi_clocks_new(const struct session *session, const struct mpi_worlds *worlds);
/* One process's time was before another's.  Of processes of one clock that says nothing. */
void mpi_clocks_note(struct mpi_clocks *clocks, uint32_t process, uint64_t time_ns,
		     uint32_t later_process, uint64_t later_ns);
void mpi_clocks_fit(struct mpi_clocks *clocks, const struct session *session);
/* With those before. */
void mpi_clocks_free(struct mpi_clocks *clocks);

static inline uint64_t clock_shift_time(const struct clock_shift *shift, uint64_t time_ns)
{
	uint64_t time = time_ns + (uint64_t)shift->shift_ns;

	if (shift->drift != 0)
		time += (uint64_t)(int64_t)(shift->drift * (double)time_ns);
	return (int64_t)time > 0 ? time : 0;
}

/* An event is as long as it was by its own clock. */
static inline void clock_shift_event(const struct clock_shift *shift, uint64_t *begin_ns,
				     uint64_t *end_ns)
{
	uint64_t took_ns = *end_ns - *begin_ns;

	*end_ns = clock_shift_time(shift, *end_ns);
	*begin_ns = *end_ns > took_ns ? *end_ns - took_ns : 0;
}

/* A time of a process, by its index, on the line. */
static inline uint64_t mpi_clocks_time(const struct mpi_clocks *clocks, size_t process,
				       uint64_t time_ns)
{
	return clock_shift_time(&clocks->of[process].shift, time_ns);
}

/* Whether a group has more than one. */
bool mpi_clocks_are_several(const struct mpi_clocks *clocks, uint32_t group);
/* What people are told of a clock. */
struct mpi_clock_info mpi_clocks_info(const struct mpi_clocks *clocks, uint32_t clock);

#endif
