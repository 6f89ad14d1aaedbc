/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86-64: registers, signal frames, and code without CFI.
 *
 * Code without CFI (hand-written assembly, JIT output, PLTs of other linkers)
 * is guessed at, most reliable sign first.  A stack word is believed to be a
 * return address if a call instruction lies before it; that is strong when the
 * call's target, followed through one PLT slot, is where the pc is.
 */
#include "collector/unwind/arch.h"

#include <ucontext.h>

#include "collector/arch/word.h"
#include "collector/unwind/modules.h"
#include "collector/unwind/rule.h"
#include "collector/unwind/slow.h"

enum {
	FUNCTION_SPAN = 1 << 16, /* longest function believed in without CFI */
	TOP_WORDS = 16,		 /* stack words looked at for a frame without CFI */
	SEARCH_WORDS = 1024,	 /* … and for a frame whose bp is not known */
};

const uint8_t arch_context_offset[UNWIND_REGS] = {144, 136, 152, 128, 112, 104, 120, 160, 40,
						  48,  56,  64,	 72,  80,  88,	96,  168};

_Static_assert(offsetof(ucontext_t, uc_mcontext) + REG_R8 * 8 == 40 &&
		       offsetof(ucontext_t, uc_mcontext) + REG_RIP * 8 == ARCH_CONTEXT_PC,
	       "arch_context_offset");

void unwind_regs_from_context(struct unwind_regs *regs, const void *ucontext)
{
	unsigned int i;

	for (i = 0; i < UNWIND_REGS; i++)
		regs->reg[i] = *(const uint64_t *)((const char *)ucontext + arch_context_offset[i]);
	regs->known = (1u << UNWIND_REGS) - 1;
}

/* The first bytes of runtime.asyncPreempt: push %rbp; mov %rsp,%rbp; pushf. No compiler's. */
bool unwind_is_async_preempt(const uint8_t code[UNWIND_PREEMPT_SIZE])
{
	static const uint8_t begin[] = {0x55, 0x48, 0x89, 0xe5, 0x9c};
	size_t i = 0;

	while (i < sizeof(begin) && code[i] == begin[i])
		i++;
	return i == sizeof(begin);
}

void unwind_regs_from_syscall(struct unwind_regs *regs, uint64_t pc, uint64_t sp)
{
	regs->reg[ARCH_PC] = pc;
	regs->reg[ARCH_SP] = sp;
	regs->known = 1u << ARCH_PC | 1u << ARCH_SP;
}

/* Code bytes, compared with a pattern in which 0x100 stands for any byte. */
static bool matches(const struct unwind_module *module, uint64_t address, const uint16_t *pattern,
		    unsigned int size)
{
	const uint8_t *code = (const uint8_t *)(address + module->shift);
	unsigned int i;

	if (address < module->start || address >= module->end || module->end - address < size)
		return false;
	for (i = 0; i < size; i++) {
		if (pattern[i] != 0x100 && pattern[i] != code[i])
			return false;
	}
	return true;
}

#define ANY4 0x100, 0x100, 0x100, 0x100

