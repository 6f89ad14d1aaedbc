/* SPDX-License-Identifier: Apache-2.0 */
/* From CFI to rules, and the steps that no rule can express. */
#ifndef HELIO_COLLECTOR_UNWIND_SLOW_H
#define HELIO_COLLECTOR_UNWIND_SLOW_H

#include "collector/unwind/cfi.h"
#include "collector/unwind/scan.h"
#include "collector/unwind/walk.h"

/* The working room in struct unwind_memory. */
struct walk_scratch {
	union {
		struct cfi_row states[CFI_STATES];
		struct scan_path paths[SCAN_PATHS];
	};
	struct cfi_result result;
	struct unwind_regs full; /* the registers of fresh frame full_index */
	struct unwind_regs next;
};

_Static_assert(sizeof(struct walk_scratch) <= UNWIND_SCRATCH_WORDS * sizeof(uint64_t),
	       "UNWIND_SCRATCH_WORDS");

static inline struct walk_scratch *walk_scratch(struct walk *walk)
{
	return (struct walk_scratch *)(void *)walk->memory->scratch;
}

/* The rule that one row of CFI amounts to. */
uint64_t rule_from_row(const struct cfi_result *result, uint64_t pc);

/* The rule for the state's pc, from CFI, and into the cache; RULE_ABSENT: of an object to learn. */
uint64_t slow_rule(struct walk *walk);

/* The row for the state's pc, into the scratch area. The caller is a reader of modules. */
bool slow_row(struct walk *walk);

/*
 * Whether the return address is a function's first instruction.  No call leads
 * to that but one that never returns; what else does is a first frame that
 * makecontext and its like have made up, and the code before it means nothing.
 * The caller is a reader of modules.
 */
bool slow_entered_by_return(struct walk *walk);

/* The step out of the state's frame with all registers. */
enum step slow_step(struct walk *walk);

/* The value of a register in the state's frame; false: not known. */
bool slow_register(struct walk *walk, unsigned int reg, uint64_t *value);

#endif
