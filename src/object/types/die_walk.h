/* SPDX-License-Identifier: Apache-2.0 */
/* All DIEs below one, each once, whatever a damaged file says. */
#ifndef HELIO_OBJECT_DIE_WALK_H
#define HELIO_OBJECT_DIE_WALK_H

#include <elfutils/libdw.h>
#include <stdbool.h>

enum { DIE_DEPTH_MAX = 500 };
struct die_walk {
	/* Whether to go on below it; at is how deep it lies, from 0. */
	bool (*enter)(struct die_walk *walk, Dwarf_Die *die, unsigned at);
	/* After what is below one that was entered; or NULL. */
	void (*leave)(struct die_walk *walk, Dwarf_Die *die, unsigned at);
	const void *reached;
	bool is_damaged;
};
void die_walk_run(struct die_walk *walk, Dwarf_Die *parent);
/* Whether there may be functions and variables below such a DIE, besides functions. */
bool die_is_scope(int tag);

#endif