static const uint16_t restorer[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
static const uint16_t restorer_short[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* mov $__NR_rt_sigreturn, %rax; syscall: at the return address, or where the pc is within it. */
static bool is_restorer(const struct unwind_module *module, uint64_t pc)
{
	static const uint8_t back[] = {0, 1, 8};
	unsigned int i;

	for (i = 0; i < sizeof(back); i++) {
		if (matches(module, pc + 1 - back[i], restorer, 9))
			return true;
	}
	return matches(module, pc + 1, restorer_short, 7) ||
	       matches(module, pc, restorer_short, 7) || matches(module, pc - 5, restorer_short, 7);
}

/*
 * Go begins a goroutine's stack as if runtime.goexit had called it from its first byte: nop;
 * call runtime.goexit1; nop.  The return address is behind the first nop, where no call is.
 */
static const uint16_t goexit[] = {0x90, 0xe8, ANY4, 0x90};

static const uint16_t plt_lazy[] = {0xff, 0x25, ANY4, 0x68, ANY4, 0xe9};
static const uint16_t plt_lazy_ibt[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x68, ANY4};
static const uint16_t plt_first[] = {0xff, 0x35, ANY4, 0xff, 0x25};
static const uint16_t plt_first_bnd[] = {0xff, 0x35, ANY4, 0xf2, 0xff, 0x25};
static const uint16_t plt_jump[] = {0xff, 0x25, ANY4};
static const uint16_t plt_jump_ibt[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, ANY4};
static const uint16_t plt_jump_bnd[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, ANY4};

uint64_t arch_rule_from_code(const struct unwind_module *module, uint64_t pc)
{
	uint64_t slot = pc & ~UINT64_C(15);
	unsigned int at = pc & 15;
	int cfa = 0;

	if (!module)
		return 0;
	if (is_restorer(module, pc))
		return RULE_SIGNAL;
	if (matches(module, pc, goexit, 7))
		return RULE_STOP;
	if (matches(module, slot, plt_lazy, 12))
		cfa = at < 11 ? 8 : 16;
	else if (matches(module, slot, plt_lazy_ibt, 9))
		cfa = at < 9 ? 8 : 16;
	else if (matches(module, slot, plt_first, 8) || matches(module, slot, plt_first_bnd, 9))
		cfa = at < 6 ? 16 : 24;
	else if (matches(module, pc & ~UINT64_C(7), plt_jump, 6) ||
		 matches(module, slot, plt_jump_ibt, 10) || matches(module, slot, plt_jump_bnd, 11))
		cfa = 8;
	return cfa ? rule_make(RULE_SP, 0, cfa, RULE_BP_SAME) : 0;
}

enum call { CALL_NONE, CALL_INDIRECT, CALL_DIRECT };

/* A word of data that the program may be changing or unmapping: 0 if it cannot be read. */
static uint64_t read_word(const struct walk *walk, uint64_t address)
{
	const struct unwind_stack *stack = walk->stack;
	uint64_t word = 0;

	if (!stack->read_slow || stack->read_slow(address, &word, 8, stack->arg) != 8)
		return 0;
	return word;
}

/* The target of a 32-bit displacement that ends at `end`. */
static uint64_t relative(uint64_t end)
{
	return end + (uint64_t)(int32_t) * (const word32 *)(end - 4);
}

/* Where a call to `target` ends up: through the PLT slot there, if it is one. 0: unknown. */
static uint64_t follow_plt(const struct walk *walk, uint64_t target)
{
	const struct unwind_module *module = walk_module(walk, target);

	if (!module)
		return 0;
	if (matches(module, target, plt_jump, 6))
		return read_word(walk, relative(target + 6));
	if (matches(module, target, plt_jump_ibt, 10))
		return read_word(walk, relative(target + 10));
	if (matches(module, target, plt_jump_bnd, 11))
		return read_word(walk, relative(target + 11));
	return target;
}

/* Whether the ModRM byte (and SIB byte) of a call through memory or a register make it `size` long.
 */
static bool is_indirect(const uint8_t *call, unsigned int size)
{
	unsigned int mod = call[1] >> 6;
	unsigned int rm = call[1] & 7;
	unsigned int length = 2;

	if (call[0] != 0xff || (call[1] & 0x38) != 0x10)
		return false;
	if (mod != 3 && rm == 4)
		length += mod == 0 && (call[2] & 7) == 5 ? 5 : 1;
	if (mod == 1)
		length += 1;
	if (mod == 2 || (mod == 0 && rm == 5))
		length += 4;
	return length == size;
}

/* The kind of call instruction before an address. */
static enum call call_form(const struct walk *walk, uint64_t address)
{
	const struct unwind_module *module = walk_module(walk, address - 1);
	const uint8_t *end = (const uint8_t *)address;
	unsigned int size;

	if (!module || address - module->start < 8)
		return CALL_NONE;
	if (end[-5] == 0xe8 && modules_find(walk->modules, relative(address)))
		return CALL_DIRECT;
	for (size = 2; size <= 7; size++) {
		if (is_indirect(end - size, size))
			return CALL_INDIRECT;
	}
	return matches(module, address - 1, goexit, 7) ? CALL_INDIRECT : CALL_NONE;
}

bool arch_is_after_call(const struct walk *walk, uint64_t address)
{
	return call_form(walk, address) != CALL_NONE;
}

bool arch_is_after_foreign_call(struct walk *walk, uint64_t address)
{
	uint8_t code[16] = {0}; /* the 8 bytes before it, and what is_indirect may look at */
	uint64_t before;
	unsigned int size;

	if (walk_module(walk, address - 1) || !walk_load(walk, address - 8, &before))
		return false;
	__builtin_memcpy(code, &before, sizeof(before));
	if (code[3] == 0xe8)
		return true;
	for (size = 2; size <= 7; size++) {
		if (is_indirect(code + 8 - size, size))
			return true;
	}
	return false;
}

/* The call before an address, and where it went if that can be told, else 0. */
static enum call call_before(const struct walk *walk, uint64_t address, uint64_t *target)
{
	const uint8_t *end = (const uint8_t *)address;
	enum call call = call_form(walk, address);

	*target = 0;
	if (call == CALL_DIRECT)
		*target = follow_plt(walk, relative(address));
	else if (call == CALL_INDIRECT && end[-6] == 0xff && end[-5] == 0x15)
		*target = read_word(walk, relative(address));
	return call;
}

/* A return address near the top of the stack whose call went to the code around the pc. */
static enum step step_by_target(struct walk *walk)
{
	uint64_t i, address, target;

	for (i = 0; i < TOP_WORDS; i++) {
		if (!walk_load(walk, walk->sp + 8 * i, &address))
			break;
		if (call_before(walk, address, &target) != CALL_NONE && target &&
		    target <= walk->pc && walk->pc - target < FUNCTION_SPAN)
			return walk_return(walk, address, walk->sp + 8 * i + 8, walk->bp,
					   FRAME_OPAQUE);
	}
	return STEP_FAIL;
}

/* The pc is where something called: the return address is on top. */
static enum step step_by_top(struct walk *walk)
{
	uint64_t address;

	if (!walk_load(walk, walk->sp, &address) || call_form(walk, address) == CALL_NONE)
		return STEP_FAIL;
	return walk_return(walk, address, walk->sp + 8, walk->bp, FRAME_OPAQUE);
}

/* JIT code may call JIT code: there is nothing to check it against. */
static bool may_have_called(struct walk *walk, uint64_t address, const struct unwind_module *module)
{
	if (call_form(walk, address) != CALL_NONE)
		return true;
	return !modules_find(walk->modules, address - 1) &&
	       (!module || arch_is_after_foreign_call(walk, address));
}

static enum step step_by_frame_pointer(struct walk *walk, const struct unwind_module *module)
{
	uint64_t saved, address;

	if (walk->bp & 7 || walk->bp < walk->sp || !walk_load(walk, walk->bp, &saved) ||
	    !walk_load(walk, walk->bp + 8, &address))
		return STEP_FAIL;
	if (!may_have_called(walk, address, module))
		return STEP_FAIL;
	return walk_return(walk, address, walk->bp + 16, saved, -16 + FRAME_BY_BP);
}

enum step arch_fallback(struct walk *walk)
{
	bool exact = walk_is_exact(walk);
	const struct unwind_module *module = modules_find(walk->modules, walk->pc);
	enum step step = STEP_FAIL;

	if (!module && walk_can_learn(walk, walk->pc))
		return walk_fail(walk, UNWIND_REASON_NO_CODE);
	walk_enter(walk);
	if (module && !walk_module(walk, walk->pc)) {
		walk_leave(walk);
		return walk_fail(walk, UNWIND_REASON_HELD);
	}
	if (exact && !walk->pc)
		step = step_by_top(walk);
	if (step == STEP_FAIL && exact && module)
		step = step_by_target(walk);
	if (step == STEP_FAIL)
		step = step_by_frame_pointer(walk, module);
	if (step == STEP_FAIL && exact)
		step = step_by_top(walk);
	/* The psABI, 3.4.1: the outermost frame has bp = 0. */
	if (step == STEP_FAIL && !exact && module && (!walk->bp || slow_entered_by_return(walk)))
		step = STEP_END;
	walk_leave(walk);
	if (step != STEP_FAIL)
		return step;
	return walk_fail(walk, module ? UNWIND_REASON_NO_CFI : UNWIND_REASON_NO_CODE);
}

bool arch_search_bp(struct walk *walk, uint64_t function, int64_t offset)
{
	uint64_t weak = WALK_BP_UNKNOWN;
	uint64_t i, address, target, bp, saved;
	enum call call;

	for (i = 0; i < SEARCH_WORDS; i++) {
		if (!walk_load(walk, walk->sp + 8 * i, &address))
			break;
		call = call_before(walk, address, &target);
		bp = walk->sp + 8 * i + 8 - (uint64_t)offset;
		if (call != CALL_NONE && target == function) {
			walk->bp = bp;
			return true;
		}
		/* Through a pointer: believed if a frame pointer chain goes on from there. */
		if (call != CALL_NONE && !target && weak == WALK_BP_UNKNOWN && bp >= walk->sp &&
		    walk_load(walk, bp, &saved) && saved > bp && saved - bp < 1 << 20)
			weak = bp;
	}
	walk->bp = weak;
	return weak != WALK_BP_UNKNOWN;
}
