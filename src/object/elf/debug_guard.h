/* SPDX-License-Identifier: Apache-2.0 */
/* Whether libdw can be let read debug information, or would take all memory and time for it. */
#ifndef HELIO_OBJECT_DEBUG_GUARD_H
#define HELIO_OBJECT_DEBUG_GUARD_H

#include "object/elf/elf_file.h"

/* NULL: it can; else what is wrong with it. */
const char *debug_guard_look(Elf *elf);

#endif
