/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks, interned as a tree of (parent, pc) nodes while the program runs.
 *
 * Nodes live in the mapped `stacks` file; a lock-free hash table finds them.
 * Inserting twice in a race leaves two nodes for one stack, which readers
 * merge: so nothing here needs a lock, a retry, or more than one CAS.
 * A table that fills up is joined by a larger one; looking up asks both.  The first is a page,
 * for the many processes that end at once; what it has the second one gets, and it is done.
 */
#include "collector/storage/stacktable.h"

#include "collector/arch/sys.h"
#include "collector/storage/blockfile.h"
#include "collector/storage/blocks.h"
#include "collector/storage/own_use.h"
#include "collector/storage/recording.h"

#include <sys/mman.h>

enum {
	SEGMENT_SHIFT = 10,
	SEGMENT_NODES = 1 << SEGMENT_SHIFT,
	SEGMENT_BLOCK = 20480,	/* header and nodes, rounded up to FORMAT_BLOCK_ALIGN */
	SEGMENTS_MAX = 1 << 14, /* 16 million stacks */
	TABLES_MAX = 5,
	TABLE_FIRST_SHIFT = 9,
	TABLE_SECOND_SHIFT = 16,
	TABLE_GROWTH_SHIFT = 3, /* each later table is 8 times the one before */
	PROBES_MAX = 32,
	TABLES_PREFAULTED = 3, /* 4.5 MiB */
};

_Static_assert(sizeof(struct format_block_header) + SEGMENT_NODES * sizeof(struct format_node) <=
		       SEGMENT_BLOCK,
	       "a segment fits its block");
_Static_assert(SEGMENT_BLOCK % FORMAT_BLOCK_ALIGN == 0, "blocks keep their alignment");

struct table {
	_Atomic(uint64_t) *slots; /* hash's upper half << 32 | node id; 0: free */
	uint64_t mask;
};

static _Atomic(struct format_node *) segments[SEGMENTS_MAX];
static struct table tables[TABLES_MAX];
static _Atomic uint32_t table_count;
static _Atomic uint32_t table_first; /* where looking up begins */
static _Atomic uint32_t table_growing;
static _Atomic uint32_t next_id;
_Atomic bool stacktable_pairs;
static _Atomic uint32_t epoch;
static uint32_t epoch_first_id; /* nodes of this epoch have this id or a higher one */

static const char stacks_description[] = "blocks of call stack nodes; id 0 is the root\n"
					 "encoding 2: parent u32, epoch u32, pc u64 (0: unused)\n"
					 "encoding 3: varint id - parent (0: unused), varint r: 0 "
					 "new pc as zigzag delta to the last "
					 "new one, else r-th latest new pc\n";

/*
 * The segment, made if it is not there.  Two threads may make it at once: the
 * later one's block stays in the file, empty.
 */
static struct format_node *segment_at(uint32_t index)
{
	struct format_node *segment = atomic_load_explicit(&segments[index], memory_order_acquire);

	if (segment)
		return segment;
	struct format_block_header *block =
		blocks_take(&collector.stacks, SEGMENT_BLOCK, &(uint32_t){0});
	if (!block)
		return NULL;
	if (index)
		own_use_prefault(block, SEGMENT_BLOCK);
	*block = (struct format_block_header){
		.magic = FORMAT_BLOCK_MAGIC,
		.size = SEGMENT_BLOCK,
		.used = SEGMENT_NODES * sizeof(struct format_node),
		.first = index << SEGMENT_SHIFT,
		.encoding = FORMAT_NODES_RAW,
	};
	if (atomic_compare_exchange_strong(&segments[index], &segment,
					   (struct format_node *)(block + 1)))
		return (struct format_node *)(block + 1);
	block->used = 0;
	return segment;
}

static uint64_t table_slots(uint32_t index)
{
	return (uint64_t)1 << (index ? TABLE_SECOND_SHIFT + (index - 1) * TABLE_GROWTH_SHIFT
				     : TABLE_FIRST_SHIFT);
}

static uint32_t find(struct table *table, uint64_t hash, uint32_t parent, uint64_t pc,
		     uint32_t in_epoch, _Atomic(uint64_t) **free);
static uint64_t mix(uint32_t parent, uint64_t pc, uint32_t in_epoch);
static const struct format_node *node_of(uint32_t id);

