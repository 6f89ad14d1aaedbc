/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checksum of a finished block: FNV-1a over 64-bit words instead of bytes,
 * folded to 32 bits.  Eight bytes a step, no table; a change of any one word
 * always changes the 64-bit state.  A product's bits depend on lower ones only: so its upper half
 * is brought down in each step, or changes of two words' highest bits would cancel.
 */
#ifndef HELIO_FORMAT_CHECKSUM_H
#define HELIO_FORMAT_CHECKSUM_H

#include "format/format.h"

#include <stddef.h>
#include <string.h>

static inline uint64_t checksum_add(uint64_t state, const void *data, size_t size)
{
	const uint8_t *byte = (const uint8_t *)data;

	for (uint64_t word; size; byte += sizeof(word)) {
		size_t step = size < sizeof(word) ? size : sizeof(word);

		word = 0; /* the last word is filled up with zeros */
		memcpy(&word, byte, step);
		state = (state ^ word) * 0x100000001b3u;
		state ^= state >> 32;
		size -= step;
	}
	return state;
}

/* Over the header with checksum 0 and its `used` bytes of payload; never 0. */
static inline uint32_t format_checksum(const struct format_block_header *header,
				       const void *payload)
{
	struct format_block_header copy = *header;
	uint64_t state = 0xcbf29ce484222325u;
	uint32_t folded;

	copy.checksum = 0;
	state = checksum_add(state, &copy, sizeof(copy));
	state = checksum_add(state, payload, header->used);
	folded = (uint32_t)(state ^ state >> 32);
	return folded ? folded : 1;
}

#endif
