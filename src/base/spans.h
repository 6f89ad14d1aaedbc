/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans of time in order of their begin, and which of them overlap a range: of each block of them
 * the last end is known, so that those before the range are passed over a block at a time.
 */
#ifndef HELIO_BASE_SPANS_H
#define HELIO_BASE_SPANS_H

#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t begin_ns, end_ns;
};

/* Zero-initialised is empty. */
struct spans {
	VEC(struct span) items;
	VEC(uint64_t) last_ns; /* of each block: the last end */
};

enum { SPANS_BLOCK = 512 };

/* The next one: it begins no earlier than those before. */
static inline void spans_add(struct spans *spans, struct span span)
{
	size_t block = spans->items.count / SPANS_BLOCK;

	*vec_push(&spans->items) = span;
	if (block == spans->last_ns.count)
		*vec_push(&spans->last_ns) = span.end_ns;
	else if (span.end_ns > spans->last_ns.items[block])
		spans->last_ns.items[block] = span.end_ns;
}

/*
 * The first one from number `i` on that begins before the end of a range (0: it has none) and ends
 * at its begin or later; or SIZE_MAX.
 */
static inline size_t spans_next(const struct spans *spans, size_t i, uint64_t begin_ns,
				uint64_t end_ns)
{
	while (i < spans->items.count) {
		const struct span *span = &spans->items.items[i];

		if (end_ns && span->begin_ns >= end_ns)
			return SIZE_MAX;
		if (span->end_ns >= begin_ns)
			return i;
		i = spans->last_ns.items[i / SPANS_BLOCK] < begin_ns
			    ? (i / SPANS_BLOCK + 1) * SPANS_BLOCK
			    : i + 1;
	}
	return SIZE_MAX;
}

static inline size_t spans_size(const struct spans *spans)
{
	return spans->items.count * sizeof(struct span) + spans->last_ns.count * sizeof(uint64_t);
}

static inline void spans_fini(struct spans *spans)
{
	vec_fini(&spans->items);
	vec_fini(&spans->last_ns);
}

#endif
