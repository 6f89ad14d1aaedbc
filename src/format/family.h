/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes of a family have in common while they are recorded: it lies in the header of
 * the founder's file `profile`, in front of what the founder has left, and every process has
 * that page mapped.  All of it is changed by single atomic operations.
 */
#ifndef HELIO_FORMAT_FAMILY_H
#define HELIO_FORMAT_FAMILY_H

#include "format/own_use.h"

enum { FAMILY_LINES = 8 };

struct format_family {
	/* What processes that have ended left of their clock interval, for the next ones to begin
	 * with; 0: nothing.  collector/sources/clock_line.c. */
	uint64_t lines[FAMILY_LINES];
	/* Ticks at the first, short interval, in all processes; what they took, their delivery
	 * left out; and what that takes on this machine, 0: not known. */
	uint64_t first_ticks, first_cost_ns, delivery_ns;
	uint64_t widened_ns; /* since the start: when there were enough of them; 0: not yet */
};

enum { FAMILY_OFFSET = LEFT_OFFSET - sizeof(struct format_family) };

#endif
