/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search in vectors (base/memory.h) that are sorted by a number. */
#ifndef HELIO_BASE_SEARCH_H
#define HELIO_BASE_SEARCH_H

#include <stddef.h>

/* How many items have a `field` of at most `key`: they are the first ones. */
#define VEC_UP_TO(vector, field, key)                                                              \
	__extension__({                                                                            \
		size_t low_ = 0, high_ = (vector)->count;                                          \
                                                                                                   \
		while (low_ < high_) {                                                             \
			size_t middle_ = low_ + (high_ - low_) / 2;                                \
                                                                                                   \
			if ((vector)->items[middle_].field <= (key))                               \
				low_ = middle_ + 1;                                                \
			else                                                                       \
				high_ = middle_;                                                   \
		}                                                                                  \
		low_;                                                                              \
	})

#endif
