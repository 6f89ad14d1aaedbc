/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.frameinfo: which addresses a call stack's number means.
 *
 * A packet of frames names a stack and has, or refers to, the addresses of its
 * native frames, which have a number of their own: stacks that go on alike
 * share them by that.  A stack becomes nodes of the tree when an event first
 * needs it, once per epoch.
 */
#include "experiment/gprofng/gprofng.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
	PACKET_FRAMES = 11,
	PACKET_ADDRESSES = 17,
	INFO_STACK = 1,
	HEAD_SIZE = 16,	     /* of packets and of the parts of a packet of frames */
	DEPTH_MAX = 1 << 14, /* it records 2,048 frames at most */
};

#define INFO_LINKED 0x80000000u /* the last of the addresses is the number that follows */

/* Instead of the outermost address. */
#define MARK_LEAF      UINT64_MAX /* of other processors */
#define MARK_TRUNCATED (UINT64_MAX - 1)
#define MARK_FAILED    (UINT64_MAX - 2)

/* Addresses under one number. */
struct run {
	size_t first;
	uint32_t count;
	uint64_t next; /* the number that goes on; 0: none */
};

struct gprofng_stacks {
	struct stack_builder builder;
	const struct experiment_map *map;
	VEC(uint64_t) addresses;
	VEC(struct run) runs;
	struct hash_map run_ids; /* number → run */
	VEC(uint64_t) frames;	 /* by frame: the number of its native stack */
	struct hash_map frame_ids;
	struct hash_map nodes; /* frame << 32 | epoch → node */
	VEC(uint64_t) path;    /* of the stack in hand, leaf first */
	uint64_t asked, missing;
	uint64_t cut; /* stacks without their outer part */
};

static uint64_t word_at(const uint8_t *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	return word;
}

static uint32_t half_at(const uint8_t *data)
{
	uint32_t half;

	memcpy(&half, data, sizeof(half));
	return half;
}

static void add_run(struct gprofng_stacks *stacks, uint64_t number, const uint8_t *data,
		    size_t size, bool linked)
{
	size_t count = size / sizeof(uint64_t);
	struct run run = {.first = stacks->addresses.count};
	uint32_t id = (uint32_t)stacks->runs.count;

	if (!number || !count || hash_map_put(&stacks->run_ids, number, id) != id)
		return;
	if (linked)
		run.next = word_at(data + --count * sizeof(uint64_t));
	for (size_t i = 0; i < count; i++)
		*vec_push(&stacks->addresses) = word_at(data + i * sizeof(uint64_t));
	run.count = (uint32_t)count;
	*vec_push(&stacks->runs) = run;
}

/* A packet of frames: its head, then parts, each with its size and kind. */
static void add_frames(struct gprofng_stacks *stacks, const struct gprofng_packet *packet)
{
	uint32_t id = (uint32_t)stacks->frames.count;
	size_t at = half_at(packet->data + 4);

	if (at < HEAD_SIZE || hash_map_put(&stacks->frame_ids, word_at(packet->data + 8), id) != id)
		return;
	*vec_push(&stacks->frames) = 0;
	while (at < packet->size && packet->size - at >= HEAD_SIZE) {
		const uint8_t *part = packet->data + at;
		size_t size = half_at(part);
		uint32_t kind = half_at(part + 4);

		if (size < HEAD_SIZE || size > packet->size - at)
			return;
		if ((kind & ~INFO_LINKED) == INFO_STACK) {
			stacks->frames.items[id] = word_at(part + 8);
			add_run(stacks, word_at(part + 8), part + HEAD_SIZE, size - HEAD_SIZE,
				kind & INFO_LINKED);
		}
		at += size;
	}
}

struct gprofng_stacks *gprofng_stacks_read(struct process *process,
					   const struct read_context *context)
{
	struct gprofng_stacks *stacks = xcalloc(1, sizeof(*stacks));
	struct gprofng_file file;
	struct gprofng_packet packet;
	enum file_state state = gprofng_file_open(&file, context, "data.frameinfo");

	process->stacks = (struct stack_tree){.present = state != FILE_MISSING};
	stack_builder_init(&stacks->builder, &process->stacks);
	stacks->map = &process->map;
	if (state != FILE_USABLE)
		return stacks;
	while (gprofng_file_next(&file, &packet)) {
		if (packet.size < HEAD_SIZE)
			continue;
		if (packet.kind == PACKET_FRAMES)
			add_frames(stacks, &packet);
		else if (packet.kind == PACKET_ADDRESSES)
			add_run(stacks, word_at(packet.data + 8), packet.data + HEAD_SIZE,
				packet.size - HEAD_SIZE, half_at(packet.data + 4) & INFO_LINKED);
	}
	process->stacks.damaged = file.damaged;
	gprofng_file_close(&file, context);
	return stacks;
}

