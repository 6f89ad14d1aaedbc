/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of the process's mappings. */
#ifndef HELIO_COLLECTOR_MAPS_H
#define HELIO_COLLECTOR_MAPS_H

#include "collector/core/map_line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Visits all of them. `room` holds `size` bytes, more than the longest line; a longer one ends it.
 * False: they cannot be read. Not in a handler. */
bool maps_for_each(char *room, size_t size, void (*visit)(const struct map_line *line, void *arg),
		   void *arg);

/*
 * Tells map.xml of load objects' code that the program has mapped itself, beside the dynamic
 * linker: V8 maps a part of its own program once more, near the code that it makes.  At the end,
 * where samples have met code of no object, and at a late beginning. Not in a handler.
 */
void maps_log_code(void);
/* Of a mapping that the program has just made of a file, to be executed. Not in a handler. */
void maps_mapped(void *address, size_t size, int fd, uint64_t offset);

/* Before another map.xml begins: in a new recording, in the child of a fork. */
void maps_forget(void);

#endif
