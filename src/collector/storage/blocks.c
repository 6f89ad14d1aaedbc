/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/storage/blocks.h"

#include "collector/storage/blockfile.h"
#include "collector/storage/own_use.h"

#include <stdatomic.h>

static uint64_t limit; /* bytes; 0: none */
static void (*limit_reached)(void);
static _Atomic uint64_t taken;

void blocks_set_limit(uint64_t bytes, void (*reached)(void))
{
	limit_reached = reached;
	limit = bytes;
}

void blocks_forget(void)
{
	atomic_store(&taken, 0);
}

/* Not a part of its caller, whose part of the stack is a handler's at its deepest. */
static __attribute__((noinline)) void count(size_t size)
{
	uint64_t sum = atomic_fetch_add(&taken, size) + size;

	if (limit && sum > limit)
		limit_reached();
}

void *blocks_take(struct blockfile *file, size_t size, uint32_t *arena)
{
	count(size);
	uint32_t abandoned = atomic_load(&file->abandoned);
	void *block = blockfile_take(file, size, arena);

	if (block)
		own_use_make_present(block, size);
	/* Forked in between, by a handler of the program: the block is the parent's. */
	return atomic_load(&file->abandoned) == abandoned ? block : NULL;
}
