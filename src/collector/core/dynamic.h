/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the program made and announced; one caller at a time. */
#ifndef HELIO_COLLECTOR_DYNAMIC_H
#define HELIO_COLLECTOR_DYNAMIC_H

#include "format/format.h"

#include <stdbool.h>
#include <stdint.h>

struct dynamic_function {
	const char *name, *alias, *source; /* "": not given */
	uint64_t start, size;
	const struct format_line *lines;
	uint32_t line_count;
	const void *code; /* a copy of it to keep, for dynamic_add */
	uint64_t code_size;
	uint64_t constants; /* what dynamic_keep_constants() gave for those that the code refers to,
			       or 0 */
	bool late;	    /* it ran before: what was there without a name is this */
};
/* Adds a function at addresses that machine code never has (those of bytecode): it keeps them in
 * all epochs. */
void dynamic_add(const struct dynamic_function *function);
/* Keeps constants that such functions refer to: where in dyntext, or 0: they could not be kept. */
uint64_t dynamic_keep_constants(const void *bytes, uint64_t size);
void dynamic_load(const struct dynamic_function *function);
void dynamic_unload(uint64_t start);
/* As dynamic_unload(), of a function that cannot be in any stack any more: the epoch ends only when
 * another one takes its place. */
void dynamic_retire(uint64_t start);
/* In the child of a fork: what the parent had announced holds here too. */
void dynamic_inherit(void);

#endif
