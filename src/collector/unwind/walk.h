/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One unwinding in progress.
 *
 * The state is what the way outwards depends on: the pc to look up, the stack
 * pointer and bp.  Other registers matter to one frame in thousands; they are
 * found again from the last known set when such a frame comes up (slow.c).
 * Frames are collected leaf first in `fresh`, the upper half of the memory.
 */
#ifndef HELIO_COLLECTOR_UNWIND_WALK_H
#define HELIO_COLLECTOR_UNWIND_WALK_H

#include "collector/arch/word.h"
#include "collector/unwind/unwind.h"

/* The value of bp when it is not known: no address, so that using it fails. */
#define WALK_BP_UNKNOWN (UINT64_C(1) << 63)

enum { WALK_ADDRESS_BITS = 47 }; /* of an address of the program */

enum step {
	STEP_ON,   /* the state is that of the caller */
	STEP_END,  /* this was the outermost frame */
	STEP_FAIL, /* see memory->reason */
};

struct walk {
	struct unwind_memory *memory;
	const struct unwind_modules *modules;
	bool held;    /* modules that do not stay are read through copies */
	bool guessed; /* the last rule is of a module whose CFI could not be read */
	const struct unwind_regs *regs;
	const struct unwind_stack *stack;
	uint64_t low; /* words at [low, low + span] are read directly */
	uint64_t span;
	uint64_t tag; /* of the module generation */
	uint64_t pc;  /* the state */
	uint64_t sp;
	uint64_t bp;
	int32_t bp_slot; /* how the state came about, for struct unwind_frame */
	struct unwind_frame *fresh;
	uint32_t fresh_count;	 /* the last one is the state */
	uint32_t exact_index;	 /* the fresh frame whose pc is an interrupted one, not a return
				    address - 1 */
	uint32_t cursor;	 /* remembered frames at and above it may still match */
	uint32_t signals;	 /* signal frames crossed by their rule */
	uint32_t signal_index;	 /* the fresh frame that the last one of them interrupted */
	uint64_t signal_context; /* the address of its ucontext */
	uint32_t full_index;	 /* the fresh frame whose registers are in scratch.full */
	bool full;		 /* there are such */
};

/*
 * Sets what is read directly for a walk whose frames lie above `sp`: from there to
 * the end of the stack's known range, the whole range if sp is a little below it, else nothing.
 */
void walk_bound(struct walk *walk, uint64_t sp);

/* Around all that reads modules' memory, which may be `held` in between. */
void walk_enter(struct walk *walk);
void walk_leave(struct walk *walk);

/* The module that holds `pc`, between enter and leave; NULL: none that may be read in place. */
const struct unwind_module *walk_module(const struct walk *walk, uint64_t pc);

bool walk_load_slow(struct walk *walk, uint64_t address, uint64_t *value);

/* Reads as much as there is from `address` on into memory->chunk; false: less than 8 bytes. */
bool walk_load_chunk(struct walk *walk, uint64_t address);

/* Whether the pc is in code that the snapshot lacks, but the caller can learn. */
static inline bool walk_can_learn(const struct walk *walk, uint64_t pc)
{
	return walk->stack->object_at && walk->stack->object_at(pc, NULL) == UNWIND_OBJECT_NEW;
}

/* The 8 bytes at a stack address; false: not readable. */
static inline bool walk_load(struct walk *walk, uint64_t address, uint64_t *value)
{
	if (__builtin_expect(address - walk->low <= walk->span, 1)) {
		*value = *(const word64 *)address;
		return true;
	}
	return walk_load_slow(walk, address, value);
}

static inline enum step walk_fail(struct walk *walk, enum unwind_reason reason)
{
	walk->memory->reason = reason;
	return STEP_FAIL;
}

/* The state becomes that of a caller whose return address was read. */
static inline enum step walk_return(struct walk *walk, uint64_t address, uint64_t cfa, uint64_t bp,
				    int32_t bp_slot)
{
	if (!address)
		return STEP_END;
	walk->pc = address - 1;
	walk->sp = cfa;
	walk->bp = bp;
	walk->bp_slot = bp_slot;
	return STEP_ON;
}

/* Whether the state's frame was interrupted, rather than in a call. */
static inline bool walk_is_exact(const struct walk *walk)
{
	return walk->fresh_count - 1 == walk->exact_index;
}

#endif
