/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_BASE_ARRAY_H
#define HELIO_BASE_ARRAY_H

/* How many items an array has; of a pointer it makes no sense. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
