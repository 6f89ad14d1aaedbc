/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks may come in any order of their ids, so nodes are first put where their
 * id says, and then merged in the order of ids, parents first.
 */
#include "experiment/stacks.h"

#include "format/varint.h"

#include <stdlib.h>
#include <string.h>

enum {
	/*
	 * An id costs at least a byte of the file unless packing left out whole
	 * unused blocks; ids far beyond that are damage, and must not make us
	 * reserve memory for them.
	 */
	IDS_PER_BYTE = 64,
	IDS_ALWAYS_ALLOWED = 1 << 16,
};

struct stacks_reader {
	struct stack_tree *tree;
	struct stack_builder builder;
	uint64_t id_limit;
	uint32_t *parents;   /* by id */
	uint32_t *locations; /* by id; STACK_NO_LOCATION: no such node */
	size_t id_count, id_capacity;
	VEC(uint32_t) recent; /* locations of the block's new pcs */
	uint64_t lost_nodes;  /* announced or begun, but not readable */
	uint64_t bad_ids;
	uint64_t bad_parents;
};

void stack_builder_init(struct stack_builder *builder, struct stack_tree *tree)
{
	*builder = (struct stack_builder){.tree = tree};
	vec_push(&tree->nodes)->location = STACK_NO_LOCATION;
	stack_builder_node(builder, STACK_ROOT,
			   stack_builder_location(builder, FORMAT_PC_UNKNOWN, 0));
}

void stack_builder_forget_locations(struct stack_builder *builder)
{
	for (size_t i = 0; i < builder->pcs.count; i++)
		pair_set_fini(&builder->pcs.items[i]);
	vec_fini(&builder->pcs);
	hash_map_fini(&builder->epoch_ids);
}

void stack_builder_fini(struct stack_builder *builder)
{
	stack_builder_forget_locations(builder);
	pair_set_fini(&builder->nodes);
}

uint32_t stack_builder_location(struct stack_builder *builder, uint64_t pc, uint32_t epoch)
{
	struct stack_tree *tree = builder->tree;
	uint32_t fresh = (uint32_t)tree->locations.count;

	if (pc < FORMAT_PC_LIMIT)
		epoch = 0;
	if (epoch > STACK_EPOCH_MAX)
		epoch = STACK_EPOCH_MAX;

	uint32_t index = hash_map_put(&builder->epoch_ids, epoch, (uint32_t)builder->pcs.count);

	if (index == builder->pcs.count)
		vec_push(&builder->pcs)->item = sizeof(*tree->locations.items);

	uint32_t location = pair_set_put(&builder->pcs.items[index], tree->locations.items,
					 (uint32_t)pc, (uint32_t)(pc >> 32), fresh);

	if (location == fresh)
		*vec_push(&tree->locations) = (struct stack_location){.pc = pc, .epoch = epoch};
	return location;
}

uint32_t stack_builder_node(struct stack_builder *builder, uint32_t parent, uint32_t location)
{
	struct stack_tree *tree = builder->tree;
	uint32_t fresh = (uint32_t)tree->nodes.count;
	uint32_t node = pair_set_put(&builder->nodes, tree->nodes.items, parent, location, fresh);

	if (node == fresh)
		*vec_push(&tree->nodes) =
			(struct stack_node){.parent = parent, .location = location};
	return node;
}

static bool reserve_id(struct stacks_reader *reader, uint64_t id)
{
	if (id == 0 || id >= reader->id_limit)
		return false;
	if (id >= reader->id_capacity) {
		size_t capacity = (size_t)(id + 1) * 3 / 2 + 1024;

		reader->parents = xrealloc(reader->parents, capacity * sizeof(uint32_t));
		reader->locations = xrealloc(reader->locations, capacity * sizeof(uint32_t));
		reader->id_capacity = capacity;
	}
	while (reader->id_count <= id)
		reader->locations[reader->id_count++] = STACK_NO_LOCATION;
	return true;
}

