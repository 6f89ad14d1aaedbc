/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by value, as lists that take memory for what there is only. Private to this module. */
#ifndef HELIO_ANALYSIS_INDEX_CELLS_H
#define HELIO_ANALYSIS_INDEX_CELLS_H

#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>

struct index_cell {
	uint64_t value; /* later: its number in the order of values */
	uint64_t amount;
};

/* Zero-initialised is empty. */
struct index_cells {
	VEC(struct index_cell) list;
	size_t united; /* so many were left when equal values were last made one */
};

/* Adds an amount; now and then makes equal values one, so that memory follows their number. */
void index_cells_add(struct index_cells *cells, uint64_t value, uint64_t amount);
/* Moves all of `from` behind `to`. */
void index_cells_append(struct index_cells *to, struct index_cells *from);
/* Orders by value, and makes those of one value one. */
void index_cells_unite(struct index_cells *cells);
void index_cells_fini(struct index_cells *cells);

#endif
