/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/storage/record_buffer.h"

#include "collector/storage/blocks.h"
#include "collector/storage/own_use.h"
#include "collector/storage/recording.h"

static bool next_block(struct record_buffer *lane, struct blockfile *file, uint32_t number,
		       enum format_encoding encoding)
{
	struct format_block_header *block = blocks_take(file, LANE_BLOCK, &lane->arena);

	if (!block)
		return false;
	if (lane->block) /* a short run's first one is hardly filled */
		own_use_prefault(block, LANE_BLOCK);
	*block = (struct format_block_header){
		.magic = FORMAT_BLOCK_MAGIC,
		.size = LANE_BLOCK,
		.first = number,
		.base_time = lane->time,
		.encoding = (uint16_t)encoding,
	};
	lane->block = block;
	lane->next = (uint8_t *)(block + 1);
	lane->end = (uint8_t *)block + LANE_BLOCK;
	lane->stack = lane->cpu = 0;
	lane->thread = number;
	for (int i = 0; i < TRACE_FIELDS_MAX; i++)
		lane->near[i] = 0;
	context_forget(&lane->said);
	return true;
}

uint8_t *record_buffer_begin_block(struct record_buffer *lane, struct blockfile *file,
				   uint32_t number, enum format_encoding encoding)
{
	if (next_block(lane, file, number, encoding))
		return lane->next;
	atomic_fetch_add_explicit(&collector.dropped, 1, memory_order_relaxed);
	if (lane->block)
		lane->block->dropped++;
	return NULL;
}
