/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter of CFA programs, DWARF 5 section 6.4.2.  It runs at most once
 * per byte of the program, and stops at the first row beyond the pc.
 */
#include "collector/unwind/cfi_program.h"

enum {
	CFA_ADVANCE = 1, /* the opcodes that hold their operand, shifted down by 6 */
	CFA_OFFSET_HIGH = 2,
	CFA_RESTORE_HIGH = 3,

	CFA_NOP = 0x00,
	CFA_ADVANCE1 = 0x02,
	CFA_ADVANCE2 = 0x03,
	CFA_ADVANCE4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* Writes a column; values that do not fit its 29 bits break the row. */
static void set(struct cfi_row *row, struct cfi_reader *reader, uint64_t reg, enum cfi_kind kind,
		int64_t value)
{
	if (value < -(1 << 28) || value >= 1 << 28)
		reader->bad = true;
	else if (reg < CFI_COLUMNS)
		row->column[reg] = (uint32_t)value << 3 | kind;
}

/* The place of the expression at the reader, which then stands behind it. */
static int64_t skip_expression(const struct cfi_program *program, struct cfi_reader *reader)
{
	int64_t place = (int64_t)((uint64_t)reader->at - program->module->map_start);
	uint64_t size = cfi_uleb(reader);

	if (size > (size_t)(reader->end - reader->at)) {
		reader->bad = true;
		return 0;
	}
	reader->at += size;
	return place;
}

static void set_cfa(struct cfi_row *row, uint64_t reg, int64_t offset)
{
	row->cfa_register = reg < CFI_COLUMNS ? (uint32_t)reg : CFI_COLUMNS;
	row->cfa_offset = offset;
}

static void restore(struct cfi_program *program, uint64_t reg)
{
	if (reg < CFI_COLUMNS)
		program->states[1].column[reg] = program->states[0].column[reg];
}

static void remember(struct cfi_program *program, struct cfi_reader *reader)
{
	if (program->remembered == CFI_STATES - 2) {
		reader->bad = true;
		return;
	}
	program->states[2 + program->remembered] = program->states[1];
	program->remembered++;
}

static void recall(struct cfi_program *program, struct cfi_reader *reader)
{
	if (!program->remembered) {
		reader->bad = true;
		return;
	}
	program->remembered--;
	program->states[1] = program->states[2 + program->remembered];
}

/* The opcodes that define the CFA. */
static void run_cfa(struct cfi_program *program, struct cfi_reader *reader, uint8_t opcode)
{
	struct cfi_row *row = &program->states[1];
	int64_t align = program->cie->data_align;
	uint64_t reg;

	switch (opcode) {
	case CFA_DEF_CFA:
		reg = cfi_uleb(reader);
		set_cfa(row, reg, (int64_t)cfi_uleb(reader));
		break;
	case CFA_DEF_CFA_SF:
		reg = cfi_uleb(reader);
		set_cfa(row, reg, (int64_t)((uint64_t)cfi_sleb(reader) * (uint64_t)align));
		break;
	case CFA_DEF_CFA_REGISTER:
		if (row->cfa_register == CFI_CFA_EXPRESSION)
			reader->bad = true;
		set_cfa(row, cfi_uleb(reader), row->cfa_offset);
		break;
	case CFA_DEF_CFA_OFFSET:
		if (row->cfa_register == CFI_CFA_EXPRESSION)
			reader->bad = true;
		row->cfa_offset = (int64_t)cfi_uleb(reader);
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		if (row->cfa_register == CFI_CFA_EXPRESSION)
			reader->bad = true;
		row->cfa_offset = (int64_t)((uint64_t)cfi_sleb(reader) * (uint64_t)align);
		break;
	case CFA_DEF_CFA_EXPRESSION:
		row->cfa_register = CFI_CFA_EXPRESSION;
		row->cfa_offset = skip_expression(program, reader);
		break;
	default:
		reader->bad = true;
	}
}

/* The opcodes that are about one register. */
static void run_register(struct cfi_program *program, struct cfi_reader *reader, uint8_t opcode)
{
	struct cfi_row *row = &program->states[1];
	uint64_t align = (uint64_t)program->cie->data_align;
	uint64_t reg = cfi_uleb(reader);

	switch (opcode) {
	case CFA_OFFSET_EXTENDED:
		set(row, reader, reg, CFI_OFFSET, (int64_t)(cfi_uleb(reader) * align));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		set(row, reader, reg, CFI_OFFSET, (int64_t)((uint64_t)cfi_sleb(reader) * align));
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set(row, reader, reg, CFI_OFFSET, (int64_t)(0 - cfi_uleb(reader) * align));
		break;
	case CFA_VAL_OFFSET:
		set(row, reader, reg, CFI_VALUE_OFFSET, (int64_t)(cfi_uleb(reader) * align));
		break;
	case CFA_VAL_OFFSET_SF:
		set(row, reader, reg, CFI_VALUE_OFFSET,
		    (int64_t)((uint64_t)cfi_sleb(reader) * align));
		break;
	case CFA_RESTORE_EXTENDED:
		restore(program, reg);
		break;
	case CFA_UNDEFINED:
		set(row, reader, reg, CFI_UNDEFINED, 0);
		break;
	case CFA_SAME_VALUE:
		set(row, reader, reg, CFI_SAME, 0);
		break;
	case CFA_REGISTER:
		set(row, reader, reg, CFI_REGISTER, (int64_t)cfi_uleb(reader));
		break;
	case CFA_EXPRESSION:
		set(row, reader, reg, CFI_EXPRESSION, skip_expression(program, reader));
		break;
	case CFA_VAL_EXPRESSION:
		set(row, reader, reg, CFI_VALUE_EXPRESSION, skip_expression(program, reader));
		break;
	default:
		reader->bad = true;
	}
}

/* An opcode with its operands outside; true: it has advanced the location. */
static bool run_extended(struct cfi_program *program, struct cfi_reader *reader, uint8_t opcode)
{
	uint64_t align = program->cie->code_align;

	switch (opcode) {
	case CFA_NOP:
		return false;
	case CFA_ADVANCE1:
		program->location += cfi_fixed(reader, 1) * align;
		return true;
	case CFA_ADVANCE2:
		program->location += cfi_fixed(reader, 2) * align;
		return true;
	case CFA_ADVANCE4:
		program->location += cfi_fixed(reader, 4) * align;
		return true;
	case CFA_REMEMBER_STATE:
		remember(program, reader);
		return false;
	case CFA_RESTORE_STATE:
		recall(program, reader);
		return false;
	case CFA_GNU_ARGS_SIZE:
		cfi_uleb(reader);
		return false;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
	case CFA_DEF_CFA_EXPRESSION:
		run_cfa(program, reader, opcode);
		return false;
	default:
		run_register(program, reader, opcode);
		return false;
	}
}

/* Runs until the next row would begin beyond the pc. */
static bool run(struct cfi_program *program, const uint8_t *at, const uint8_t *end)
{
	struct cfi_reader reader = {.at = at, .end = end};
	uint64_t align = (uint64_t)program->cie->data_align;

	while (reader.at < reader.end) {
		uint8_t opcode = *reader.at++;
		uint8_t operand = opcode & 0x3f;
		bool advanced = false;

		switch (opcode >> 6) {
		case CFA_ADVANCE:
			program->location += operand * program->cie->code_align;
			advanced = true;
			break;
		case CFA_OFFSET_HIGH:
			set(&program->states[1], &reader, operand, CFI_OFFSET,
			    (int64_t)(cfi_uleb(&reader) * align));
			break;
		case CFA_RESTORE_HIGH:
			restore(program, operand);
			break;
		default:
			advanced = run_extended(program, &reader, opcode);
		}
		if (reader.bad)
			return false;
		if (advanced && program->location > program->pc)
			break;
	}
	return true;
}

bool cfi_program_run(struct cfi_program *program, const uint8_t *at, const uint8_t *end)
{
	uint64_t start = program->location;

	program->states[1] = (struct cfi_row){.cfa_register = CFI_COLUMNS};
	program->states[0] = program->states[1];
	if (!run(program, program->cie->program, program->cie->end))
		return false;
	program->states[0] = program->states[1];
	program->location = start;
	program->remembered = 0;
	return run(program, at, end);
}
