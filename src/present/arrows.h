/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows from jumps to where they go, as a column of text before the lines of a disassembly. */
#ifndef HELIO_PRESENT_ARROWS_H
#define HELIO_PRESENT_ARROWS_H

#include "analysis/views/table.h"

struct arrows {
	char *text; /* `width` characters per row; NULL: there are no jumps */
	size_t width;
};

void arrows_init(struct arrows *arrows, const struct table *table);
/* What stands before a row, not terminated; width characters. */
const char *arrows_row(const struct arrows *arrows, size_t row);
void arrows_fini(struct arrows *arrows);

#endif
