/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checksums of what an experiment holds: XXH64.  What comes in pieces has the sum of each piece as
 * the seed of the next.
 */
#ifndef HELIO_FORMAT_CHECKSUM_H
#define HELIO_FORMAT_CHECKSUM_H

#include "format/format.h"

#include <stddef.h>
#include <xxhash.h>

/* state: 0, or of the piece before. */
static inline uint64_t checksum_add(uint64_t state, const void *data, size_t size)
{
	return XXH64(data, size, state);
}

/* Of a finished block: its header with checksum 0, then its `used` bytes; never 0. */
static inline uint32_t format_checksum(const struct format_block_header *header,
				       const void *payload)
{
	struct format_block_header copy = *header;
	uint32_t sum;

	copy.checksum = 0;
	sum = (uint32_t)checksum_add(checksum_add(0, &copy, sizeof(copy)), payload, header->used);
	return sum ? sum : 1;
}

#endif
