/* SPDX-License-Identifier: Apache-2.0 */
/* Split DWARF: the part of a unit that is in a .dwo file or in a package of them (.dwp). */
#ifndef HELIO_OBJECT_SPLIT_UNIT_H
#define HELIO_OBJECT_SPLIT_UNIT_H

#include "object/elf/split_ranges.h"
#include "object/lines/lines_private.h"

struct split_unit {
	Dwarf_Die die;
	bool is_packed; /* libdw cannot read its ranges and lists of locations */
	struct split_ranges ranges, locations; /* of such a one */
	const char *problem; /* why its debug information is there and not read, or NULL */
};

/*
 * The DIE of a unit with its functions: its own, or that of the split unit
 * whose skeleton it is.  False: there is none, which is said once.
 */
bool split_unit_find(struct lines *lines, struct unit *unit, struct split_unit *out);

/* Calls visit for the ranges of a DIE of the unit, until it returns false. */
void split_unit_each_range(const struct split_unit *unit, Dwarf_Die *die,
			   bool (*visit)(const uint64_t range[2], void *arg), void *arg);

/* The list of locations of an attribute of a unit that is packed. False: there is none. */
bool split_unit_locations(const struct split_unit *unit, Dwarf_Attribute *attribute,
			  struct split_cursor *out);

struct split_store;
void split_store_free(struct split_store *store);

#endif
