/* SPDX-License-Identifier: Apache-2.0 */
/* The rule cache: 1 MiB of zero pages, touched where code addresses fall. */
#include "collector/unwind/rule.h"

_Static_assert(sizeof(struct rule_entry) == 16, "rule_cache_place counts in words");

_Alignas(64) struct rule_entry rule_cache[RULE_CACHE_ENTRIES];

static void store(struct rule_entry *entry, uint64_t check, uint64_t rule)
{
	atomic_store_explicit(&entry->check, check, memory_order_relaxed);
	atomic_store_explicit(&entry->rule, rule, memory_order_relaxed);
}

void rule_cache_insert(uint64_t next, uint64_t tag, uint64_t rule)
{
	struct rule_entry *entry = rule_cache_place(next);

	store(rule_cache_neighbour(entry),
	      atomic_load_explicit(&entry->check, memory_order_relaxed),
	      atomic_load_explicit(&entry->rule, memory_order_relaxed));
	store(entry, next ^ tag ^ rule, rule);
}
