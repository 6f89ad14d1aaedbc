/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact for what compilers put in front of a system call; of all else that could matter an
 * instruction is said to write every register.
 */
#include "collector/arch/x86_64/effect.h"

enum { REX_W = 8, REX_R = 4, REX_B = 1, ALL = 0xffff };

static uint8_t reg_of(const struct decoded *decoded)
{
	return (decoded->modrm >> 3 & 7) | (decoded->rex & REX_R ? 8 : 0);
}

static uint8_t rm_of(const struct decoded *decoded)
{
	return (decoded->modrm & 7) | (decoded->rex & REX_B ? 8 : 0);
}

static uint8_t low_of(const struct decoded *decoded)
{
	return (decoded->opcode & 7) | (decoded->rex & REX_B ? 8 : 0);
}

static bool is_register(const struct decoded *decoded)
{
	return decoded->modrm >> 6 == 3;
}

static struct effect writes(uint16_t registers)
{
	return (struct effect){.writes = registers};
}

static struct effect writes_reg(const struct decoded *decoded)
{
	return writes((uint16_t)(1 << reg_of(decoded)));
}

/* The operand that may be memory. */
static struct effect writes_rm(const struct decoded *decoded)
{
	return writes(is_register(decoded) ? (uint16_t)(1 << rm_of(decoded)) : 0);
}

static struct effect leaves(void)
{
	return (struct effect){.kind = EFFECT_LEAVES, .writes = ALL};
}

static struct effect puts_number(uint8_t to, int32_t number)
{
	return (struct effect){
		.kind = EFFECT_NUMBER, .writes = (uint16_t)(1 << to), .to = to, .number = number};
}

static struct effect copies(uint8_t to, uint8_t from)
{
	return (struct effect){
		.kind = EFFECT_COPY, .writes = (uint16_t)(1 << to), .to = to, .from = from};
}

/* add, or, adc, sbb, and, sub, xor, cmp: six forms each. */
static struct effect arithmetic(const struct decoded *decoded)
{
	enum { SUB = 5, XOR = 6, CMP = 7 };
	unsigned int operation = decoded->opcode >> 3, form = decoded->opcode & 7;

	if (operation == CMP)
		return writes(0);
	if ((operation == XOR || operation == SUB) && (form == 1 || form == 3) &&
	    is_register(decoded) && reg_of(decoded) == rm_of(decoded))
		return puts_number(reg_of(decoded), 0);
	if (form < 2)
		return writes_rm(decoded);
	return form < 4 ? writes_reg(decoded) : writes(1 << EFFECT_AX);
}

static struct effect moves(const struct decoded *decoded)
{
	bool whole = decoded->opcode & 1;

	if (decoded->opcode & 2) /* to the register */
		return whole && is_register(decoded) ? copies(reg_of(decoded), rm_of(decoded))
						     : writes_reg(decoded);
	return whole && is_register(decoded) ? copies(rm_of(decoded), reg_of(decoded))
					     : writes_rm(decoded);
}

/* test, not, neg, mul, imul, div, idiv: by the register field. */
static struct effect group_3(const struct decoded *decoded)
{
	unsigned int operation = decoded->modrm >> 3 & 7;

	if (operation < 2)
		return writes(0);
	return operation < 4 ? writes_rm(decoded) : writes(ALL);
}

/* inc, dec; the rest are calls, jumps and push. */
static struct effect group_5(const struct decoded *decoded)
{
	unsigned int operation = decoded->modrm >> 3 & 7;

	if (operation < 2)
		return writes_rm(decoded);
	return operation == 6 ? writes(0) : leaves();
}

static struct effect lower_effect(const struct decoded *decoded)
{
	uint8_t opcode = decoded->opcode;

	if (opcode < 0x40)
		return (opcode & 7) < 6 ? arithmetic(decoded) : writes(ALL);
	switch (opcode) {
	case 0x50 ... 0x57: /* push */
	case 0x68:
	case 0x6a:
	case 0x70 ... 0x7f: /* jumps that fall through */
	case 0x84 ... 0x85: /* test */
		return writes(0);
	case 0x58 ... 0x5f:
		return writes((uint16_t)(1 << low_of(decoded)));
	case 0x80 ... 0x83:
		return (decoded->modrm >> 3 & 7) == 7 ? writes(0) : writes_rm(decoded);
	case 0x88 ... 0x8b:
		return moves(decoded);
	case 0x63: /* movslq */
	case 0x69: /* imul */
	case 0x6b:
	case 0x8d: /* lea */
		return writes_reg(decoded);
	default:
		return writes(ALL);
	}
}

