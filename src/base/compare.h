/* SPDX-License-Identifier: Apache-2.0 */
/* For functions that qsort is given. */
#ifndef HELIO_BASE_COMPARE_H
#define HELIO_BASE_COMPARE_H

/* Returns from the function unless the two are equal; the next one is compared then. */
#define COMPARE(x, y)                                                                              \
	do {                                                                                       \
		if ((x) != (y))                                                                    \
			return (x) < (y) ? -1 : 1;                                                 \
	} while (0)

#endif
