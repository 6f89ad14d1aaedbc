/* SPDX-License-Identifier: Apache-2.0 */
/* A sibling must lie behind all that was seen so far: no damaged file makes a walk go round. */
#include "object/types/die_walk.h"

#include <dwarf.h>

static void walk_below(struct die_walk *walk, Dwarf_Die *parent, unsigned at)
{
	Dwarf_Die die, next;
	int status = dwarf_child(parent, &die);

	walk->is_damaged |= status < 0 || at == DIE_DEPTH_MAX;
	if (status || at == DIE_DEPTH_MAX)
		return;
	for (;; die = next) {
		walk->reached = die.addr;
		if (walk->enter(walk, &die, at)) {
			walk_below(walk, &die, at + 1);
			if (walk->leave)
				walk->leave(walk, &die, at);
		}
		status = dwarf_siblingof(&die, &next);
		if (!status && next.addr <= walk->reached)
			status = -1;
		if (status) {
			walk->is_damaged |= status < 0;
			return;
		}
	}
}

void die_walk_run(struct die_walk *walk, Dwarf_Die *parent)
{
	walk->reached = parent->addr;
	walk_below(walk, parent, 0);
}

bool die_is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type: /* Rust puts functions there */
		return true;
	default:
		return false;
	}
}
