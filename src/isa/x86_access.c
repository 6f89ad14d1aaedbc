/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zydis lists all operands, those too that are not written; what is read and written follows
 * from its lists.  Only the few instructions by which compilers move addresses about are told
 * apart; of all others it is known which registers they change.
 */
#include "isa/x86_access.h"

/* The DWARF number of the general register that a register is part of, or ISA_NO_REGISTER. */
static uint8_t number_of(ZydisRegister reg)
{
	static const uint8_t numbers[ISA_REGISTERS] = {0, 2, 1,	 3,  7,	 6,  4,	 5,
						       8, 9, 10, 11, 12, 13, 14, 15};
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return ISA_NO_REGISTER;
	return numbers[whole - ZYDIS_REGISTER_RAX];
}

static bool is_whole(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->size == 64 &&
	       number_of(operand->reg.value) != ISA_NO_REGISTER;
}

static bool is_constant(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !operand->imm.is_relative;
}

static bool is_segment_of_thread(ZydisRegister segment)
{
	return segment == ZYDIS_REGISTER_FS || segment == ZYDIS_REGISTER_GS;
}

static bool is_whole_memory(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->size == 64 &&
	       operand->mem.type != ZYDIS_MEMOP_TYPE_VSIB;
}

static struct isa_memory memory_of(const struct x86_decoded *decoded,
				   const ZydisDecodedOperand *operand, const struct isa_code *code)
{
	ZydisInstructionCategory category = decoded->instruction.meta.category;
	struct isa_memory memory = {
		.base = number_of(operand->mem.base),
		.index = number_of(operand->mem.index),
		.scale = operand->mem.scale,
		.has_segment = is_segment_of_thread(operand->mem.segment),
		.is_run = category == ZYDIS_CATEGORY_STRINGOP,
		.is_written = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE,
		.size = operand->size / 8,
		.displacement = operand->mem.disp.has_displacement ? operand->mem.disp.value : 0,
	};

	if (operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP)
		memory.displacement += (int64_t)(code->address + decoded->instruction.length);
	memory.is_stack = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
			  (operand->mem.base == ZYDIS_REGISTER_RSP ||
			   operand->mem.base == ZYDIS_REGISTER_RBP);
	return memory;
}

/* Hints and long nops name memory that they do not access. */
static bool accesses_memory(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
		return false;
	default:
		return true;
	}
}

static void read_operands(const struct x86_decoded *decoded, const struct isa_code *code,
			  struct isa_access *out)
{
	for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &decoded->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
			uint8_t number = number_of(operand->reg.value);

			out->changed |= number == ISA_NO_REGISTER ? 0 : 1u << number;
		}
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN && out->count < 2 &&
		    accesses_memory(&decoded->instruction))
			out->memory[out->count++] = memory_of(decoded, operand, code);
	}
}

/* The move that an instruction is, which replaces what `changed` says of its register. */
static void set_move(struct isa_access *out, enum isa_move move, uint8_t to, uint8_t from,
		     int64_t constant)
{
	out->move = move;
	out->to = to;
	out->from = from;
	out->constant = constant;
	if (move != ISA_MOVE_STORE)
		out->changed &= ~(1u << to);
}

static bool is_general(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->size >= 32 &&
	       number_of(operand->reg.value) != ISA_NO_REGISTER;
}

static void set_narrow_copy(struct isa_access *out, uint8_t to, uint8_t from)
{
	set_move(out, ISA_MOVE_COPY, to, from, 0);
	out->is_narrow = true;
}

static void read_mov(const ZydisDecodedOperand *to, const ZydisDecodedOperand *from,
		     struct isa_access *out)
{
	if (is_whole(to) && is_whole(from))
		set_move(out, ISA_MOVE_COPY, number_of(to->reg.value), number_of(from->reg.value),
			 0);
	else if (is_general(to) && is_general(from))
		set_narrow_copy(out, number_of(to->reg.value), number_of(from->reg.value));
	else if (is_whole(to) && is_whole_memory(from))
		set_move(out, ISA_MOVE_LOAD, number_of(to->reg.value), ISA_NO_REGISTER, 0);
	else if (is_whole_memory(to) && is_whole(from))
		set_move(out, ISA_MOVE_STORE, ISA_NO_REGISTER, number_of(from->reg.value), 0);
	else if (is_general(to) && is_constant(from))
		set_move(out, ISA_MOVE_CONSTANT, number_of(to->reg.value), ISA_NO_REGISTER,
			 to->size == 32 ? (int64_t)(uint32_t)from->imm.value.u : from->imm.value.s);
}

