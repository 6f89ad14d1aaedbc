/* SPDX-License-Identifier: Apache-2.0 */
/* Address ranges and location lists of a split unit that libdw does not know the skeleton of. */
#ifndef HELIO_OBJECT_SPLIT_RANGES_H
#define HELIO_OBJECT_SPLIT_RANGES_H

#include "object/elf/cursor.h"

/* What ranges, or the ranges of locations, are made of. */
struct split_ranges {
	bool is_old;   /* DWARF 4: pairs of addresses, else range lists */
	uint64_t base; /* where the skeleton's code begins */
	/* the unit's part of .debug_ranges or .debug_rnglists.dwo; .debug_loc.dwo or
	 * .debug_loclists.dwo */
	struct bytes lists;
	struct bytes addresses; /* the unit's part of .debug_addr */
};

/* Reads one list. */
struct split_cursor {
	const struct split_ranges *ranges;
	struct cursor at;
	uint64_t base;
};

/* The list at an offset, or, in DWARF 5, with an index. */
struct split_cursor split_ranges_at(const struct split_ranges *ranges, uint64_t offset);
struct split_cursor split_ranges_with(const struct split_ranges *ranges, uint64_t index);
/* The next range, or false at the end. */
bool split_ranges_next(struct split_cursor *cursor, uint64_t *start, uint64_t *end);
/* The same of a list of locations, with the expression that holds there. */
bool split_locations_next(struct split_cursor *cursor, uint64_t *start, uint64_t *end,
			  struct bytes *expression);

#endif
