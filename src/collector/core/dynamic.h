/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the program made and announced; one caller at a time. */
#ifndef HELIO_COLLECTOR_DYNAMIC_H
#define HELIO_COLLECTOR_DYNAMIC_H

#include "format/format.h"

#include <stdint.h>

struct dynamic_function {
	const char *name, *alias, *source; /* "": not given */
	uint64_t start, size;
	const struct format_line *lines;
	uint32_t line_count;
};
void dynamic_load(const struct dynamic_function *function);
void dynamic_unload(uint64_t start);
/* In the child of a fork: what the parent had announced holds here too. */
void dynamic_inherit(void);

#endif