/* A register against itself is zero. */
static void read_xor(const ZydisDecodedOperand *to, const ZydisDecodedOperand *from,
		     struct isa_access *out)
{
	if (is_general(to) && is_general(from) && to->reg.value == from->reg.value)
		set_move(out, ISA_MOVE_CONSTANT, number_of(to->reg.value), ISA_NO_REGISTER, 0);
}

static void multiply(const ZydisDecodedOperand *to, const ZydisDecodedOperand *from, int64_t factor,
		     struct isa_access *out)
{
	if (is_general(to) && is_general(from))
		set_move(out, ISA_MOVE_MULTIPLY, number_of(to->reg.value),
			 number_of(from->reg.value), factor);
}

static void read_lea(const struct x86_decoded *decoded, const struct isa_code *code,
		     struct isa_access *out)
{
	if (!is_general(&decoded->operands[0]))
		return;
	out->memory[0] = memory_of(decoded, &decoded->operands[1], code);
	set_move(out, ISA_MOVE_ADDRESS, number_of(decoded->operands[0].reg.value), ISA_NO_REGISTER,
		 0);
	out->is_narrow = !is_whole(&decoded->operands[0]);
}

static void read_sum(const ZydisDecodedOperand *to, const ZydisDecodedOperand *what, int sign,
		     struct isa_access *out)
{
	if (!is_whole(to))
		return;
	if (!what)
		set_move(out, ISA_MOVE_ADD_CONSTANT, number_of(to->reg.value), ISA_NO_REGISTER,
			 sign);
	else if (is_constant(what))
		set_move(out, ISA_MOVE_ADD_CONSTANT, number_of(to->reg.value), ISA_NO_REGISTER,
			 sign * what->imm.value.s);
	else if (sign > 0 && is_whole(what))
		set_move(out, ISA_MOVE_ADD, number_of(to->reg.value), number_of(what->reg.value),
			 0);
	else if (sign > 0 && is_whole_memory(what))
		set_move(out, ISA_MOVE_ADD_LOAD, number_of(to->reg.value), ISA_NO_REGISTER, 0);
}

/* By how much push, pop and call move the stack pointer. */
static void read_push(const struct x86_decoded *decoded, struct isa_access *out)
{
	int64_t size = decoded->instruction.operand_width / 8;

	out->pushed = decoded->instruction.meta.category == ZYDIS_CATEGORY_PUSH ? -size : size;
	out->changed &= ~(1u << ISA_STACK_POINTER);
}

void x86_access_read(const struct x86_decoded *decoded, const struct isa_code *code,
		     struct isa_access *out)
{
	const ZydisDecodedOperand *operands = decoded->operands;

	*out = (struct isa_access){.to = ISA_NO_REGISTER, .from = ISA_NO_REGISTER};
	read_operands(decoded, code, out);
	switch (decoded->instruction.meta.category) {
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_POP:
		read_push(decoded, out);
		return;
	case ZYDIS_CATEGORY_CALL: /* it has returned */
		out->changed &= ~(1u << ISA_STACK_POINTER);
		return;
	case ZYDIS_CATEGORY_CMOV:
		if (is_whole(&operands[0]) && is_whole(&operands[1]))
			set_move(out, ISA_MOVE_CHOICE, number_of(operands[0].reg.value),
				 number_of(operands[1].reg.value), 0);
		return;
	default:
		break;
	}
	switch (decoded->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVSXD:
		read_mov(&operands[0], &operands[1], out);
		break;
	case ZYDIS_MNEMONIC_XOR:
		read_xor(&operands[0], &operands[1], out);
		break;
	case ZYDIS_MNEMONIC_SHL:
		if (is_constant(&operands[1]) && operands[1].imm.value.u < 32)
			multiply(&operands[0], &operands[0], INT64_C(1) << operands[1].imm.value.u,
				 out);
		break;
	case ZYDIS_MNEMONIC_IMUL:
		if (decoded->instruction.operand_count_visible == 3)
			multiply(&operands[0], &operands[1], operands[2].imm.value.s, out);
		break;
	case ZYDIS_MNEMONIC_LEA:
		read_lea(decoded, code, out);
		break;
	case ZYDIS_MNEMONIC_ADD:
		read_sum(&operands[0], &operands[1], 1, out);
		break;
	case ZYDIS_MNEMONIC_SUB:
		read_sum(&operands[0], &operands[1], -1, out);
		break;
	case ZYDIS_MNEMONIC_INC:
		read_sum(&operands[0], NULL, 1, out);
		break;
	case ZYDIS_MNEMONIC_DEC:
		read_sum(&operands[0], NULL, -1, out);
		break;
	default:
		break;
	}
}