/* What is inserted into the first table meanwhile becomes a second node: readers merge. */
static void take_over(struct table *table)
{
	for (uint64_t i = 0; i <= tables[0].mask; i++) {
		uint64_t value = atomic_load_explicit(&tables[0].slots[i], memory_order_acquire);
		const struct format_node *node = value ? node_of((uint32_t)value) : NULL;
		_Atomic(uint64_t) *free = NULL;

		if (node &&
		    !find(table, mix(node->parent, node->pc, node->epoch), node->parent, node->pc,
			  node->epoch, &free) &&
		    free)
			atomic_store_explicit(free, value, memory_order_release);
	}
}

/* The next table; NULL while another thread makes it, or when there can be none. */
static struct table *grow(uint32_t count)
{
	uint32_t expected = 0;

	if (count >= TABLES_MAX || !atomic_compare_exchange_strong(&table_growing, &expected, 1))
		return NULL;
	if (atomic_load(&table_count) == count) {
		uint64_t slots = table_slots(count);

		tables[count].mask = slots - 1;
		tables[count].slots = sys_mmap(slots * sizeof(uint64_t), PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (tables[count].slots && count < TABLES_PREFAULTED)
			own_use_make_present((const void *)tables[count].slots,
					     slots * sizeof(uint64_t));
		if (tables[count].slots && count == 1)
			take_over(&tables[count]);
		if (tables[count].slots)
			atomic_store_explicit(&table_count, count + 1, memory_order_release);
		if (tables[count].slots && count == 1)
			atomic_store_explicit(&table_first, 1, memory_order_release);
	}
	atomic_store(&table_growing, 0);
	return atomic_load(&table_count) > count ? &tables[count] : NULL;
}

void stacktable_open(void)
{
	blockfile_plan(&collector.stacks, collector.directory, FORMAT_FILE_STACKS,
		       stacks_description);
	atomic_store(&next_id, 1);
	epoch_first_id = 0; /* the epoch began in the parent's table, if at all */
}

void stacktable_make_file(void)
{
	blockfile_make(&collector.stacks);
}

void stacktable_abandon(bool in_use)
{
	uint32_t used = atomic_load(&next_id) >> SEGMENT_SHIFT;
	uint32_t count = atomic_load(&table_count);

	for (uint32_t i = 0; i <= used + 1 && i < SEGMENTS_MAX; i++)
		atomic_store(&segments[i], NULL);
	for (uint32_t i = 0; i < count && !in_use; i++)
		sys_munmap((void *)tables[i].slots, (tables[i].mask + 1) * sizeof(uint64_t));
	atomic_store(&table_count, 0);
	atomic_store(&table_first, 0);
	atomic_store(&table_growing, 0);
	blockfile_abandon(&collector.stacks, in_use);
}

uint32_t stacktable_epoch(void)
{
	return atomic_load_explicit(&epoch, memory_order_relaxed);
}

void stacktable_next_epoch(void)
{
	epoch_first_id = atomic_load(&next_id);
	atomic_fetch_add(&epoch, 1);
}

uint32_t stacktable_last_epoch(void)
{
	return stacktable_epoch() - (atomic_load(&next_id) == epoch_first_id);
}

static uint64_t mix(uint32_t parent, uint64_t pc, uint32_t in_epoch)
{
	uint64_t key = pc ^ ((uint64_t)parent * 0x9e3779b97f4a7c15u + in_epoch);

	key = (key ^ key >> 32) * 0xd6e8feb86659fd93u;
	return key ^ key >> 32;
}

/*
 * The node, or NULL where its segment is not there: a lookup that a handler's fork interrupted
 * goes on in the child with the parent's ids.
 */
static const struct format_node *node_of(uint32_t id)
{
	const struct format_node *segment =
		atomic_load_explicit(&segments[id >> SEGMENT_SHIFT], memory_order_acquire);

	return segment ? &segment[id & (SEGMENT_NODES - 1)] : NULL;
}

/* A new node's id, or 0. */
static uint32_t new_node(uint32_t parent, uint64_t pc, uint32_t in_epoch)
{
	uint32_t id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
	uint32_t index = id >> SEGMENT_SHIFT;

	if (index >= SEGMENTS_MAX) {
		atomic_store(&next_id, SEGMENTS_MAX << SEGMENT_SHIFT);
		return 0;
	}
	struct format_node *segment = segment_at(index);

	/* A parent that is not there yet is of another table: from before a fork in a handler. */
	if (!segment || parent >= id)
		return 0;
	struct format_node *node = &segment[id & (SEGMENT_NODES - 1)];
	node->parent = parent;
	node->epoch = in_epoch;
	/* pairs with readers of the growing file: pc says that the node is whole */
	__atomic_store_n(&node->pc, pc, __ATOMIC_RELEASE);
	return id;
}

static uint32_t visit_from(uint32_t id, uint32_t from, void (*visit)(uint64_t pc))
{
	uint32_t end = atomic_load(&next_id);

	if (from > id && from <= end) /* beyond: of an earlier recording */
		id = from;
	for (; id < end && id >> SEGMENT_SHIFT < SEGMENTS_MAX; id++) {
		const struct format_node *nodes =
			atomic_load_explicit(&segments[id >> SEGMENT_SHIFT], memory_order_acquire);

		/* pairs with new_node */
		if (nodes)
			visit(__atomic_load_n(&nodes[id & (SEGMENT_NODES - 1)].pc,
					      __ATOMIC_ACQUIRE));
	}
	return end;
}

uint32_t stacktable_visit(uint32_t from, void (*visit)(uint64_t pc))
{
	return visit_from(epoch_first_id ? epoch_first_id : 1, from, visit);
}

uint32_t stacktable_visit_all(uint32_t from, void (*visit)(uint64_t pc))
{
	return visit_from(1, from, visit);
}

uint32_t stacktable_of_pair(uint32_t id, uint64_t *pc)
{
	const struct format_node *node = id ? node_of(id) : NULL;

	*pc = node && format_pc_is_pair(node->pc) ? node->pc : 0;
	return *pc ? node->parent : id;
}

static bool node_is(uint32_t id, uint32_t parent, uint64_t pc, uint32_t in_epoch)
{
	const struct format_node *node = node_of(id);

	return node && node->pc == pc && node->parent == parent && node->epoch == in_epoch;
}

/* Looks the key up in one table; *free is where it would go, or NULL. */
static uint32_t find(struct table *table, uint64_t hash, uint32_t parent, uint64_t pc,
		     uint32_t in_epoch, _Atomic(uint64_t) **free)
{
	*free = NULL;
	for (uint64_t i = 0; i < PROBES_MAX; i++) {
		_Atomic(uint64_t) *slot = &table->slots[(hash + i) & table->mask];
		uint64_t value = atomic_load_explicit(slot, memory_order_acquire);

		if (!value) {
			*free = slot;
			return 0;
		}
		if (value >> 32 == hash >> 32 && node_is((uint32_t)value, parent, pc, in_epoch))
			return (uint32_t)value;
	}
	return 0;
}

uint32_t stacktable_intern(uint32_t parent, uint64_t pc, void *unused)
{
	(void)unused;
	/* What was found on a stack that could not be followed may be anything. */
	if (pc >= FORMAT_PC_PAIR)
		pc = FORMAT_PC_UNKNOWN;
	return stacktable_intern_in(parent, pc, stacktable_epoch());
}

uint32_t stacktable_intern_in(uint32_t parent, uint64_t pc, uint32_t in_epoch)
{
	uint64_t hash = mix(parent, pc, in_epoch);
	uint32_t count = atomic_load_explicit(&table_count, memory_order_acquire);
	_Atomic(uint64_t) *free = NULL;

	for (uint32_t i = atomic_load_explicit(&table_first, memory_order_relaxed); i < count;
	     i++) {
		uint32_t id = find(&tables[i], hash, parent, pc, in_epoch, &free);

		if (id)
			return id;
	}
	if (!free) {
		struct table *table = grow(count);

		if (table)
			find(table, hash, parent, pc, in_epoch, &free);
	}
	uint32_t id = new_node(parent, pc, in_epoch);
	if (!id)
		return FORMAT_NO_STACK;
	uint64_t expected = 0;
	if (free) /* losing the race leaves a second node for this stack: readers merge */
		atomic_compare_exchange_strong_explicit(free, &expected, (hash >> 32 << 32) | id,
							memory_order_release, memory_order_relaxed);
	return id;
}

uint32_t stacktable_intern_pair(uint32_t stack, uint64_t pc)
{
	atomic_store_explicit(&stacktable_pairs, true, memory_order_relaxed);
	return stacktable_intern_in(stack, pc, 0);
}

uint32_t stacktable_intern_leaf(uint32_t stack, uint64_t pc)
{
	uint64_t pair;
	uint32_t leaf = stacktable_intern(stacktable_of_pair(stack, &pair), pc, NULL);

	return pair ? stacktable_intern_pair(leaf, pair) : leaf;
}
