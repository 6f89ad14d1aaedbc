/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile records: appended to the thread's block, which is part of the file
 * already.  `used` in the block's header grows after each record, so that a
 * reader finds whole records at every moment.
 *
 * A lane outlives its thread: the next thread that takes the state over goes
 * on in the same block.  A thousand short threads cost a few blocks.
 */
#include "collector/core/control.h"
#include "collector/core/core.h"
#include "format/varint.h"

#include <sched.h>

enum {
	PROFILE_BLOCK = 16 * 1024,
	RECORD_MAX = 2 + 3 * VARINT_MAX + 2 + VARINT_MAX, /* an event and the processor before it */
};

static const char profile_description[] =
	"blocks of records: tag u8, then varints (LEB128)\n"
	"tag < 0x80: event: state = tag & 15; [dt us unless 0x20] [weight us unless 0x40: = dt] "
	"[stack zigzag delta unless 0x10: same]\n"
	"states: 0 user 1 system 2 trap 3 text-fault 4 data-fault 5 kernel-fault 6 lock 7 sleep "
	"8 wait-cpu 9 stopped\n"
	"0x80 thread: number tid time-us   0x81 thread end: dt   0x82 pause: dt   0x83 resume: dt  "
	" "
	"0x84 cpu: number\n";

int writer_open(void)
{
	return blockfile_create(&collector.profile, collector.directory, FORMAT_FILE_PROFILE,
				profile_description);
}

static uint64_t time_to_us(uint64_t time_ns)
{
	return time_ns > collector.start_ns ? (time_ns - collector.start_ns) / 1000 : 0;
}

static bool lane_next_block(struct thread *thread)
{
	struct lane *lane = &thread->lane;
	struct format_block_header *block = control_take_block(&collector.profile, PROFILE_BLOCK);

	if (!block)
		return false;
	*block = (struct format_block_header){
		.magic = FORMAT_BLOCK_MAGIC,
		.size = PROFILE_BLOCK,
		.first = thread->number,
		.base_time = lane->time_us,
		.encoding = FORMAT_EVENTS,
	};
	lane->block = block;
	lane->next = (uint8_t *)(block + 1);
	lane->end = (uint8_t *)block + PROFILE_BLOCK;
	lane->stack = 0;
	lane->cpu = 0;
	return true;
}

/* Room for one more record, or NULL; then the drop has been counted. */
static uint8_t *lane_reserve(struct thread *thread)
{
	struct lane *lane = &thread->lane;

	if (lane->next && lane->end - lane->next >= RECORD_MAX)
		return lane->next;
	if (lane_next_block(thread))
		return lane->next;
	atomic_fetch_add_explicit(&collector.dropped, 1, memory_order_relaxed);
	if (lane->block)
		lane->block->dropped++;
	return NULL;
}

static void lane_commit(struct lane *lane, uint8_t *end)
{
	lane->next = end;
	/* pairs with readers of the growing file: the record before its length */
	__atomic_store_n(&lane->block->used, (uint32_t)(end - (uint8_t *)(lane->block + 1)),
			 __ATOMIC_RELEASE);
}

/* Time never runs backwards within a lane; a clock read out of turn counts as now. */
static uint64_t lane_advance(struct lane *lane, uint64_t time_ns)
{
	uint64_t time_us = time_to_us(time_ns);
	uint64_t dt = time_us > lane->time_us ? time_us - lane->time_us : 0;

	lane->time_us += dt;
	return dt;
}

void writer_thread_begin(struct thread *thread, uint64_t time_ns)
{
	uint8_t *out = lane_reserve(thread);

	thread->lane.time_us = time_to_us(time_ns);
	if (!out)
		return;
	*out++ = FORMAT_TAG_THREAD;
	out = varint_put(out, thread->number);
	out = varint_put(out, (uint64_t)thread->tid);
	out = varint_put(out, thread->lane.time_us);
	lane_commit(&thread->lane, out);
}

static void put_moment(struct thread *thread, enum format_tag tag, uint64_t time_ns)
{
	uint8_t *out = lane_reserve(thread);
	uint64_t dt = lane_advance(&thread->lane, time_ns);

	if (!out)
		return;
	*out++ = (uint8_t)tag;
	lane_commit(&thread->lane, varint_put(out, dt));
}

void writer_thread_end(struct thread *thread, uint64_t time_ns)
{
	put_moment(thread, FORMAT_TAG_THREAD_END, time_ns);
}

void writer_thread_pause(struct thread *thread, uint64_t time_ns)
{
	put_moment(thread, FORMAT_TAG_PAUSE, time_ns);
}

void writer_thread_resume(struct thread *thread, uint64_t time_ns)
{
	put_moment(thread, FORMAT_TAG_RESUME, time_ns);
}

static uint8_t *put_cpu(struct lane *lane, uint8_t *out)
{
	int cpu = sched_getcpu(); /* reads the thread's rseq area: no system call */

	if (cpu < 0 || lane->cpu == (uint32_t)cpu + 1)
		return out;
	lane->cpu = (uint32_t)cpu + 1;
	*out++ = FORMAT_TAG_CPU;
	return varint_put(out, (uint64_t)cpu);
}

bool writer_event(struct thread *thread, uint64_t time_ns, enum format_state state,
		  uint64_t weight_us, uint32_t stack)
{
	struct lane *lane = &thread->lane;
	uint8_t *out = lane_reserve(thread);

	if (!out)
		return false; /* the time stays where it is: the next event's dt covers it */
	out = put_cpu(lane, out);
	uint8_t *tag = out++;
	uint64_t dt = lane_advance(lane, time_ns);

	*tag = (uint8_t)state;
	if (dt)
		out = varint_put(out, dt);
	else
		*tag |= FORMAT_TAG_SAME_TIME;
	if (weight_us == dt)
		*tag |= FORMAT_TAG_WEIGHT_IS_DT;
	else
		out = varint_put(out, weight_us);
	if (stack == lane->stack)
		*tag |= FORMAT_TAG_SAME_STACK;
	else
		out = varint_put(out, zigzag_encode((int64_t)stack - (int64_t)lane->stack));
	lane->stack = stack;
	lane_commit(lane, out);
	atomic_fetch_add_explicit(&collector.events, 1, memory_order_relaxed);
	return true;
}
