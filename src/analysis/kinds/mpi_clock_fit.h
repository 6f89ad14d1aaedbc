/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one clock shows more than another, as a straight line over time: an offset and a drift.
 *
 * Of two moments, one by each clock, it is known which came first: what was received had been sent
 * before.  Each such pair bounds the difference from one side; the lines that keep all bounds are
 * a corridor.  The line taken is in its middle, and how far the corridor reaches from it, anywhere
 * in the time asked for, is its error: the true line, if clocks are lines, is no further.  Private
 * to this module.
 */
#ifndef HELIO_ANALYSIS_MPI_CLOCK_FIT_H
#define HELIO_ANALYSIS_MPI_CLOCK_FIT_H

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>

/* The difference, ns, at a time of the other clock is at least, or at most, so much. */
struct clock_bound {
	double at_ns, difference_ns;
};

struct clock_bound_list {
	struct clock_bound *items;
	size_t count, capacity;
};

struct clock_bounds {
	struct clock_bound_list least, most;
};

struct clock_line {
	double offset_ns, drift; /* the difference at a time is offset_ns + drift * time */
	double error_ns;
};

/* To the least or the most ones.  Of many, those that say nothing more are left out. */
void clock_bounds_add_least(struct clock_bounds *bounds, struct clock_bound bound);
void clock_bounds_add_most(struct clock_bounds *bounds, struct clock_bound bound);
/*
 * From bounds that it sorts and thins out, for times from begin_ns to end_ns.  False: one side has
 * no bound.  Where no line keeps all bounds, the error is how far the best one is from them.
 */
bool clock_line_fit(struct clock_bounds *bounds, double begin_ns, double end_ns,
		    struct clock_line *line);
void clock_bounds_fini(struct clock_bounds *bounds);

#endif
