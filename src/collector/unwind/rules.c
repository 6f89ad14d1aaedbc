/* SPDX-License-Identifier: Apache-2.0 */
/* A row of CFI as a rule; RULE_SLOW for what 64 bits cannot hold. */
#include "collector/unwind/rule.h"

#include "collector/unwind/arch.h"
#include "collector/unwind/expression.h"
#include "collector/unwind/slow.h"

static const uint64_t rule_slow = RULE_SLOW;

/* Whether a column says "at *(sp + offset)". */
static bool is_at_sp(const struct expression *expression, uint32_t column, int offset)
{
	struct expression_value value = {.base = EXPRESSION_REGISTER, .reg = ARCH_SP};

	return cfi_kind(column) == CFI_EXPRESSION &&
	       expression_evaluate(expression, cfi_value(column), false, &value) &&
	       value.base == EXPRESSION_REGISTER && value.reg == ARCH_SP &&
	       value.constant == (uint64_t)offset;
}

/* The kernel's frame as glibc and others describe it: all relative to sp. */
static uint64_t rule_signal(const struct expression *expression, const struct cfi_row *row)
{
	struct expression_value cfa;

	if (row->cfa_register == CFI_CFA_EXPRESSION &&
	    expression_evaluate(expression, row->cfa_offset, false, &cfa) &&
	    cfa.base == EXPRESSION_DEREF && cfa.reg == ARCH_SP && cfa.inner == ARCH_CONTEXT_SP &&
	    !cfa.constant && is_at_sp(expression, row->column[ARCH_BP], ARCH_CONTEXT_BP) &&
	    is_at_sp(expression, row->column[ARCH_PC], ARCH_CONTEXT_PC))
		return RULE_SIGNAL;
	return rule_slow;
}

static uint64_t rule_register_offset(uint32_t reg, int64_t cfa, int64_t bp)
{
	if (!rule_fits(cfa, bp) || bp == FRAME_OPAQUE)
		return rule_slow;
	if (reg == ARCH_SP)
		return rule_make(RULE_SP, 0, cfa, bp);
	if (reg == ARCH_BP)
		return rule_make(RULE_BP, 0, cfa, bp);
	return reg < ARCH_PC ? rule_make(RULE_REGISTER, reg, cfa, bp) : RULE_BAD;
}

/* CFA = *(bp + n), with bp saved at bp + m: what gcc writes for a realigned stack. */
static uint64_t rule_realigned(const struct expression *expression, uint32_t bp_column,
			       const struct expression_value *cfa)
{
	struct expression_value bp;

	if (cfa->reg == ARCH_BP && !cfa->constant && cfi_kind(bp_column) == CFI_EXPRESSION) {
		bp = (struct expression_value){0};
		if (expression_evaluate(expression, cfi_value(bp_column), false, &bp) &&
		    bp.base == EXPRESSION_REGISTER && bp.reg == ARCH_BP &&
		    rule_fits(cfa->inner, (int64_t)bp.constant))
			return rule_make(RULE_DEREF_BP, 0, cfa->inner, (int64_t)bp.constant);
	}
	return rule_slow;
}

uint64_t rule_from_row(const struct cfi_result *result, uint64_t pc)
{
	const struct expression expression = {.module = result->module, .pc = pc};
	const struct cfi_row *row = &result->row;
	uint32_t bp_column = row->column[ARCH_BP];
	struct expression_value cfa = {.base = EXPRESSION_REGISTER};
	int64_t bp = RULE_BP_SAME;

	if (cfi_kind(row->column[ARCH_PC]) == CFI_UNDEFINED)
		return RULE_STOP;
	if (result->signal)
		return rule_signal(&expression, row);
	if (cfi_kind(row->column[ARCH_PC]) != CFI_OFFSET ||
	    cfi_value(row->column[ARCH_PC]) != -ARCH_RETURN_SIZE ||
	    cfi_kind(row->column[ARCH_SP]) != CFI_UNSPECIFIED)
		return rule_slow;
	if (row->cfa_register != CFI_CFA_EXPRESSION) {
		cfa.reg = (uint8_t)row->cfa_register;
		cfa.constant = (uint64_t)row->cfa_offset;
	} else if (!expression_evaluate(&expression, row->cfa_offset, false, &cfa)) {
		return rule_slow;
	}
	if (cfa.base == EXPRESSION_DEREF)
		return rule_realigned(&expression, bp_column, &cfa);
	if (cfa.base != EXPRESSION_REGISTER)
		return rule_slow;
	if (cfi_kind(bp_column) == CFI_OFFSET)
		bp = cfi_value(bp_column);
	else if (cfi_kind(bp_column) != CFI_UNSPECIFIED && cfi_kind(bp_column) != CFI_SAME)
		return rule_slow;
	return rule_register_offset(cfa.reg, (int64_t)cfa.constant, bp);
}
