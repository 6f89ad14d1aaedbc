/* SPDX-License-Identifier: Apache-2.0 */
/* The evaluator: a stack of EXPRESSION_DEPTH sums, EXPRESSION_STEPS operations at most. */
#include "collector/unwind/expression.h"

#include "collector/unwind/arch.h"

enum { EXPRESSION_DEPTH = 8, EXPRESSION_STEPS = 200 };

enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	const struct expression *expression;
	struct cfi_reader reader;
	const uint8_t *begin;
	uint32_t count;
	bool bad;
	struct expression_value stack[EXPRESSION_DEPTH];
};

static void push(struct machine *machine, struct expression_value value)
{
	if (machine->count == EXPRESSION_DEPTH)
		machine->bad = true;
	else
		machine->stack[machine->count++] = value;
}

static void push_number(struct machine *machine, uint64_t number)
{
	push(machine, (struct expression_value){.constant = number});
}

/* The n-th value from the top, 0 the top itself; a zero when there is none. */
static struct expression_value *top(struct machine *machine, uint64_t n)
{
	if (n >= machine->count) {
		machine->bad = true;
		machine->stack[0] = (struct expression_value){0};
		return &machine->stack[0];
	}
	return &machine->stack[machine->count - 1 - n];
}

static struct expression_value pop(struct machine *machine)
{
	struct expression_value value = *top(machine, 0);

	if (machine->count)
		machine->count--;
	return value;
}

static void push_register(struct machine *machine, uint64_t reg, int64_t offset)
{
	const struct expression *expression = machine->expression;

	if (reg >= UNWIND_REGS) {
		machine->bad = true;
	} else if (reg == CFI_RETURN) {
		push_number(machine, expression->pc + (uint64_t)offset);
	} else if (!expression->regs) {
		push(machine, (struct expression_value){.base = EXPRESSION_REGISTER,
							.reg = (uint8_t)reg,
							.constant = (uint64_t)offset});
	} else {
		if (!(expression->regs->known >> reg & 1))
			machine->bad = true;
		push_number(machine, expression->regs->reg[reg] + (uint64_t)offset);
	}
}

static void deref(struct machine *machine, uint64_t size)
{
	struct expression_value *value = top(machine, 0);
	int64_t offset = (int64_t)value->constant;
	uint64_t word;

	if (size != 1 && size != 2 && size != 4 && size != 8) {
		machine->bad = true;
	} else if (value->base == EXPRESSION_REGISTER && size == 8 && offset == (int32_t)offset) {
		value->base = EXPRESSION_DEREF;
		value->inner = (int32_t)offset;
		value->constant = 0;
	} else if (value->base == EXPRESSION_NUMBER && machine->expression->walk &&
		   walk_load(machine->expression->walk, value->constant, &word)) {
		value->constant = size == 8 ? word : word & ((UINT64_C(1) << size * 8) - 1);
	} else {
		machine->bad = true;
	}
}

static uint64_t shift(uint8_t opcode, uint64_t a, uint64_t b)
{
	if (b > 63)
		return opcode == OP_SHRA && (int64_t)a < 0 ? ~UINT64_C(0) : 0;
	if (opcode == OP_SHL)
		return a << b;
	return opcode == OP_SHR ? a >> b : (uint64_t)((int64_t)a >> b);
}

static uint64_t compare(uint8_t opcode, int64_t a, int64_t b)
{
	switch (opcode) {
	case OP_EQ:
		return a == b;
	case OP_GE:
		return a >= b;
	case OP_GT:
		return a > b;
	case OP_LE:
		return a <= b;
	case OP_LT:
		return a < b;
	default:
		return a != b;
	}
}

static uint64_t divide(struct machine *machine, uint8_t opcode, uint64_t a, uint64_t b)
{
	if (!b || (opcode == OP_DIV && b == ~UINT64_C(0))) {
		machine->bad = true;
		return 0;
	}
	return opcode == OP_MOD ? a % b : (uint64_t)((int64_t)a / (int64_t)b);
}

static void binary(struct machine *machine, uint8_t opcode)
{
	struct expression_value b = pop(machine);
	struct expression_value *a = top(machine, 0);

	if (opcode == OP_PLUS && a->base == EXPRESSION_NUMBER) {
		struct expression_value other = b;

		b = *a;
		*a = other;
	}
	if (b.base != EXPRESSION_NUMBER ||
	    (a->base != EXPRESSION_NUMBER && opcode != OP_PLUS && opcode != OP_MINUS)) {
		machine->bad = true;
		return;
	}
	switch (opcode) {
	case OP_PLUS:
		a->constant += b.constant;
		break;
	case OP_MINUS:
		a->constant -= b.constant;
		break;
	case OP_MUL:
		a->constant *= b.constant;
		break;
	case OP_AND:
		a->constant &= b.constant;
		break;
	case OP_OR:
		a->constant |= b.constant;
		break;
	case OP_XOR:
		a->constant ^= b.constant;
		break;
	case OP_DIV:
	case OP_MOD:
		a->constant = divide(machine, opcode, a->constant, b.constant);
		break;
	case OP_SHL:
	case OP_SHR:
	case OP_SHRA:
		a->constant = shift(opcode, a->constant, b.constant);
		break;
	default:
		a->constant = compare(opcode, (int64_t)a->constant, (int64_t)b.constant);
	}
}

