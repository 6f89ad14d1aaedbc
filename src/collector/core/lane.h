/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a thread's records of one kind go: the free part of a block of the kind's file.
 *
 * `used` in the block's header grows after each record, so that a reader finds whole
 * records at every moment.  A lane outlives its thread: the next thread that takes the state
 * over goes on in the same block.  A thousand short threads cost a few blocks.
 */
#ifndef HELIO_COLLECTOR_LANE_H
#define HELIO_COLLECTOR_LANE_H

#include "collector/core/blockfile.h"
#include "format/trace.h"

enum { LANE_BLOCK = 16 * 1024 };

struct lane {
	struct format_block_header *block;
	uint8_t *next, *end;
	uint64_t events;		 /* written so far, in all blocks */
	uint64_t time;			 /* in force, in the unit of the file */
	uint32_t stack;			 /* of the previous event */
	uint32_t cpu;			 /* + 1; 0: not yet said in this block */
	bool elsewhere;			 /* who writes is another thread than the lane's */
	uint32_t thread;		 /* traces: whose events these are */
	uint64_t near[TRACE_FIELDS_MAX]; /* previous values of fields */
};

/*
 * Room for `size` bytes, or NULL: there is none, and the drop has been counted.  A block that
 * has to be begun holds records of `encoding` of the thread `number`.
 */
uint8_t *lane_reserve(struct lane *lane, struct blockfile *file, size_t size, uint32_t number,
		      enum format_encoding encoding);
/* The records up to `end` are whole. */
void lane_commit(struct lane *lane, uint8_t *end);
/* Sets the time in force and returns by how much it went on; it never runs backwards. */
uint64_t lane_advance(struct lane *lane, uint64_t time);
/* The two fields that events of all files share; they return what follows. */
uint8_t *lane_put_cpu(struct lane *lane, uint8_t *out);
uint8_t *lane_put_stack(struct lane *lane, uint8_t *out, uint32_t stack);

/* In traces: the events that follow are of the thread `number`, which may have taken a block over.
 */
uint8_t *lane_put_thread(struct lane *lane, uint8_t *out, uint32_t number);

#endif