static struct effect upper_effect(const struct decoded *decoded)
{
	switch (decoded->opcode) {
	case 0x90:
		return writes(decoded->rex & REX_B ? ALL : 0);
	case 0xa8 ... 0xa9: /* test */
		return writes(0);
	case 0x98:
		return writes(1 << EFFECT_AX);
	case 0xb0 ... 0xb7:
		return writes(ALL); /* a part of a register, which one depends on REX */
	case 0xb8 ... 0xbf:
		return puts_number(low_of(decoded), decoded->immediate);
	case 0xc6:
		return writes_rm(decoded);
	case 0xc7:
		return is_register(decoded) ? puts_number(rm_of(decoded), decoded->immediate)
					    : writes(0);
	case 0xc0 ... 0xc1: /* shifts */
	case 0xd0 ... 0xd3:
		return writes_rm(decoded);
	case 0xf6 ... 0xf7:
		return group_3(decoded);
	case 0xfe ... 0xff:
		return group_5(decoded);
	case 0xc2 ... 0xc3:
	case 0xe8 ... 0xe9:
	case 0xeb:
		return leaves();
	default:
		return writes(ALL);
	}
}

static struct effect two_byte_effect(const struct decoded *decoded)
{
	switch (decoded->opcode) {
	case 0x05: /* syscall */
	case 0x0b: /* ud2 */
		return leaves();
	case 0x10 ... 0x1f: /* vector moves, nop, endbr64 */
	case 0x28 ... 0x29:
	case 0x51 ... 0x6f:
	case 0x7f:
	case 0x80 ... 0x8f: /* jumps that fall through */
	case 0xd6:
	case 0xef:
		return writes(0);
	case 0x40 ... 0x4f: /* cmov */
	case 0xaf:	    /* imul */
	case 0xb6 ... 0xb7: /* movzx */
	case 0xbe ... 0xbf: /* movsx */
		return writes_reg(decoded);
	case 0x90 ... 0x9f: /* setcc */
		return writes_rm(decoded);
	default:
		return writes(ALL);
	}
}

struct effect decoded_effect(const struct decoded *decoded)
{
	if (decoded->map == 0)
		return decoded->opcode < 0x90 ? lower_effect(decoded) : upper_effect(decoded);
	return decoded->map == 1 ? two_byte_effect(decoded) : writes(ALL);
}

/* Instructions that use memory which no operand names: the stack, strings, fixed addresses. */
static bool accesses_implicitly(const struct decoded *decoded)
{
	switch (decoded->opcode) {
	case 0x50 ... 0x5f: /* push, pop */
	case 0x68:
	case 0x6a:
	case 0xa0 ... 0xa7: /* mov with an address, movs, cmps */
	case 0xaa ... 0xaf: /* stos, lods, scas */
	case 0xc2 ... 0xc3: /* ret */
	case 0xc8 ... 0xc9: /* enter, leave */
	case 0xd7:	    /* xlat */
	case 0xe8:	    /* call */
		return true;
	case 0xff: /* call, push */
		return (decoded->modrm >> 3 & 7) == 2 || (decoded->modrm >> 3 & 7) == 6;
	default:
		return false;
	}
}

/* Operands that are addresses only: lea, prefetch, nop. */
static bool only_names_memory(const struct decoded *decoded)
{
	uint8_t opcode = decoded->opcode;

	if (decoded->map == 1)
		return opcode == 0x0d || (opcode >= 0x18 && opcode <= 0x1f);
	return decoded->map == 0 && opcode == 0x8d;
}

bool decoded_accesses(const struct decoded *decoded)
{
	enum { SEGMENTS = 0xa0 }; /* push and pop of fs and gs: a0, a1, a8, a9 */

	if (decoded->has_modrm && !is_register(decoded))
		return !only_names_memory(decoded);
	if (decoded->map == 1)
		return (decoded->opcode & 0xf6) == SEGMENTS;
	return decoded->map == 0 && accesses_implicitly(decoded);
}