/* Fills `path`; empty: nothing of it is there, or it has no end. */
static void follow(struct gprofng_stacks *stacks, uint64_t number)
{
	size_t depth = 0;

	stacks->path.count = 0;
	while (number) {
		uint32_t id = hash_map_get(&stacks->run_ids, number);

		if (id == HASH_NONE) {
			stacks->cut += depth > 0;
			if (depth)
				*vec_push(&stacks->path) = MARK_TRUNCATED;
			return;
		}

		const struct run *run = &stacks->runs.items[id];

		depth += run->count + 1;
		if (depth > DEPTH_MAX) { /* numbers that lead back to themselves are damage */
			stacks->path.count = 0;
			return;
		}
		for (uint32_t i = 0; i < run->count; i++)
			if (stacks->addresses.items[run->first + i] != MARK_LEAF)
				*vec_push(&stacks->path) = stacks->addresses.items[run->first + i];
		number = run->next;
	}
}

/*
 * The epoch of the segment that held the address, in which it is the same code as in this one.
 * Segments are recorded after they came, sometimes after the first events in them.
 */
static uint32_t settle_epoch(const struct gprofng_stacks *stacks, uint64_t address, uint32_t epoch)
{
	uint32_t segment = experiment_map_find(stacks->map, address, epoch);

	if (segment == MAP_NONE)
		segment = experiment_map_find_later(stacks->map, address, epoch);
	return segment == MAP_NONE ? epoch : stacks->map->segments.items[segment].first_epoch;
}

static uint32_t location_of(struct gprofng_stacks *stacks, uint64_t address, uint32_t epoch)
{
	if (address == MARK_TRUNCATED)
		address = FORMAT_PC_TRUNCATED;
	else if (address == MARK_FAILED)
		address = FORMAT_PC_UNWIND_FAILED;
	else if (address < FORMAT_PC_LIMIT)
		address = FORMAT_PC_UNKNOWN;
	else
		epoch = settle_epoch(stacks, address, epoch);
	return stack_builder_location(&stacks->builder, address, epoch);
}

static uint32_t build(struct gprofng_stacks *stacks, uint64_t number, uint32_t epoch)
{
	uint32_t node = STACK_ROOT;

	follow(stacks, number);
	if (!stacks->path.count) {
		stacks->missing++;
		return STACK_UNKNOWN;
	}
	for (size_t i = stacks->path.count; i-- > 0;)
		node = stack_builder_node(&stacks->builder, node,
					  location_of(stacks, stacks->path.items[i], epoch));
	return node;
}

uint32_t gprofng_stacks_node(struct gprofng_stacks *stacks, uint64_t number, uint32_t epoch)
{
	uint32_t frame = hash_map_get(&stacks->frame_ids, number);

	stacks->asked++;
	if (frame == HASH_NONE) {
		stacks->missing++;
		return STACK_UNKNOWN;
	}

	uint32_t node = hash_map_get(&stacks->nodes, (uint64_t)frame << 32 | epoch);

	if (node == HASH_NONE) {
		node = build(stacks, stacks->frames.items[frame], epoch);
		hash_map_put(&stacks->nodes, (uint64_t)frame << 32 | epoch, node);
	}
	return node;
}

void gprofng_stacks_free(struct gprofng_stacks *stacks, const struct read_context *context)
{
	if (stacks->missing)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: the call stacks of %llu of %llu events are missing or have no end; "
			 "they show as <Unknown>",
			 context->name, (unsigned long long)stacks->missing,
			 (unsigned long long)stacks->asked);
	if (stacks->cut)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: the outer parts of %llu call stacks are missing; inclusive times of "
			 "outer functions are too small",
			 context->name, (unsigned long long)stacks->cut);
	stack_builder_fini(&stacks->builder);
	vec_fini(&stacks->addresses);
	vec_fini(&stacks->runs);
	vec_fini(&stacks->frames);
	vec_fini(&stacks->path);
	hash_map_fini(&stacks->run_ids);
	hash_map_fini(&stacks->frame_ids);
	hash_map_fini(&stacks->nodes);
	free(stacks);
}
