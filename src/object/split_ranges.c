/* SPDX-License-Identifier: Apache-2.0 */
#include "object/split_ranges.h"

#include <dwarf.h>

enum {
	WORD = 8,    /* bytes of an address */
	HEADER = 12, /* of a unit's lists, 32-bit DWARF */
	ENTRY = 4,   /* of the table behind it */
};

struct split_cursor split_ranges_at(const struct split_ranges *ranges, uint64_t offset)
{
	return (struct split_cursor){ranges, cursor_at(ranges->lists, offset), ranges->base};
}

/* A table of offsets, which count from itself, stands behind the header. */
struct split_cursor split_ranges_with(const struct split_ranges *ranges, uint64_t index)
{
	struct cursor cursor = cursor_at(ranges->lists, HEADER);
	bool is_there = index < cursor_left(&cursor) / ENTRY;

	cursor_skip(&cursor, is_there ? index * ENTRY : UINT64_MAX);
	return split_ranges_at(ranges, HEADER + cursor_number(&cursor, ENTRY));
}

static uint64_t address_at(const struct split_ranges *ranges, uint64_t index)
{
	struct cursor cursor =
		cursor_at(ranges->addresses, index < UINT32_MAX ? index * WORD : UINT64_MAX);

	return cursor_number(&cursor, WORD);
}

/* A pair that begins with -1 sets the base, one of zeros is the end. */
static bool next_pair(struct split_cursor *cursor, uint64_t *start, uint64_t *end)
{
	while (!cursor->at.failed) {
		*start = cursor_number(&cursor->at, WORD);
		*end = cursor_number(&cursor->at, WORD);
		if (!*start && !*end)
			return false;
		if (*start != UINT64_MAX) {
			*start += cursor->base;
			*end += cursor->base;
			return true;
		}
		cursor->base = *end;
	}
	return false;
}

/* One entry of a range list. */
static bool next_entry(struct split_cursor *cursor, uint64_t *start, uint64_t *end)
{
	const struct split_ranges *ranges = cursor->ranges;
	struct cursor *at = &cursor->at;

	while (!at->failed) {
		switch (cursor_byte(at)) {
		case DW_RLE_base_addressx:
			cursor->base = address_at(ranges, cursor_uleb(at));
			break;
		case DW_RLE_base_address:
			cursor->base = cursor_number(at, WORD);
			break;
		case DW_RLE_startx_endx:
			*start = address_at(ranges, cursor_uleb(at));
			*end = address_at(ranges, cursor_uleb(at));
			return true;
		case DW_RLE_startx_length:
			*start = address_at(ranges, cursor_uleb(at));
			*end = *start + cursor_uleb(at);
			return true;
		case DW_RLE_offset_pair:
			*start = cursor->base + cursor_uleb(at);
			*end = cursor->base + cursor_uleb(at);
			return true;
		case DW_RLE_start_end:
			*start = cursor_number(at, WORD);
			*end = cursor_number(at, WORD);
			return true;
		case DW_RLE_start_length:
			*start = cursor_number(at, WORD);
			*end = *start + cursor_uleb(at);
			return true;
		default:
			return false;
		}
	}
	return false;
}

bool split_ranges_next(struct split_cursor *cursor, uint64_t *start, uint64_t *end)
{
	bool found = cursor->ranges->is_old ? next_pair(cursor, start, end)
					    : next_entry(cursor, start, end);

	return found && !cursor->at.failed;
}