static void put_node(struct stacks_reader *reader, uint64_t id, uint64_t parent, uint32_t location)
{
	if (!reserve_id(reader, id)) {
		reader->bad_ids++;
		return;
	}
	if (reader->locations[id] != STACK_NO_LOCATION &&
	    (reader->locations[id] != location || reader->parents[id] != parent)) {
		reader->bad_ids++;
		return;
	}
	reader->parents[id] = parent < id ? (uint32_t)parent : UINT32_MAX;
	reader->locations[id] = location;
}

static void read_raw(struct stacks_reader *reader, const struct block *block)
{
	size_t count = block->used / sizeof(struct format_node);

	for (size_t i = 0; i < count; i++) {
		struct format_node node;

		memcpy(&node, block->data + i * sizeof(node), sizeof(node));
		if (node.pc && !format_pc_is_pair(node.pc))
			put_node(reader, (uint64_t)block->header.first + i, node.parent,
				 stack_builder_location(&reader->builder, node.pc, node.epoch));
	}
	reader->lost_nodes += block->header.used / sizeof(struct format_node) - count;
}

static void read_packed(struct stacks_reader *reader, const struct block *block)
{
	const uint8_t *in = block->data, *end = in + block->used;
	uint64_t pc = 0, step, back, delta;
	uint32_t i;

	reader->recent.count = 0;
	for (i = 0; i < block->header.count; i++) {
		uint64_t id = (uint64_t)block->header.first + i;
		uint32_t location;
		bool is_pair;

		in = varint_get(in, end, &step);
		if (in && !step)
			continue;
		in = in ? varint_get(in, end, &back) : NULL;
		if (in && !back) {
			in = varint_get(in, end, &delta);
			if (!in)
				break;
			pc += (uint64_t)zigzag_decode(delta);
			location =
				stack_builder_location(&reader->builder, pc, block->header.epoch);
			*vec_push(&reader->recent) = location;
		} else if (in && back <= reader->recent.count) {
			location = reader->recent.items[reader->recent.count - back];
		} else {
			break;
		}
		is_pair = format_pc_is_pair(reader->tree->locations.items[location].pc);
		if (!is_pair)
			put_node(reader, id, step <= id ? id - step : UINT64_MAX, location);
	}
	reader->lost_nodes += block->header.count - i;
}

/* Turns reader->locations into by_id while it merges equal nodes. */
static void merge_nodes(struct stacks_reader *reader)
{
	struct stack_tree *tree = reader->tree;

	/* Of the tables that nodes and locations need there is one at a time. */
	vec_fini(&reader->recent);
	stack_builder_forget_locations(&reader->builder);
	pair_set_reserve(&reader->builder.nodes, tree->nodes.items, reader->id_count);
	for (size_t id = 1; id < reader->id_count; id++) {
		uint32_t location = reader->locations[id], parent = reader->parents[id];

		if (location == STACK_NO_LOCATION)
			continue;
		if (parent != 0) {
			parent = parent < id ? reader->locations[parent] : STACK_NO_NODE;
			if (parent == STACK_NO_NODE) {
				parent = STACK_UNKNOWN;
				reader->bad_parents++;
			}
		}
		reader->locations[id] = stack_builder_node(&reader->builder, parent, location);
	}
	tree->by_id = reader->locations;
	tree->id_count = reader->id_count;
}

static void report(struct stacks_reader *reader, const struct block_file *file,
		   const struct read_context *context)
{
	uint64_t nodes = reader->lost_nodes + reader->bad_ids;

	reader->tree->damaged =
		nodes || file->counts.corrupt || file->skipped || file->cut || reader->bad_parents;
	if (nodes || file->skipped || file->cut)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: stacks is %s: %llu call stack nodes and %llu other bytes could not "
			 "be read; time whose stack is missing shows as <Unknown>",
			 context->name, file->cut ? "cut off" : "damaged",
			 (unsigned long long)nodes, (unsigned long long)file->skipped);
	if (file->counts.corrupt)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: stacks is damaged: %zu blocks are not what was written; call stacks "
			 "are doubtful",
			 context->name, file->counts.corrupt);
	if (reader->bad_parents)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: stacks: the callers of %llu call stack nodes are missing; those "
			 "stacks begin at <Unknown>",
			 context->name, (unsigned long long)reader->bad_parents);
}

