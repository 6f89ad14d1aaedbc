/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a thread's records of one kind go: the free part of a block of the kind's file.
 *
 * `used` in the block's header grows after each record, so that a reader finds whole
 * records at every moment.  A lane outlives its thread: the next thread that takes the state
 * over goes on in the same block.  A thousand short threads cost a few blocks.
 */
#ifndef HELIO_COLLECTOR_RECORD_BUFFER_H
#define HELIO_COLLECTOR_RECORD_BUFFER_H

#include "collector/storage/context.h"
#include "format/format.h"
#include "format/kinds.h"
#include "format/varint.h"

#include <sched.h>

enum { LANE_BLOCK = 16 * 1024 };

struct blockfile;

struct record_buffer {
	struct format_block_header *block;
	uint8_t *next, *end;
	uint32_t arena;			 /* that the block lies in: the next one lies behind */
	uint64_t events;		 /* written so far, in all blocks */
	uint64_t time;			 /* in force, in the unit of the file */
	uint32_t stack;			 /* of the previous event */
	uint32_t cpu;			 /* + 1; 0: not yet said in this block */
	bool elsewhere;			 /* who writes is another thread than the lane's */
	uint32_t thread;		 /* traces: whose events these are */
	uint64_t near[TRACE_FIELDS_MAX]; /* previous values of fields */
	struct context_said said;	 /* of the thread's context, in this block */
};

/* A new block, for records of `encoding` of the thread `number`; NULL: none, counted as a drop. */
uint8_t *record_buffer_begin_block(struct record_buffer *lane, struct blockfile *file,
				   uint32_t number, enum format_encoding encoding);

/* Room for `size` bytes, or NULL: there is none, and the drop has been counted. */
static inline uint8_t *record_buffer_reserve(struct record_buffer *lane, struct blockfile *file,
					     size_t size, uint32_t number,
					     enum format_encoding encoding)
{
	if (lane->next && lane->next + size <= lane->end) /* end: NULL after a fork in between */
		return lane->next;
	return record_buffer_begin_block(lane, file, number, encoding);
}

/* The records up to `end` are whole. */
static inline void record_buffer_commit(struct record_buffer *lane, uint8_t *end)
{
	struct format_block_header *block = lane->block;

	if (!block) /* forked in between, by a handler of the program */
		return;
	lane->next = end;
	/* pairs with readers of the growing file: the record before its length */
	__atomic_store_n(&block->used, (uint32_t)(end - (uint8_t *)(block + 1)), __ATOMIC_RELEASE);
}

/* Sets the time in force and returns by how much it went on; it never runs backwards. */
static inline uint64_t record_buffer_advance(struct record_buffer *lane, uint64_t time)
{
	uint64_t dt = time > lane->time ? time - lane->time : 0;

	lane->time += dt;
	return dt;
}

/* The fields that events of all files share; they return what follows. */

/*
 * Reads the thread's rseq area: no system call.  A raw thread has none, and the thread-local
 * variables of who started it, which may be gone.
 */
static inline uint8_t *record_buffer_put_cpu(struct record_buffer *lane, uint8_t *out)
{
	int cpu = lane->elsewhere ? -1 : sched_getcpu();

	if (cpu < 0 || lane->cpu == (uint32_t)cpu + 1)
		return out;
	lane->cpu = (uint32_t)cpu + 1;
	*out++ = FORMAT_TAG_CPU;
	return varint_put(out, (uint64_t)cpu);
}

static inline uint8_t *record_buffer_put_stack(struct record_buffer *lane, uint8_t *out,
					       uint32_t stack)
{
	out = varint_put(out, zigzag_encode((int64_t)stack - (int64_t)lane->stack));
	lane->stack = stack;
	return out;
}

/* What runtimes say of the thread, where that is not in force in the block. */
static inline uint8_t *record_buffer_put_context(struct record_buffer *lane, uint8_t *out,
						 const struct runtime_context *context)
{
	for (unsigned runtime = 1; context->touched && runtime < FORMAT_RUNTIMES; runtime++)
		if (context->touched >> runtime & 1)
			out = context_put(lane->said.field[runtime],
					  context_of(context, (enum format_runtime)runtime),
					  runtime, out);
	return out;
}

/* In traces: the events that follow are of the thread `number`, which may have taken a block over.
 */
static inline uint8_t *record_buffer_put_thread(struct record_buffer *lane, uint8_t *out,
						uint32_t number)
{
	if (lane->thread == number)
		return out;
	lane->thread = number;
	context_forget(&lane->said);
	*out++ = FORMAT_TAG_THREAD;
	return varint_put(out, number);
}

#endif
