/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses in an object's code, [start, end). */
#ifndef HELIO_OBJECT_CODE_RANGE_H
#define HELIO_OBJECT_CODE_RANGE_H

#include <stdint.h>

struct code_range {
	uint64_t start, end;
};

#endif
