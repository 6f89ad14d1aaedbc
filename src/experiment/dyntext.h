/* SPDX-License-Identifier: Apache-2.0 */
/* dyntext: the code and the line table of functions that the program made and announced. */
#ifndef HELIO_EXPERIMENT_DYNTEXT_H
#define HELIO_EXPERIMENT_DYNTEXT_H

#include "base/arena.h"
#include "experiment/map.h"

struct dyntext {
	const uint8_t *code; /* NULL: it was not kept */
	size_t code_size;
	const struct format_line *lines;
	size_t line_count;
};

/*
 * Reads what was kept of a function into the arena.  STATUS_NOTFOUND: nothing
 * was; STATUS_DAMAGED: it cannot be read.
 */
enum status experiment_dyntext_read(const struct map_function *function, struct arena *arena,
				    struct dyntext *out);
/* The same of the constants that a method's bytecode refers to, as the code of a record. */
enum status experiment_dyntext_constants(const struct map_function *function, struct arena *arena,
					 struct dyntext *out);

/* How many of the functions that say so have nothing in the dyntext of this process. */
size_t experiment_dyntext_missing(const struct experiment_map *map,
				  const struct read_context *context);

#endif
