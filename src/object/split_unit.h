/* SPDX-License-Identifier: Apache-2.0 */
/* Split DWARF: the part of a unit that is in a .dwo file or in a package of them (.dwp). */
#ifndef HELIO_OBJECT_SPLIT_UNIT_H
#define HELIO_OBJECT_SPLIT_UNIT_H

#include "object/lines_private.h"

/*
 * The DIE of a unit with its functions: its own, or that of the split unit
 * whose skeleton it is.  False: there is none, which is said once.
 */
bool split_unit_die(struct lines *lines, struct unit *unit, Dwarf_Die *die);

struct split_package;
void split_package_close(struct split_package *package);

#endif
