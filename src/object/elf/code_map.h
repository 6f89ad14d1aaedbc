/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address -> function.  All code is cut into spans that do not overlap; each
 * belongs to one known function, to a range without a symbol, or to no code.
 * Nesting and overlaps of functions are settled when the map is built, so that
 * a look-up is one binary search.
 */
#ifndef HELIO_OBJECT_CODE_MAP_H
#define HELIO_OBJECT_CODE_MAP_H

#include "object/elf/symbols.h"

#define SPAN_OUTSIDE  UINT32_MAX       /* no code */
#define SPAN_STRIPPED (UINT32_MAX - 1) /* code, but no symbol */

struct span {
	uint64_t start;	   /* it ends where the next begins; the last is SPAN_OUTSIDE */
	uint32_t function; /* index of a symbol, or one of the above */
	bool is_entry;	   /* no symbol, but an entry point is where it begins */
};
struct code_map {
	struct span *items;
	size_t count, capacity;
};

/*
 * Symbols: merged and extended.  Of overlapping functions the one that begins
 * last wins; a range without a symbol is cut at each entry point.
 */
void code_map_build(struct code_map *map, const struct code_ranges *ranges,
		    const struct symbol_list *symbols, const struct address_list *entries);
/* The span that holds the address, or NULL before the first. */
struct span *code_map_find(const struct code_map *map, uint64_t address);

#endif
