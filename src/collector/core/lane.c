/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/lane.h"

#include "collector/core/control.h"
#include "collector/core/core.h"
#include "format/varint.h"

#include <sched.h>

static bool next_block(struct lane *lane, struct blockfile *file, uint32_t number,
		       enum format_encoding encoding)
{
	struct format_block_header *block = control_take_block(file, LANE_BLOCK);

	if (!block)
		return false;
	*block = (struct format_block_header){
		.magic = FORMAT_BLOCK_MAGIC,
		.size = LANE_BLOCK,
		.first = number,
		.base_time = lane->time,
		.encoding = (uint16_t)encoding,
	};
	*lane = (struct lane){.block = block,
			      .next = (uint8_t *)(block + 1),
			      .end = (uint8_t *)block + LANE_BLOCK,
			      .events = lane->events,
			      .time = lane->time,
			      .thread = number,
			      .elsewhere = lane->elsewhere};
	return true;
}

uint8_t *lane_reserve(struct lane *lane, struct blockfile *file, size_t size, uint32_t number,
		      enum format_encoding encoding)
{
	if (lane->next && lane->next + size <= lane->end) /* end: NULL after a fork in between */
		return lane->next;
	if (next_block(lane, file, number, encoding))
		return lane->next;
	atomic_fetch_add_explicit(&collector.dropped, 1, memory_order_relaxed);
	if (lane->block)
		lane->block->dropped++;
	return NULL;
}

void lane_commit(struct lane *lane, uint8_t *end)
{
	struct format_block_header *block = lane->block;

	if (!block) /* forked in between, by a handler of the program */
		return;
	lane->next = end;
	/* pairs with readers of the growing file: the record before its length */
	__atomic_store_n(&block->used, (uint32_t)(end - (uint8_t *)(block + 1)), __ATOMIC_RELEASE);
}

uint64_t lane_advance(struct lane *lane, uint64_t time)
{
	uint64_t dt = time > lane->time ? time - lane->time : 0;

	lane->time += dt;
	return dt;
}

/*
 * Reads the thread's rseq area: no system call.  A raw thread has none, and the thread-local
 * variables of who started it, which may be gone.
 */
uint8_t *lane_put_cpu(struct lane *lane, uint8_t *out)
{
	int cpu = lane->elsewhere ? -1 : sched_getcpu();

	if (cpu < 0 || lane->cpu == (uint32_t)cpu + 1)
		return out;
	lane->cpu = (uint32_t)cpu + 1;
	*out++ = FORMAT_TAG_CPU;
	return varint_put(out, (uint64_t)cpu);
}

uint8_t *lane_put_stack(struct lane *lane, uint8_t *out, uint32_t stack)
{
	out = varint_put(out, zigzag_encode((int64_t)stack - (int64_t)lane->stack));
	lane->stack = stack;
	return out;
}

uint8_t *lane_put_thread(struct lane *lane, uint8_t *out, uint32_t number)
{
	if (lane->thread == number)
		return out;
	lane->thread = number;
	*out++ = FORMAT_TAG_THREAD;
	return varint_put(out, number);
}