static void read_blocks(struct stacks_reader *reader, struct block_file *file)
{
	struct block block;

	reader->id_limit =
		file->size > UINT32_MAX / IDS_PER_BYTE ? UINT32_MAX : file->size * IDS_PER_BYTE;
	if (reader->id_limit < IDS_ALWAYS_ALLOWED)
		reader->id_limit = IDS_ALWAYS_ALLOWED;
	while (block_file_next(file, &block)) {
		if (block.header.encoding == FORMAT_NODES_RAW)
			read_raw(reader, &block);
		else
			read_packed(reader, &block);
	}
}

void experiment_stacks_read(struct stack_tree *tree, const struct read_context *context)
{
	struct stacks_reader reader = {.tree = tree};
	struct block_file file;

	*tree = (struct stack_tree){0};
	stack_builder_init(&reader.builder, tree);

	enum file_state state = block_file_open(&file, context, FORMAT_FILE_STACKS,
						1u << FORMAT_NODES_RAW | 1u << FORMAT_NODES_PACKED);

	tree->present = state != FILE_MISSING;
	tree->damaged = state == FILE_UNUSABLE;
	if (state == FILE_USABLE)
		read_blocks(&reader, &file);
	merge_nodes(&reader);
	if (state == FILE_USABLE) {
		tree->counts = file.counts;
		report(&reader, &file, context);
		block_file_close(&file);
	}
	free(reader.parents);
	stack_builder_fini(&reader.builder);
}

uint32_t experiment_stacks_stand_in(struct stack_tree *tree, uint64_t pc)
{
	for (uint32_t i = 0; i < tree->nodes.count; i++) {
		const struct stack_node *node = &tree->nodes.items[i];

		if (node->parent == STACK_ROOT && i != STACK_ROOT &&
		    tree->locations.items[node->location].pc == pc)
			return i;
	}
	*vec_push(&tree->locations) = (struct stack_location){.pc = pc};
	*vec_push(&tree->nodes) = (struct stack_node){
		.parent = STACK_ROOT, .location = (uint32_t)tree->locations.count - 1};
	return (uint32_t)tree->nodes.count - 1;
}

struct binding {
	struct stack_tree *tree;
	bool always;   /* every event has a stack: FORMAT_NO_STACK says that it is not known */
	uint32_t none; /* the node for those, once there are some */
	unsigned long long missing;
};

static uint32_t node_of_none(struct binding *binding)
{
	if (!binding->none)
		binding->none = experiment_stacks_stand_in(binding->tree, FORMAT_PC_NO_STACK);
	return binding->none;
}

static bool bind(uint64_t *ids, size_t first, size_t count, void *arg)
{
	struct binding *binding = arg;

	(void)first;
	for (size_t i = 0; i < count; i++)
		ids[i] = ids[i] == FORMAT_NO_STACK && binding->always
				 ? node_of_none(binding)
				 : experiment_stacks_node(binding->tree, (uint32_t)ids[i],
							  &binding->missing);
	return true;
}

unsigned long long experiment_stacks_bind(struct stack_tree *tree, struct rows *rows, bool always)
{
	struct binding binding = {.tree = tree, .always = always};

	rows_map(rows, ROW_STACK, bind, &binding);
	return binding.missing;
}

void experiment_stacks_forget_ids(struct stack_tree *tree)
{
	free(tree->by_id);
	tree->by_id = NULL;
	tree->id_count = 0;
}

void experiment_stacks_fini(struct stack_tree *tree)
{
	vec_fini(&tree->nodes);
	vec_fini(&tree->locations);
	experiment_stacks_forget_ids(tree);
	*tree = (struct stack_tree){0};
}
