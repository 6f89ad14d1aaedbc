/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/split_ranges.h"

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

enum step { STEP_BASE, STEP_RANGE, STEP_END };

/* What follows the kind of an entry, DW_RLE_…, of a range list. */
static enum step read_entry(struct split_cursor *cursor, unsigned kind, uint64_t *start,
			    uint64_t *end)
{
	const struct split_ranges *ranges = cursor->ranges;
	struct cursor *at = &cursor->at;

	switch (kind) {
	case DW_RLE_base_addressx:
		cursor->base = address_at(ranges, cursor_uleb(at));
		return STEP_BASE;
	case DW_RLE_base_address:
		cursor->base = cursor_number(at, WORD);
		return STEP_BASE;
	case DW_RLE_startx_endx:
		*start = address_at(ranges, cursor_uleb(at));
		*end = address_at(ranges, cursor_uleb(at));
		return STEP_RANGE;
	case DW_RLE_startx_length:
		*start = address_at(ranges, cursor_uleb(at));
		*end = *start + cursor_uleb(at);
		return STEP_RANGE;
	case DW_RLE_offset_pair:
		*start = cursor->base + cursor_uleb(at);
		*end = cursor->base + cursor_uleb(at);
		return STEP_RANGE;
	case DW_RLE_start_end:
		*start = cursor_number(at, WORD);
		*end = cursor_number(at, WORD);
		return STEP_RANGE;
	case DW_RLE_start_length:
		*start = cursor_number(at, WORD);
		*end = *start + cursor_uleb(at);
		return STEP_RANGE;
	default:
		return STEP_END;
	}
}

static bool next_entry(struct split_cursor *cursor, uint64_t *start, uint64_t *end)
{
	enum step step = STEP_BASE;

	while (step == STEP_BASE && !cursor->at.failed)
		step = read_entry(cursor, cursor_byte(&cursor->at), start, end);
	return step == STEP_RANGE;
}

bool split_ranges_next(struct split_cursor *cursor, uint64_t *start, uint64_t *end)
{
	bool found = cursor->ranges->is_old ? next_pair(cursor, start, end)
					    : next_entry(cursor, start, end);

	return found && !cursor->at.failed;
}

/* Location lists count one kind more, in the middle; the rest is that of range lists. */
static enum step read_location(struct split_cursor *cursor, uint64_t *start, uint64_t *end,
			       uint64_t *size)
{
	enum { VIEW_PAIR = 9 }; /* of GNU: numbers of views, which nobody here asks for */
	unsigned kind = cursor_byte(&cursor->at);
	enum step step = STEP_RANGE;

	if (kind == VIEW_PAIR) {
		cursor_uleb(&cursor->at);
		cursor_uleb(&cursor->at);
		return STEP_BASE;
	}
	*start = 0;
	*end = UINT64_MAX;
	if (kind != DW_LLE_default_location)
		step = read_entry(cursor, kind > DW_LLE_default_location ? kind - 1 : kind, start,
				  end);
	if (step == STEP_RANGE)
		*size = cursor_uleb(&cursor->at);
	return step;
}

/* The same before DWARF 5, as GNU has it. */
static enum step read_old_location(struct split_cursor *cursor, uint64_t *start, uint64_t *end,
				   uint64_t *size)
{
	const struct split_ranges *ranges = cursor->ranges;
	struct cursor *at = &cursor->at;

	switch (cursor_byte(at)) {
	case DW_LLE_GNU_base_address_selection_entry:
		cursor->base = address_at(ranges, cursor_uleb(at));
		return STEP_BASE;
	case DW_LLE_GNU_start_end_entry:
		*start = address_at(ranges, cursor_uleb(at));
		*end = address_at(ranges, cursor_uleb(at));
		break;
	case DW_LLE_GNU_start_length_entry:
		*start = address_at(ranges, cursor_uleb(at));
		*end = *start + cursor_number(at, 4);
		break;
	default:
		return STEP_END;
	}
	*size = cursor_number(at, 2);
	return STEP_RANGE;
}

bool split_locations_next(struct split_cursor *cursor, uint64_t *start, uint64_t *end,
			  struct bytes *expression)
{
	enum step step = STEP_BASE;
	uint64_t size = 0;

	while (step == STEP_BASE && !cursor->at.failed)
		step = cursor->ranges->is_old ? read_old_location(cursor, start, end, &size)
					      : read_location(cursor, start, end, &size);
	*expression = (struct bytes){cursor_skip(&cursor->at, step == STEP_RANGE ? size : 0), size};
	return step == STEP_RANGE && !cursor->at.failed;
}
