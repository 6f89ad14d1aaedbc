/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results for programs that want arrays: the object of JSON, in which the rows of tables and the
 * cells of timelines are columns, and the columns are binary.
 *
 *   "HELIOSL1" | u32: bytes of the header | header: JSON | zeros up to a multiple of 8 | arrays
 *
 * All little-endian.  In the header {"$": "f64", "at": bytes behind the first array, "count": n}
 * stands for an array; "f64", "u32", "u8" are its numbers.  Each array begins at a multiple of 8;
 * "bytes" in the header is what all take.  One result follows the other.
 */
#ifndef HELIO_PRESENT_SLAB_H
#define HELIO_PRESENT_SLAB_H

#include "analysis/views/result.h"
#include "base/strbuf.h"
#include "present/layout.h"
#include "present/presenter.h"

#include <jansson.h>

/* The arrays of one result. */
struct slab {
	struct strbuf bytes;
};

/* The values of a column of a table; rows without values have NaN. */
json_t *slab_values(struct slab *slab, const struct table *table, const double *values,
		    size_t column);
/*
 * Adds "name" and "object", numbers of "texts", UINT32_MAX: none; and what else a row of such a
 * table has.
 */
void slab_add_places(struct slab *slab, json_t *columns, const struct table *table,
		     enum table_shape shape);
/* Adds "columns": "function" by lane and cell, "states" and "events" by name likewise (µs, counts).
 */
void slab_add_timeline(struct slab *slab, json_t *object, const struct timeline *timeline);

/* Writes the header and the arrays, and lets go of those. */
void slab_write(struct slab *slab, const char *header, size_t size, FILE *file);

#endif
