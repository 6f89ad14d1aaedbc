/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage collections of a Java machine, from the records 0x8b of its profile. */
#ifndef HELIO_EXPERIMENT_COLLECTIONS_H
#define HELIO_EXPERIMENT_COLLECTIONS_H

#include "base/memory.h"

#include <stdint.h>

struct collection {
	uint64_t begin_ns, end_ns; /* since the founder's start */
	uint64_t thread;	   /* the number of the one that did it */
};

/* In the order of their begin: their numbers are 1, 2 and so on. */
struct collections {
	VEC(struct collection) list;
	uint64_t sum_ns; /* how long all took */
};

/* The fields of a record, of this thread; NULL: it is damaged. */
const uint8_t *collections_read(struct collections *collections, uint64_t thread, const uint8_t *in,
				const uint8_t *end);
/* When all are read. */
void collections_sort(struct collections *collections);
/* The number of the one under way at a moment; 0: none.  `guess`: the last answer, or 0. */
size_t collections_at(const struct collections *collections, uint64_t time_ns, size_t guess);
void collections_fini(struct collections *collections);

#endif
