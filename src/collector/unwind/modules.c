/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's code, as a snapshot behind one atomic pointer.
 *
 * Unmapping is the danger: a handler may be reading CFI that dlclose takes
 * away.  So readers of module memory count themselves, and who unmaps first
 * raises `held` and waits for the count to fall to zero.  Both sides write
 * their own word, then read the other's, both sequentially consistent: at least
 * one of them sees the other.  Only misses pay for it.
 *
 * Snapshots are used again when nobody can be reading one, which the publisher knows: each
 * unwinding goes on under a lock.  So the way that every event goes writes no word here.
 */
#include "collector/unwind/modules.h"

static _Atomic(const struct unwind_modules *) modules_current;
static atomic_uint modules_readers; /* of modules' memory */
static atomic_uint modules_held;
static uint32_t modules_generation;

void unwind_modules_publish(struct unwind_modules *modules)
{
	if (modules) {
		modules_generation++;
		modules->generation = modules_generation;
	}
	/* Pairs with the load in modules_get: the contents come before the pointer, and the
	 * pointer before a look at who is unwinding. */
	atomic_store_explicit(&modules_current, modules, memory_order_seq_cst);
}

const struct unwind_modules *modules_get(void)
{
	return atomic_load_explicit(&modules_current, memory_order_seq_cst);
}

const struct unwind_module *modules_find(const struct unwind_modules *modules, uint64_t pc)
{
	const struct unwind_module *base;
	uint32_t count;

	if (!modules || !modules->count)
		return NULL;
	base = modules->items;
	for (count = modules->count; count > 1; count -= count / 2)
		base = base[count / 2].start <= pc ? base + count / 2 : base;
	return base->start <= pc && pc < base->end ? base : NULL;
}

const struct unwind_module *unwind_module_find(uint64_t pc)
{
	return modules_find(atomic_load_explicit(&modules_current, memory_order_acquire), pc);
}

bool modules_enter(void)
{
	atomic_fetch_add_explicit(&modules_readers, 1, memory_order_seq_cst);
	if (!atomic_load_explicit(&modules_held, memory_order_seq_cst))
		return true;
	modules_leave();
	return false;
}

void modules_leave(void)
{
	atomic_fetch_sub_explicit(&modules_readers, 1, memory_order_release);
}

void unwind_modules_hold(void)
{
	atomic_fetch_add_explicit(&modules_held, 1, memory_order_seq_cst);
}

bool unwind_modules_quiet(void)
{
	return !atomic_load_explicit(&modules_readers, memory_order_seq_cst);
}

void unwind_modules_release(void)
{
	unsigned int held = atomic_load_explicit(&modules_held, memory_order_relaxed);

	/* A fork between hold and release has set it to 0. */
	while (held &&
	       !atomic_compare_exchange_weak_explicit(&modules_held, &held, held - 1,
						      memory_order_release, memory_order_relaxed))
		;
}

void unwind_after_fork(void)
{
	atomic_store_explicit(&modules_readers, 0, memory_order_relaxed);
	atomic_store_explicit(&modules_held, 0, memory_order_relaxed);
}
