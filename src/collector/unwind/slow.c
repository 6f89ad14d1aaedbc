/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rule cache cannot answer: code met for the first time, and frames
 * whose CFI hangs on registers other than sp and bp.
 *
 * For the latter all registers are needed.  They are known where the program was
 * interrupted, and are carried outwards from there, frame by frame, through the
 * frames that the walk has already passed: their sp, bp and pc are known, only
 * the registers that they saved have to be read.  The set stays in the scratch
 * area, so a stack with several such frames costs each step once.
 *
 * Code outside all modules (a JIT compiler's) is read through a copy, because it may
 * be unmapped at any moment; so are code and CFI of a module which may be about to go.
 */
#include "collector/unwind/slow.h"

#include "collector/unwind/arch.h"
#include "collector/unwind/cfi_copy.h"
#include "collector/unwind/expression.h"
#include "collector/unwind/modules.h"
#include "collector/unwind/rule.h"
#include "collector/unwind/scan.h"

#include <stdatomic.h>

static _Atomic bool met_foreign;

bool unwind_met_foreign(void)
{
	return atomic_load_explicit(&met_foreign, memory_order_relaxed);
}

/* The row for a pc, into the scratch area. The caller is a reader of modules. */
static enum cfi_answer find_row(struct walk *walk, uint64_t pc)
{
	struct walk_scratch *scratch = walk_scratch(walk);
	const struct unwind_module *module = modules_find(walk->modules, pc);

	if (!module)
		return CFI_NONE;
	if (walk_module(walk, pc))
		return cfi_find(module, pc, scratch->states, &scratch->result);
	return cfi_copy_find(walk->memory, walk->stack, module, pc, scratch->states,
			     &scratch->result);
}

bool slow_row(struct walk *walk)
{
	return find_row(walk, walk->pc) == CFI_FOUND;
}

/* A rule read off the instructions at `at`, if what it leads to now is behind a call; else 0. */
static uint64_t checked_scan(struct walk *walk, const struct unwind_module *module, uint64_t at)
{
	uint64_t rule = scan_rule(module, at, walk_scratch(walk)->paths);
	uint64_t cfa, address;

	if (!rule)
		return 0;
	cfa = (rule_kind(rule) == RULE_BP ? walk->bp : walk->sp) + (uint64_t)rule_cfa(rule);
	if (!walk_load(walk, cfa - ARCH_RETURN_SIZE, &address) ||
	    (!arch_is_after_call(walk, address) && !arch_is_after_foreign_call(walk, address)))
		return 0;
	return rule;
}

/*
 * The rule for the instruction at `at`, outside all modules that may be read in place, from its
 * code: 0 if there is none.  Jumps backwards are followed within its page only.
 */
static uint64_t foreign_rule(struct walk *walk, uint64_t at)
{
	enum { PAGE = 4096, BEFORE = 512 };
	struct unwind_memory *memory = walk->memory;
	uint64_t start = (at & (PAGE - 1)) > BEFORE ? at - BEFORE : at & -(uint64_t)PAGE;

	/* A return address that is none would have data taken for code. */
	if (!walk_is_exact(walk) && !arch_is_after_foreign_call(walk, at))
		return 0;
	atomic_store_explicit(&met_foreign, true, memory_order_relaxed);
	if (!walk->stack->read_slow || at >> WALK_ADDRESS_BITS || !walk_load_chunk(walk, start))
		return 0;
	struct unwind_module copy = {
		.start = start,
		.end = start + memory->chunk_size,
		.shift = (uint64_t)memory->chunk - start,
	};
	return checked_scan(walk, &copy, at);
}

/* The rule by the address `pc` to look up, which belongs to the instruction at `at` or before it.
 */
static uint64_t read_rule(struct walk *walk, uint64_t pc, uint64_t at)
{
	enum cfi_answer answer = find_row(walk, pc);
	const struct unwind_module *module = walk_module(walk, pc);
	uint64_t rule;

	walk->guessed = !module && answer != CFI_FOUND && modules_find(walk->modules, pc);
	if (answer == CFI_FOUND)
		return rule_from_row(&walk_scratch(walk)->result, pc);
	if (answer == CFI_BAD)
		return RULE_BAD;
	if (module) {
		rule = arch_rule_from_code(module, pc);
		if (!rule)
			rule = checked_scan(walk, module, at);
	} else {
		rule = foreign_rule(walk, at);
	}
	return rule ? rule : RULE_NO_CFI;
}

/*
 * Where the stack says "return here" but no call leads there, the runtime of a
 * language has put the address of a landing pad: what is before it belongs to
 * other code, often the end of the function.  Then the rule is that of the address
 * itself, if there is a difference; 0 if not.
 */
static uint64_t landing_rule(struct walk *walk, uint64_t rule)
{
	uint64_t address = walk->pc + 1;
	uint64_t other;

	if (walk_is_exact(walk) || arch_is_after_call(walk, address) ||
	    !walk_module(walk, walk->pc))
		return 0;
	other = read_rule(walk, address, address);
	if (other == rule || rule_kind(other) > RULE_DEREF_BP ||
	    walk_scratch(walk)->result.function == address)
		return 0;
	return other;
}

/* Whether the state's code is in an object that the caller has to learn first. */
static bool is_new(const struct walk *walk)
{
	const struct unwind_module *module = modules_find(walk->modules, walk->pc);

	return walk->stack->object_at && !walk_module(walk, walk->pc) &&
	       walk->stack->object_at(walk->pc, module) == UNWIND_OBJECT_NEW;
}

uint64_t slow_rule(struct walk *walk)
{
	uint64_t at = walk->pc + !walk_is_exact(walk);
	uint64_t rule, other;
	bool guessed;

	walk->memory->counts.misses++;
	walk_enter(walk);
	if (is_new(walk)) {
		walk_leave(walk);
		return RULE_ABSENT;
	}
	rule = read_rule(walk, walk->pc, at);
	guessed = walk->guessed;
	other = landing_rule(walk, rule);
	walk_leave(walk);
	/* Not into the cache, where it would also hold for the instruction before. */
	if (other)
		return other;
	if (guessed)
		return rule;
	rule_cache_insert(walk->pc + 1, walk->tag, rule);
	return rule;
}

/* The registers at the last point where all are known: the leaf, or a signal's ucontext. */
static void full_begin(struct walk *walk)
{
	struct unwind_regs *full = &walk_scratch(walk)->full;
	unsigned int i;

	if (walk->signals && (!walk->full || walk->full_index < walk->signal_index)) {
		walk->full_index = walk->signal_index;
		full->known = 0;
		for (i = 0; i < UNWIND_REGS; i++) {
			if (walk_load(walk, walk->signal_context + arch_context_offset[i],
				      &full->reg[i]))
				full->known |= 1u << i;
		}
	} else if (!walk->full) {
		walk->full_index = 0;
		*full = *walk->regs;
	}
	walk->full = true;
}

/* What a column makes of a register. */
static bool column_value(struct walk *walk, const struct unwind_regs *regs, uint64_t pc,
			 unsigned int reg, uint64_t cfa, uint64_t *value)
{
	const struct cfi_result *result = &walk_scratch(walk)->result;
	const struct expression expression = {
		.module = result->module, .pc = pc, .walk = walk, .regs = regs};
	uint32_t column = result->row.column[reg];
	struct expression_value number = {.constant = cfa};
	int64_t operand = cfi_value(column);

	switch (cfi_kind(column)) {
	case CFI_OFFSET:
		return walk_load(walk, cfa + (uint64_t)operand, value);
	case CFI_VALUE_OFFSET:
		*value = cfa + (uint64_t)operand;
		return true;
	case CFI_REGISTER:
		if (operand >= UNWIND_REGS || !(regs->known >> operand & 1))
			return false;
		*value = regs->reg[operand];
		return true;
	case CFI_EXPRESSION:
		return expression_evaluate(&expression, operand, true, &number) &&
		       walk_load(walk, number.constant, value);
	case CFI_VALUE_EXPRESSION:
		*value = 0;
		if (!expression_evaluate(&expression, operand, true, &number))
			return false;
		*value = number.constant;
		return true;
	case CFI_UNDEFINED:
		return false;
	default:
		*value = regs->reg[reg];
		return reg != ARCH_PC && regs->known >> reg & 1 &&
		       (ARCH_PRESERVED >> reg & 1 || result->signal);
	}
}

/* The registers of the caller but sp and pc, through the row in the scratch area. */
static void full_apply(struct walk *walk, uint64_t pc, uint64_t cfa)
{
	struct walk_scratch *scratch = walk_scratch(walk);
	unsigned int i;

	scratch->next.known = 0;
	for (i = 0; i < UNWIND_REGS; i++) {
		if (column_value(walk, &scratch->full, pc, i, cfa, &scratch->next.reg[i]))
			scratch->next.known |= 1u << i;
	}
}

/* Writes what the walk knows of a frame into the registers. */
static void full_set(struct unwind_regs *regs, const struct unwind_frame *frame)
{
	regs->reg[ARCH_SP] = frame->sp;
	regs->reg[ARCH_BP] = frame->bp;
	regs->reg[ARCH_PC] = frame->pc;
	regs->known |= 1u << ARCH_SP | 1u << ARCH_PC;
	if (frame->bp == WALK_BP_UNKNOWN)
		regs->known &= ~(1u << ARCH_BP);
	else
		regs->known |= 1u << ARCH_BP;
}

/* Carries the registers to the state's frame; the caller is a reader of modules. */
static void full_reach(struct walk *walk)
{
	struct walk_scratch *scratch = walk_scratch(walk);

	full_begin(walk);
	while (walk->full_index + 1 < walk->fresh_count) {
		const struct unwind_frame *frame = &walk->fresh[walk->full_index];

		if (find_row(walk, frame[0].pc) == CFI_FOUND) {
			full_apply(walk, frame[0].pc, frame[1].sp);
			scratch->full = scratch->next;
		} else {
			scratch->full.known = 0;
		}
		full_set(&scratch->full, &frame[1]);
		walk->full_index++;
	}
}

bool slow_register(struct walk *walk, unsigned int reg, uint64_t *value)
{
	const struct unwind_regs *full = &walk_scratch(walk)->full;

	walk->memory->counts.slow++;
	walk_enter(walk);
	full_reach(walk);
	walk_leave(walk);
	*value = full->reg[reg];
	return full->known >> reg & 1;
}

static bool full_cfa(struct walk *walk, uint64_t *cfa)
{
	const struct walk_scratch *scratch = walk_scratch(walk);
	const struct cfi_row *row = &scratch->result.row;
	const struct expression expression = {.module = scratch->result.module,
					      .pc = walk->pc,
					      .walk = walk,
					      .regs = &scratch->full};
	struct expression_value value;

	if (row->cfa_register == CFI_CFA_EXPRESSION) {
		if (!expression_evaluate(&expression, row->cfa_offset, false, &value) ||
		    value.base != EXPRESSION_NUMBER)
			return false;
		*cfa = value.constant;
		return true;
	}
	if (row->cfa_register >= CFI_COLUMNS || !(scratch->full.known >> row->cfa_register & 1))
		return false;
	*cfa = scratch->full.reg[row->cfa_register] + (uint64_t)row->cfa_offset;
	return true;
}

bool slow_entered_by_return(struct walk *walk)
{
	return !walk_is_exact(walk) && find_row(walk, walk->pc + 1) == CFI_FOUND &&
	       walk_scratch(walk)->result.function == walk->pc + 1;
}

static enum step full_step(struct walk *walk)
{
	struct walk_scratch *scratch = walk_scratch(walk);
	const struct unwind_regs *next = &scratch->next;
	uint64_t cfa, sp, bp;
	bool signal, moved;

	full_reach(walk);
	if (find_row(walk, walk->pc) != CFI_FOUND)
		return walk_fail(walk, UNWIND_REASON_BAD_CFI);
	if (!full_cfa(walk, &cfa))
		return slow_entered_by_return(walk) ? STEP_END
						    : walk_fail(walk, UNWIND_REASON_REGISTER);
	full_apply(walk, walk->pc, cfa);
	if (!(next->known >> ARCH_PC & 1))
		return walk_fail(walk, UNWIND_REASON_UNREADABLE);
	signal = scratch->result.signal;
	sp = cfa;
	moved = cfi_kind(scratch->result.row.column[ARCH_SP]) > CFI_SAME;
	if (moved && next->known >> ARCH_SP & 1)
		sp = next->reg[ARCH_SP];
	bp = next->known >> ARCH_BP & 1 ? next->reg[ARCH_BP] : WALK_BP_UNKNOWN;
	/*
	 * Where the interrupted instruction belongs to a jump to another context
	 * (setcontext, the end of a throw), the stack pointer may stay or go anywhere.
	 */
	if ((sp < walk->sp + !walk_is_exact(walk) && !signal && !(moved && walk_is_exact(walk))) ||
	    sp >> WALK_ADDRESS_BITS)
		return walk_fail(walk, UNWIND_REASON_BAD_STACK);
	if (walk_return(walk, next->reg[ARCH_PC], sp, bp, FRAME_OPAQUE) == STEP_END)
		return STEP_END;
	if (signal) {
		walk->pc++;
		walk->exact_index = walk->fresh_count;
	}
	/* The caller's registers are at hand: keep them. */
	scratch->full = scratch->next;
	scratch->full.reg[ARCH_SP] = sp;
	scratch->full.known |= 1u << ARCH_SP;
	walk->full_index++;
	return STEP_ON;
}

enum step slow_step(struct walk *walk)
{
	enum step step;

	walk->memory->counts.slow++;
	walk_enter(walk);
	step = full_step(walk);
	walk_leave(walk);
	return step;
}
