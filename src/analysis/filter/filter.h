/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language of filters (query.h).  Numbers are unsigned 64-bit (decimal, 0x…, octal with a
 * leading 0), names are those of `filter_property_at`, letters' case aside.  Operators and their
 * precedence are those of C; IN, SOME IN and ORDERED IN bind as < does, and a comma between what
 * stands after them makes a list.  A property that an event does not have is unknown: so is what is
 * computed from it, unless the rest decides alone (`x || TRUE`); an unknown result does not count.
 */
#ifndef HELIO_ANALYSIS_FILTER_H
#define HELIO_ANALYSIS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word of the language. */
struct filter_property_info {
	const char *name;
	const char *description;
	const char *kinds; /* "clock, heap", or "" where no kind of data has it */
};
/* False after the last. */
bool filter_property_at(size_t index, struct filter_property_info *info);
/* The functions of the language: FNAME("re") and so on. */
bool filter_function_at(size_t index, struct filter_property_info *info);

#endif
