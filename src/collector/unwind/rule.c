/* SPDX-License-Identifier: Apache-2.0 */
/* The rule cache: 1 MiB of zero pages, touched where code addresses fall. */
#include "collector/unwind/rule.h"

_Static_assert(sizeof(struct rule_entry) * RULE_CACHE_WAYS == 32, "rule_cache_set shifts by 5");

_Alignas(64) struct rule_entry rule_cache[RULE_CACHE_SETS][RULE_CACHE_WAYS];

static void store(struct rule_entry *entry, uint64_t check, uint64_t rule)
{
	atomic_store_explicit(&entry->check, check, memory_order_relaxed);
	atomic_store_explicit(&entry->rule, rule, memory_order_relaxed);
}

void rule_cache_insert(uint64_t pc, uint64_t tag, uint64_t rule)
{
	struct rule_entry *set = rule_cache_set(pc);

	store(&set[1], atomic_load_explicit(&set[0].check, memory_order_relaxed),
	      atomic_load_explicit(&set[0].rule, memory_order_relaxed));
	store(&set[0], pc ^ tag ^ rule, rule);
}
