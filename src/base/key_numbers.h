/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for distinct 64-bit keys: 0, 1, 2 and so on as they are first met.  It takes half of what
 * a map from each key to its number would: a slot of the table is the number alone.
 */
#ifndef HELIO_BASE_KEY_NUMBERS_H
#define HELIO_BASE_KEY_NUMBERS_H

#include "base/hash.h"
#include "base/memory.h"

/* Zero-initialised is empty. */
struct key_numbers {
	VEC(uint64_t) keys;
	struct pair_set known;
};

/* The number of the key: how many there were before, if it is a new one. */
static inline uint32_t key_numbers_put(struct key_numbers *numbers, uint64_t key)
{
	uint32_t fresh = (uint32_t)numbers->keys.count;
	uint32_t number = pair_set_put(&numbers->known, numbers->keys.items, (uint32_t)key,
				       (uint32_t)(key >> 32), fresh);

	if (number == fresh)
		*vec_push(&numbers->keys) = key;
	return number;
}

static inline void key_numbers_fini(struct key_numbers *numbers)
{
	vec_fini(&numbers->keys);
	pair_set_fini(&numbers->known);
}

#endif
