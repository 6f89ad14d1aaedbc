/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading bytes that nobody vouches for: beyond the end everything is 0 and
 * the cursor has failed.  Little-endian, as the machines that we run on.
 */
#ifndef HELIO_OBJECT_CURSOR_H
#define HELIO_OBJECT_CURSOR_H

#include "object/elf/elf_file.h"

#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	bool failed;
};

static inline struct cursor cursor_at(struct bytes bytes, uint64_t offset)
{
	bool inside = offset <= bytes.size && bytes.data;

	return (struct cursor){
		.at = inside ? bytes.data + offset : NULL,
		.end = inside ? bytes.data + bytes.size : NULL,
		.failed = !inside,
	};
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static inline const uint8_t *cursor_skip(struct cursor *cursor, uint64_t size)
{
	const uint8_t *start = cursor->at;

	if (size > cursor_left(cursor)) {
		cursor->failed = true;
		cursor->at = cursor->end;
		return NULL;
	}
	cursor->at += size;
	return start;
}

/* An unsigned number of 1 to 8 bytes. */
static inline uint64_t cursor_number(struct cursor *cursor, size_t size)
{
	const uint8_t *data = cursor_skip(cursor, size);
	uint64_t value = 0;

	if (data)
		memcpy(&value, data, size);
	return value;
}

static inline uint8_t cursor_byte(struct cursor *cursor)
{
	return (uint8_t)cursor_number(cursor, 1);
}

static inline uint64_t cursor_uleb(struct cursor *cursor)
{
	uint64_t value = 0;
	uint8_t byte;

	for (unsigned shift = 0;; shift += 7) {
		byte = cursor_byte(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

static inline int64_t cursor_sleb(struct cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_byte(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

/* A NUL-terminated string, or "". */
static inline const char *cursor_string(struct cursor *cursor)
{
	const uint8_t *start = cursor->at;
	const uint8_t *end = start ? memchr(start, 0, cursor_left(cursor)) : NULL;

	if (!end) {
		cursor_skip(cursor, UINT64_MAX);
		return "";
	}
	cursor->at = end + 1;
	return (const char *)start;
}

#endif
