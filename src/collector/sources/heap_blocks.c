/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which blocks there are at the end.  Nothing is kept while the program runs: all that happened
 * stands in the trace file, whose blocks are still mapped.  The last event at an address decides,
 * so threads need not be merged: the later time wins.
 *
 * First a hash table by address, then, in the same memory, a sorted list.
 */
#include "collector/arch/sys.h"
#include "collector/core/trace.h"
#include "collector/sources/heap_search.h"
#include "collector/storage/record_buffer.h"
#include "format/varint.h"

#include <sys/mman.h>

enum { ROOM_FIRST = 1 << 12, ROOM_MAX = 1 << 24 };

static struct heap_extent *map_room(size_t room)
{
	return sys_mmap(room * sizeof(struct heap_extent), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static struct heap_extent *slot_of(const struct heap_extents *extents, uint64_t address)
{
	uint64_t hash = (address ^ address >> 29) * 0x9e3779b97f4a7c15u;
	size_t at = hash >> 32 & (extents->room - 1);

	while (extents->items[at].when && extents->items[at].start != address)
		at = (at + 1) & (extents->room - 1);
	return &extents->items[at];
}

static bool grow(struct heap_extents *extents)
{
	struct heap_extents old = *extents;
	size_t room = old.room ? 2 * old.room : ROOM_FIRST;

	if (room > ROOM_MAX || !(extents->items = map_room(room))) {
		*extents = old;
		return false;
	}
	extents->room = room;
	for (size_t i = 0; i < old.room; i++)
		if (old.items[i].when)
			*slot_of(extents, old.items[i].start) = old.items[i];
	if (old.items)
		sys_munmap(old.items, old.room * sizeof(*old.items));
	return true;
}

/* ---- what the file says ---- */

struct replay {
	struct heap_extents *extents;
	bool failed;
};

/* One event: the block at `address` is live with this size, or it is not. */
static void note(struct replay *replay, uint64_t address, uint64_t size, uint64_t when)
{
	struct heap_extents *extents = replay->extents;

	if (!address || replay->failed)
		return;
	if (2 * extents->count >= extents->room && !grow(extents)) {
		replay->failed = true;
		return;
	}
	struct heap_extent *slot = slot_of(extents, address);

	if (!slot->when)
		extents->count++;
	if (when < slot->when)
		return;
	slot->start = address;
	slot->when = when;
	slot->size = when & 1 ? size : 0;
	if (slot->size > slot->span)
		slot->span = slot->size;
}

static const uint8_t *read_fields(const uint8_t *in, const uint8_t *end, unsigned tag,
				  uint64_t *near)
{
	const struct format_kind *format = &format_kinds[TRACE_HEAP];
	unsigned count = tag & FORMAT_TRACE_ALL_FIELDS
				 ? format->fields
				 : format->brief[tag & FORMAT_TRACE_TYPE_MASK];

	for (unsigned i = 0; i < count && in; i++) {
		uint64_t value;

		in = varint_get(in, end, &value);
		if (!in)
			break;
		if (format->encoding[i] == FIELD_NEAR)
			value = near[i] + (uint64_t)zigzag_decode(value);
		near[i] = value;
	}
	return in;
}

/* A control record says nothing of blocks.  Of a context's fields there are as many as it says. */
static const uint8_t *skip_control(const uint8_t *in, const uint8_t *end, unsigned tag)
{
	uint64_t value, count = 0;

	in = varint_get(in, end, &value);
	if (in && tag == FORMAT_TAG_CONTEXT)
		in = varint_get(in, end, &count);
	while (in && count-- > 0)
		in = varint_get(in, end, &value);
	return in;
}

static void replay_block(const void *at, void *arg)
{
	const struct format_block_header *block = at;
	/* who can write to the file may have changed what it says */
	uint32_t room = LANE_BLOCK - sizeof(*block), used = block->used;
	const uint8_t *in = (const uint8_t *)(block + 1), *end = in + (used < room ? used : room);
	uint64_t near[HEAP_FIELDS] = {0}, time = block->base_time, value;
	struct replay *replay = arg;

	while (in && in < end) {
		unsigned tag = *in++, type = tag & FORMAT_TRACE_TYPE_MASK;

		if (tag & FORMAT_TAG_CONTROL) {
			in = skip_control(in, end, tag);
			continue;
		}
		in = varint_get(in, end, &value);
		if (!in)
			break;
		time += value;
		if (!(tag & FORMAT_TRACE_SAME_STACK))
			in = varint_get(in, end, &value);
		in = in ? read_fields(in, end, tag, near) : NULL;
		if (in && type <= HEAP_FREE)
			note(replay, near[HEAP_ADDRESS], near[HEAP_SIZE],
			     time << 1 | (type != HEAP_FREE));
	}
}

bool heap_extents_read(struct heap_extents *extents)
{
	struct replay replay = {.extents = extents};

	*extents = (struct heap_extents){0};
	if (!grow(extents))
		return false;
	trace_for_each_block(TRACE_HEAP, replay_block, &replay);
	if (replay.failed) {
		heap_extents_fini(extents);
		return false;
	}
	size_t count = 0;

	for (size_t i = 0; i < extents->room; i++)
		if (extents->items[i].when)
			extents->items[count++] = extents->items[i];
	extents->count = count;
	return true;
}

bool heap_extents_add(struct heap_extents *extents, uint64_t start, uint64_t end)
{
	if (extents->count == extents->room || end <= start)
		return end <= start;
	extents->items[extents->count++] =
		(struct heap_extent){.start = start, .span = end - start};
	return true;
}

/* ---- sorting: libc's qsort may allocate ---- */

static void sift(struct heap_extent *items, size_t at, size_t count)
{
	struct heap_extent item = items[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < count && items[child + 1].start > items[child].start)
			child++;
		if (child >= count || items[child].start <= item.start)
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = item;
}

void heap_extents_sort(struct heap_extents *extents)
{
	struct heap_extent *items = extents->items;

	for (size_t i = extents->count / 2; i-- > 0;)
		sift(items, i, extents->count);
	for (size_t last = extents->count; last-- > 1;) {
		struct heap_extent largest = items[0];

		items[0] = items[last];
		items[last] = largest;
		sift(items, 0, last);
	}
}

void heap_extents_fini(struct heap_extents *extents)
{
	if (extents->items)
		sys_munmap(extents->items, extents->room * sizeof(*extents->items));
	*extents = (struct heap_extents){0};
}
