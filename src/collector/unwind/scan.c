/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the instructions from the pc to a return, and adds up what they do to
 * sp.  Conditional jumps are first not taken, which leads out of loops; the other
 * branch is tried if the first leads nowhere.  Calls are taken to leave sp as it
 * was.  It needs no knowledge of where functions begin, and is done once per
 * address: the result goes into the rule cache.
 */
#include "collector/unwind/scan.h"

#include "collector/arch/x86_64/decode.h"
#include "collector/unwind/rule.h"
#include "collector/unwind/x86_64.h"

enum { SCAN_INSTRUCTIONS = 1500, SCAN_OFFSET_LIMIT = 1 << 20 };

enum outcome {
	OUTCOME_NEXT,	/* the path goes on, at path->pc */
	OUTCOME_RETURN, /* the return address is at sp */
	OUTCOME_LOST,
};

struct scan {
	const struct unwind_module *module;
	struct scan_path path;
	struct scan_path *waiting; /* branches not taken */
	unsigned int waiting_count;
};

static bool is_wide(const struct decoded *insn)
{
	return insn->rex & 8;
}

/* The register of the ModRM byte's rm or reg field, REX included. */
static unsigned int field_rm(const struct decoded *insn)
{
	return (insn->modrm & 7) | (insn->rex & 1) << 3;
}

static unsigned int field_reg(const struct decoded *insn)
{
	return (insn->modrm >> 3 & 7) | (insn->rex & 4) << 1;
}

/* Numbers in instructions; not the DWARF ones, but these two are close. */
enum { REG_SP = 4, REG_BP = 5 };

static void branch(struct scan *scan, uint64_t to)
{
	if (scan->waiting_count == SCAN_PATHS)
		return;
	struct scan_path *path = &scan->waiting[scan->waiting_count++];

	*path = scan->path;
	path->pc = to;
}

static void pop_bp(struct scan_path *path)
{
	path->bp = path->sp;
	path->loaded = true;
	path->sp.offset += 8;
}

/* sp = bp + offset, where bp is known. */
static enum outcome restore_sp(struct scan_path *path, int32_t offset)
{
	if (path->loaded || path->bp.base == SCAN_UNKNOWN)
		return OUTCOME_LOST;
	path->sp = path->bp;
	path->sp.offset += offset;
	return OUTCOME_NEXT;
}

/* lea of sp or bp. */
static enum outcome run_lea(struct scan_path *path, const struct decoded *insn)
{
	unsigned int to = field_reg(insn);
	bool from_sp = field_rm(insn) == REG_SP && insn->sib == 0x24 && !(insn->rex & 2);
	bool from_bp = field_rm(insn) == REG_BP;

	if (insn->modrm >> 6 == 0 || !is_wide(insn))
		from_bp = false;
	if (to == REG_SP) {
		if (from_bp)
			return restore_sp(path, insn->displacement);
		if (!from_sp)
			return OUTCOME_LOST;
		path->sp.offset += insn->displacement;
	} else if (to == REG_BP) {
		path->bp = (struct scan_place){0};
		path->loaded = false;
		if (from_sp) {
			path->bp = path->sp;
			path->bp.offset += insn->displacement;
		}
	}
	return OUTCOME_NEXT;
}

/* mov between registers, 89 and 8b. */
static enum outcome run_move(struct scan_path *path, const struct decoded *insn)
{
	bool store = insn->opcode == 0x89;
	unsigned int to = store ? field_rm(insn) : field_reg(insn);
	unsigned int from = store ? field_reg(insn) : field_rm(insn);

	if (insn->modrm >> 6 != 3 && store)
		return OUTCOME_NEXT;
	if (to == REG_SP)
		return insn->modrm >> 6 == 3 && from == REG_BP && is_wide(insn)
			       ? restore_sp(path, 0)
			       : OUTCOME_LOST;
	if (to != REG_BP)
		return OUTCOME_NEXT;
	path->loaded = false;
	path->bp = (struct scan_place){0};
	if (insn->modrm >> 6 == 3) {
		if (from == REG_SP)
			path->bp = path->sp;
	} else if (field_rm(insn) == REG_SP && insn->sib == 0x24) {
		/* Restored without a pop. */
		path->bp = path->sp;
		path->bp.offset += insn->displacement;
		path->loaded = true;
	}
	return OUTCOME_NEXT;
}

/* add, sub and others with an immediate operand, 81 and 83. */
static enum outcome run_arithmetic(struct scan_path *path, const struct decoded *insn)
{
	unsigned int operation = insn->modrm >> 3 & 7;

	if (insn->modrm >> 6 != 3 || field_rm(insn) != REG_SP || operation == 7)
		return OUTCOME_NEXT;
	if (operation == 0)
		path->sp.offset += insn->immediate;
	else if (operation == 5)
		path->sp.offset -= insn->immediate;
	else
		return OUTCOME_LOST;
	return OUTCOME_NEXT;
}

/* ff: indirect calls, jumps and pushes. */
static enum outcome run_indirect(struct scan_path *path, const struct decoded *insn)
{
	switch (insn->modrm >> 3 & 7) {
	case 4:
		/* Through a variable: to another function. Through a register: who knows where. */
		return (insn->modrm & 0xc7) == 5 ? OUTCOME_RETURN : OUTCOME_LOST;
	case 5:
		return OUTCOME_LOST;
	case 6:
		path->sp.offset -= 8;
		return OUTCOME_NEXT;
	default:
		return OUTCOME_NEXT;
	}
}

