/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage collections of a Java machine, from the records 0x8b and 0x8c of its profile. */
#ifndef HELIO_EXPERIMENT_COLLECTIONS_H
#define HELIO_EXPERIMENT_COLLECTIONS_H

#include "base/hash.h"
#include "base/memory.h"

#include <stdint.h>

/* It may take 3 bytes of the file, and there may be millions: each byte here counts. */
struct collection {
	uint64_t begin_ns, end_ns; /* since the founder's start */
	uint32_t thread;	   /* the number of the one that did it */
	uint32_t more;		   /* collections_more() */
};

/* What else is known of some. */
struct collection_more {
	uint64_t before, after;	   /* bytes of the heap in use, plus 1; 0: not known */
	uint32_t cause, collector; /* collections_words() */
};

/* In the order of their begin: their numbers are 1, 2 and so on. */
struct collections {
	VEC(struct collection) list;
	VEC(struct collection_more) more;
	uint64_t sum_ns; /* how long all took */
	struct string_table words;
};

/* The fields of a record, of this thread; NULL: it is damaged. */
const uint8_t *collections_read(struct collections *collections, uint64_t thread, const uint8_t *in,
				const uint8_t *end);
/* The same for what else is said of the one that was read last. */
const uint8_t *collections_read_more(struct collections *collections, uint64_t thread,
				     const uint8_t *in, const uint8_t *end);
/* What else is known of one of them: zeros, where that is nothing. */
const struct collection_more *collections_more(const struct collections *collections,
					       const struct collection *one);
/* A cause or a collector; "": it is not known. */
const char *collections_words(const struct collections *collections, uint32_t words);
/* When all are read. */
void collections_sort(struct collections *collections);
/* The number of the one under way at a moment; 0: none.  `guess`: the last answer, or 0. */
size_t collections_at(const struct collections *collections, uint64_t time_ns, size_t guess);
void collections_fini(struct collections *collections);

#endif
