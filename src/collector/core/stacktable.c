/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks, interned as a tree of (parent, pc) nodes while the program runs.
 *
 * Nodes live in the mapped `stacks` file; a lock-free hash table finds them.
 * Inserting twice in a race leaves two nodes for one stack, which readers
 * merge: so nothing here needs a lock, a retry, or more than one CAS.
 * A table that fills up is joined by a larger one; looking up asks both.
 */
#include "collector/core/control.h"
#include "collector/core/core.h"
#include "collector/core/sys.h"
#include "collector/sources/counter.h"

#include <sys/mman.h>

enum {
	SEGMENT_SHIFT = 10,
	SEGMENT_NODES = 1 << SEGMENT_SHIFT,
	SEGMENT_BLOCK = 20480,	/* header and nodes, rounded up to FORMAT_BLOCK_ALIGN */
	SEGMENTS_MAX = 1 << 14, /* 16 million stacks */
	TABLES_MAX = 4,
	TABLE_FIRST_SHIFT = 16,
	TABLE_GROWTH_SHIFT = 3, /* each table is 8 times the one before */
	PROBES_MAX = 32,
	TABLES_PREFAULTED = 2, /* 4.5 MiB */
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
static _Atomic uint32_t table_growing;
static _Atomic uint32_t next_id;
static _Atomic uint32_t epoch;
static uint32_t no_stack_node;

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
		control_take_block(&collector.stacks, SEGMENT_BLOCK, &(uint32_t){0});
	if (!block)
		return NULL;
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

/* The next table; NULL while another thread makes it, or when there can be none. */
static struct table *grow(uint32_t count)
{
	uint32_t expected = 0;

	if (count >= TABLES_MAX || !atomic_compare_exchange_strong(&table_growing, &expected, 1))
		return NULL;
	if (atomic_load(&table_count) == count) {
		uint64_t slots = (uint64_t)1 << (TABLE_FIRST_SHIFT + count * TABLE_GROWTH_SHIFT);

		tables[count].mask = slots - 1;
		tables[count].slots = sys_mmap(slots * sizeof(uint64_t), PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (tables[count].slots && count < TABLES_PREFAULTED)
			counter_prefault((const void *)tables[count].slots,
					 slots * sizeof(uint64_t));
		if (tables[count].slots)
			atomic_store_explicit(&table_count, count + 1, memory_order_release);
	}
	atomic_store(&table_growing, 0);
	return atomic_load(&table_count) > count ? &tables[count] : NULL;
}

int stacktable_open(void)
{
	int result = blockfile_create(&collector.stacks, collector.directory, FORMAT_FILE_STACKS,
				      stacks_description);

	if (result)
		return result;
	atomic_store(&next_id, 1);
	if (!segment_at(0) || (!atomic_load(&table_count) && !grow(0)))
		return -ENOMEM;
	no_stack_node = stacktable_intern(0, FORMAT_PC_NO_STACK, NULL);
	return 0;
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
	atomic_store(&table_growing, 0);
	no_stack_node = 0;
	blockfile_abandon(&collector.stacks, in_use);
}

uint32_t stacktable_epoch(void)
{
	return atomic_load_explicit(&epoch, memory_order_relaxed);
}

void stacktable_next_epoch(void)
{
	atomic_fetch_add(&epoch, 1);
}

static uint64_t mix(uint32_t parent, uint64_t pc, uint32_t in_epoch)
{
	uint64_t key = pc ^ ((uint64_t)parent * 0x9e3779b97f4a7c15u + in_epoch);

	key = (key ^ key >> 32) * 0xd6e8feb86659fd93u;
	return key ^ key >> 32;
}

static const struct format_node *node_of(uint32_t id)
{
	return &atomic_load_explicit(&segments[id >> SEGMENT_SHIFT],
				     memory_order_acquire)[id & (SEGMENT_NODES - 1)];
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

static bool node_is(uint32_t id, uint32_t parent, uint64_t pc, uint32_t in_epoch)
{
	const struct format_node *node = node_of(id);

	return node->pc == pc && node->parent == parent && node->epoch == in_epoch;
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
	uint32_t in_epoch = stacktable_epoch();
	uint64_t hash = mix(parent, pc, in_epoch);
	uint32_t count = atomic_load_explicit(&table_count, memory_order_acquire);
	_Atomic(uint64_t) *free = NULL;

	(void)unused;
	for (uint32_t i = 0; i < count; i++) {
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
		return no_stack_node;
	uint64_t expected = 0;
	if (free) /* losing the race leaves a second node for this stack: readers merge */
		atomic_compare_exchange_strong_explicit(free, &expected, (hash >> 32 << 32) | id,
							memory_order_release, memory_order_relaxed);
	return id;
}