/* push and pop, 50 to 5f. */
static enum outcome run_push_pop(struct scan_path *path, const struct decoded *insn)
{
	unsigned int reg = (insn->opcode & 7) | (insn->rex & 1) << 3;

	if (insn->opcode < 0x58) {
		path->sp.offset -= 8;
	} else if (reg == REG_BP) {
		pop_bp(path);
	} else {
		path->sp.offset += 8;
		if (reg == REG_SP)
			return OUTCOME_LOST;
	}
	return OUTCOME_NEXT;
}

/* Whether it is a jump, which `outcome` is then the end of. */
static bool run_jump(struct scan *scan, const struct decoded *insn, enum outcome *outcome)
{
	uint64_t to = scan->path.pc + (uint64_t)(int64_t)insn->immediate;

	*outcome = OUTCOME_NEXT;
	switch (insn->opcode) {
	case 0xe0 ... 0xe3:
	case 0x70 ... 0x7f:
		branch(scan, to);
		return true;
	case 0xe9:
	case 0xeb:
		scan->path.pc = to;
		return true;
	case 0xc2:
	case 0xc3:
		*outcome = OUTCOME_RETURN;
		return true;
	case 0xca: /* far returns, iret, hlt */
	case 0xcb:
	case 0xcf:
	case 0xf4:
		*outcome = OUTCOME_LOST;
		return true;
	case 0xff:
		*outcome = run_indirect(&scan->path, insn);
		return true;
	default:
		return false;
	}
}

static enum outcome run_one_byte(struct scan *scan, const struct decoded *insn)
{
	struct scan_path *path = &scan->path;
	enum outcome outcome;

	if (insn->opcode >> 4 == 5)
		return run_push_pop(path, insn);
	if (run_jump(scan, insn, &outcome))
		return outcome;
	switch (insn->opcode) {
	case 0x68: /* push of a number, pushf */
	case 0x6a:
	case 0x9c:
		path->sp.offset -= 8;
		return OUTCOME_NEXT;
	case 0x8f: /* pop to memory, popf */
	case 0x9d:
		path->sp.offset += 8;
		return OUTCOME_NEXT;
	case 0x81:
	case 0x83:
		return run_arithmetic(path, insn);
	case 0x89:
	case 0x8b:
		return run_move(path, insn);
	case 0x8d:
		return run_lea(path, insn);
	case 0x87: /* xchg */
		return insn->modrm >> 6 == 3 &&
				       (field_rm(insn) == REG_SP || field_reg(insn) == REG_SP)
			       ? OUTCOME_LOST
			       : OUTCOME_NEXT;
	case 0xc8: /* enter */
		return OUTCOME_LOST;
	case 0xc9: /* leave */
		outcome = restore_sp(path, 0);
		if (outcome == OUTCOME_NEXT)
			pop_bp(path);
		return outcome;
	default:
		return OUTCOME_NEXT;
	}
}

static enum outcome run(struct scan *scan, const struct decoded *insn)
{
	if (insn->map == 0)
		return run_one_byte(scan, insn);
	if (insn->map == 1) {
		if (insn->opcode >= 0x80 && insn->opcode <= 0x8f)
			branch(scan, scan->path.pc + (uint64_t)(int64_t)insn->immediate);
		if (insn->opcode == 0x0b)
			return OUTCOME_LOST;
	}
	return OUTCOME_NEXT;
}

/* The rule of a path that has come to its return; 0: none. */
static uint64_t rule_of_path(const struct scan_path *path)
{
	int64_t cfa = (int64_t)path->sp.offset + ARCH_RETURN_SIZE;
	int64_t bp = RULE_BP_SAME;

	/* Popped from below the sp of now: it is yet to be pushed. */
	if (path->loaded && path->bp.base == path->sp.base &&
	    (path->bp.base == SCAN_BP || path->bp.offset >= 0))
		bp = path->bp.offset - cfa;
	if (path->sp.base == SCAN_UNKNOWN || (path->sp.base == SCAN_SP && cfa < ARCH_RETURN_SIZE) ||
	    !rule_fits(cfa, bp) || bp == FRAME_OPAQUE)
		return 0;
	return rule_make(path->sp.base == SCAN_SP ? RULE_SP : RULE_BP, 0, cfa, bp);
}

uint64_t scan_rule(const struct unwind_module *module, uint64_t pc, struct scan_path *paths)
{
	struct scan scan = {
		.module = module,
		.path = {.pc = pc, .sp.base = SCAN_SP, .bp.base = SCAN_BP},
		.waiting = paths,
	};
	struct decoded insn;
	unsigned int left;

	for (left = SCAN_INSTRUCTIONS; left; left--) {
		enum outcome outcome = OUTCOME_LOST;

		if (scan.path.pc >= module->start && scan.path.pc < module->end &&
		    decode((const uint8_t *)(scan.path.pc + module->shift),
			   (const uint8_t *)(module->end + module->shift), &insn)) {
			scan.path.pc += insn.length;
			outcome = run(&scan, &insn);
		}
		if (scan.path.sp.offset < -SCAN_OFFSET_LIMIT ||
		    scan.path.sp.offset > SCAN_OFFSET_LIMIT)
			outcome = OUTCOME_LOST;
		if (outcome == OUTCOME_RETURN)
			return rule_of_path(&scan.path);
		if (outcome == OUTCOME_LOST) {
			if (!scan.waiting_count)
				return 0;
			scan.path = scan.waiting[--scan.waiting_count];
		}
	}
	return 0;
}
