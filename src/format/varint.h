/* SPDX-License-Identifier: Apache-2.0 */
/* LEB128 numbers: seven bits a byte, low bits first, the top bit says that more follow. */
#ifndef HELIO_FORMAT_VARINT_H
#define HELIO_FORMAT_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VARINT_MAX = 10 }; /* bytes that the longest number takes */

/* Writes the number and returns the first byte after it. */
static inline uint8_t *varint_put(uint8_t *out, uint64_t value)
{
	while (value >= 0x80) {
		*out++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*out++ = (uint8_t)value;
	return out;
}

/*
 * Reads a number of at most eight bytes, where eight can be read, as varint_get() does.  Lengths
 * vary: without a branch for each byte none of them is predicted wrongly.  NULL: it is longer.
 */
static inline const uint8_t *varint_get_short(const uint8_t *in, uint64_t *value)
{
	uint64_t bytes, ends;

	__builtin_memcpy(&bytes, in, sizeof(bytes));
	ends = ~bytes & UINT64_C(0x8080808080808080);
	if (!ends)
		return (const uint8_t *)0;
	bytes &= ends ^ (ends - 1);
	bytes = (bytes & 0x7f007f007f007f00) >> 1 | (bytes & 0x007f007f007f007f);
	bytes = (bytes & 0x3fff00003fff0000) >> 2 | (bytes & 0x00003fff00003fff);
	*value = (bytes & 0x0fffffff00000000) >> 4 | (bytes & 0x000000000fffffff);
	return in + __builtin_ctzll(ends) / 8 + 1;
}

/* Reads a number that ends before `end`; returns the first byte after it, or NULL. */
static inline const uint8_t *varint_get(const uint8_t *in, const uint8_t *end, uint64_t *value)
{
	const uint8_t *next = end - in >= 8 ? varint_get_short(in, value) : (const uint8_t *)0;
	uint64_t result = 0;

	if (next)
		return next;

	for (unsigned shift = 0; in < end && shift < 64; shift += 7) {
		uint8_t byte = *in++;

		result |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*value = result;
			return in;
		}
	}
	return (const uint8_t *)0;
}

/* Signed numbers near zero become small unsigned ones: 0, -1, 1, -2 → 0, 1, 2, 3. */
static inline uint64_t zigzag_encode(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t zigzag_decode(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
