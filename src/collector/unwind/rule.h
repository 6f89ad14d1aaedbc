/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to get from a frame to its caller, in 64 bits, and the cache from code
 * addresses to rules.
 *
 * The CFA offset sits in the top bits because it is on the critical path from
 * one return address to the next: one arithmetic shift takes it out.  "bp keeps
 * its value" is written as "bp was saved where the return address is", which no
 * function does: the hot path then loads that slot, needed anyway, and selects.
 *
 * Cache entries are {key ^ rule, rule}: an entry torn between two writers does
 * not match any key.  The key mixes in the module generation, which makes all
 * older entries vanish.  A rule has two places; a newcomer pushes what is in its
 * first place into that one's neighbour.
 */
#ifndef HELIO_COLLECTOR_UNWIND_RULE_H
#define HELIO_COLLECTOR_UNWIND_RULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum rule_kind {
	RULE_ABSENT = 0, /* not in the cache */
	RULE_SP,	 /* CFA = sp + offset */
	RULE_BP,	 /* CFA = bp + offset */
	RULE_REGISTER,	 /* CFA = another register + offset */
	RULE_DEREF_BP,	 /* CFA = *(bp + offset), bp saved at bp + its offset: a realigned stack */
	RULE_SIGNAL,	 /* the frame that the kernel made for a signal handler */
	RULE_STOP,	 /* the outermost frame */
	RULE_NO_CFI,	 /* code without CFI: see arch_fallback */
	RULE_SLOW,	 /* needs all registers: interpret the CFI each time */
	RULE_BAD,	 /* CFI that makes no sense */
};

/* bit 0: kind, 4: register, 24: bp offset / 8, 40: CFA offset */
enum {
	RULE_REGISTER_SHIFT = 4,
	RULE_BP_SHIFT = 24,
	RULE_CFA_SHIFT = 40,
	RULE_BP_SAME = -8, /* as a bp offset: bp keeps its value */
};

/*
 * bp_slot of struct unwind_frame says how the walk came to the frame: the place
 * from its sp where bp was read, a multiple of 8; with FRAME_BY_BP added if
 * the CFA hung on the callee's bp.  FRAME_OPAQUE: in a way that cannot be
 * verified afterwards with a load and a compare.
 */
enum { FRAME_OPAQUE = 0, FRAME_BY_BP = 1 };

static inline uint64_t rule_make(enum rule_kind kind, unsigned int reg, int64_t cfa, int64_t bp)
{
	return (uint64_t)kind | (uint64_t)reg << RULE_REGISTER_SHIFT |
	       ((uint64_t)(bp / 8) & 0xffff) << RULE_BP_SHIFT | (uint64_t)cfa << RULE_CFA_SHIFT;
}

/* Whether the offsets fit. */
static inline bool rule_fits(int64_t cfa, int64_t bp)
{
	return cfa >= -(1 << 23) && cfa < 1 << 23 && bp >= -(1 << 18) && bp < 1 << 18 && !(bp & 7);
}

static inline enum rule_kind rule_kind(uint64_t rule)
{
	return (enum rule_kind)(rule & 0xf);
}

static inline unsigned int rule_register(uint64_t rule)
{
	return (unsigned int)(rule >> RULE_REGISTER_SHIFT) & 0x1f;
}

static inline int64_t rule_cfa(uint64_t rule)
{
	return (int64_t)rule >> RULE_CFA_SHIFT;
}

static inline int64_t rule_bp(uint64_t rule)
{
	return ((int64_t)(rule << 24) >> 48) * 8;
}

enum { RULE_CACHE_ENTRIES = 1 << 16 };

struct rule_entry {
	_Atomic uint64_t check; /* key ^ rule */
	_Atomic uint64_t rule;
};

/* Also named hidden here: then the address is an immediate, not a load from the GOT. */
extern __attribute__((visibility("hidden"))) struct rule_entry rule_cache[RULE_CACHE_ENTRIES];

/* The part of the key that makes rules of other generations strangers. */
static inline uint64_t rule_tag(uint32_t generation)
{
	return generation * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * The first place of the rule for the code before `next`: bits 1 to 16, which
 * one masking gives, scaled by 8 in the load.  A hash that mixed in more bits
 * would be no better, as call sites are spread well enough, but would lengthen
 * the critical path.  The second place is the neighbour in the same cache line.
 */
static inline struct rule_entry *rule_cache_place(uint64_t next)
{
	return (struct rule_entry *)((uint64_t *)rule_cache +
				     (next & (RULE_CACHE_ENTRIES - 1) * 2));
}

static inline struct rule_entry *rule_cache_neighbour(struct rule_entry *entry)
{
	return (struct rule_entry *)((uintptr_t)entry ^ sizeof(*entry));
}

/*
 * The rule for code address next - 1, or 0: a return address as it is found
 * needs no arithmetic.  Order is not needed: an entry proves itself.
 */
static inline uint64_t rule_cache_find(uint64_t next, uint64_t tag)
{
	struct rule_entry *entry = rule_cache_place(next);
	uint64_t rule = atomic_load_explicit(&entry->rule, memory_order_relaxed);

	if (__builtin_expect((atomic_load_explicit(&entry->check, memory_order_relaxed) ^ rule) ==
				     (next ^ tag),
			     1))
		return rule;
	entry = rule_cache_neighbour(entry);
	rule = atomic_load_explicit(&entry->rule, memory_order_relaxed);
	if ((atomic_load_explicit(&entry->check, memory_order_relaxed) ^ rule) == (next ^ tag))
		return rule;
	return 0;
}

void rule_cache_insert(uint64_t next, uint64_t tag, uint64_t rule);

#endif