static void unary(struct machine *machine, uint8_t opcode)
{
	struct expression_value *a = top(machine, 0);

	if (a->base != EXPRESSION_NUMBER)
		machine->bad = true;
	else if (opcode == OP_NOT)
		a->constant = ~a->constant;
	else if (opcode == OP_NEG || (int64_t)a->constant < 0)
		a->constant = 0 - a->constant;
}

static void jump(struct machine *machine, bool taken)
{
	int64_t distance = (int16_t)cfi_fixed(&machine->reader, 2);
	int64_t at = machine->reader.at - machine->begin + distance;

	if (!taken)
		return;
	if (at < 0 || at > machine->reader.end - machine->begin)
		machine->bad = true;
	else
		machine->reader.at = machine->begin + at;
}

static void constant(struct machine *machine, uint8_t opcode)
{
	struct cfi_reader *reader = &machine->reader;
	size_t size = (size_t)1 << (opcode - OP_CONST1U) / 2;
	unsigned int spare = 64 - 8 * (unsigned int)size;
	uint64_t value = cfi_fixed(reader, size);

	if ((opcode - OP_CONST1U) & 1)
		value = (uint64_t)((int64_t)(value << spare) >> spare);
	push_number(machine, value);
}

static void rotate(struct machine *machine, uint64_t depth)
{
	struct expression_value value = *top(machine, 0);
	uint64_t i;

	top(machine, depth - 1);
	if (machine->bad)
		return;
	for (i = 0; i + 1 < depth; i++)
		*top(machine, i) = *top(machine, i + 1);
	*top(machine, depth - 1) = value;
}

static void run_stack(struct machine *machine, uint8_t opcode)
{
	switch (opcode) {
	case OP_DUP:
		push(machine, *top(machine, 0));
		break;
	case OP_DROP:
		pop(machine);
		break;
	case OP_OVER:
		push(machine, *top(machine, 1));
		break;
	case OP_PICK:
		push(machine, *top(machine, cfi_fixed(&machine->reader, 1)));
		break;
	case OP_SWAP:
		rotate(machine, 2);
		break;
	default:
		rotate(machine, 3);
	}
}

static void run_operation(struct machine *machine, uint8_t opcode)
{
	struct expression_value condition;
	uint64_t reg;

	switch (opcode) {
	case OP_NOP:
		break;
	case OP_DEREF:
		deref(machine, 8);
		break;
	case OP_DEREF_SIZE:
		deref(machine, cfi_fixed(&machine->reader, 1));
		break;
	case OP_ADDR:
		push_number(machine, cfi_fixed(&machine->reader, 8));
		break;
	case OP_CONSTU:
		push_number(machine, cfi_uleb(&machine->reader));
		break;
	case OP_CONSTS:
		push_number(machine, (uint64_t)cfi_sleb(&machine->reader));
		break;
	case OP_PLUS_UCONST:
		top(machine, 0)->constant += cfi_uleb(&machine->reader);
		break;
	case OP_BREGX:
		reg = cfi_uleb(&machine->reader);
		push_register(machine, reg, cfi_sleb(&machine->reader));
		break;
	case OP_SKIP:
		jump(machine, true);
		break;
	case OP_BRA:
		condition = pop(machine);
		machine->bad |= condition.base != EXPRESSION_NUMBER;
		jump(machine, condition.constant != 0);
		break;
	case OP_ABS:
	case OP_NEG:
	case OP_NOT:
		unary(machine, opcode);
		break;
	default:
		machine->bad = true;
	}
}

static void run(struct machine *machine, uint8_t opcode)
{
	if (opcode >= OP_LIT0 && opcode <= OP_LIT31)
		push_number(machine, opcode - OP_LIT0);
	else if (opcode >= OP_BREG0 && opcode <= OP_BREG31)
		push_register(machine, opcode - OP_BREG0, cfi_sleb(&machine->reader));
	else if (opcode >= OP_CONST1U && opcode <= OP_CONST8S)
		constant(machine, opcode);
	else if (opcode >= OP_DUP && opcode <= OP_ROT)
		run_stack(machine, opcode);
	else if ((opcode >= OP_AND && opcode <= OP_XOR && opcode != OP_NEG && opcode != OP_NOT &&
		  opcode != OP_PLUS_UCONST) ||
		 (opcode >= OP_EQ && opcode <= OP_NE))
		binary(machine, opcode);
	else
		run_operation(machine, opcode);
}

bool expression_evaluate(const struct expression *expression, int64_t place, bool initial,
			 struct expression_value *value)
{
	struct machine machine;
	int steps;

	machine.expression = expression;
	machine.count = 0;
	machine.bad = false;
	if (!cfi_expression(expression->module, place, &machine.reader))
		return false;
	machine.begin = machine.reader.at;
	if (initial)
		push(&machine, *value);
	for (steps = 0; machine.reader.at < machine.reader.end; steps++) {
		if (steps == EXPRESSION_STEPS)
			return false;
		run(&machine, *machine.reader.at++);
		if (machine.bad || machine.reader.bad)
			return false;
	}
	if (!machine.count)
		return false;
	*value = *top(&machine, 0);
	return true;
}
