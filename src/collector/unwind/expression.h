/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF expressions as CFI uses them.
 *
 * Values are sums: a constant plus, at most, one register or one memory word
 * at a register plus offset.  Without registers at hand the evaluation is
 * symbolic, and a rule can be read off the result: the PLT's expression, which
 * depends on nothing but rsp and the pc, becomes "rsp + 8" or "rsp + 16".
 * With registers at hand the same code computes a number.
 */
#ifndef HELIO_COLLECTOR_UNWIND_EXPRESSION_H
#define HELIO_COLLECTOR_UNWIND_EXPRESSION_H

#include "collector/unwind/cfi.h"
#include "collector/unwind/walk.h"

enum expression_base {
	EXPRESSION_NUMBER,   /* constant */
	EXPRESSION_REGISTER, /* register + constant */
	EXPRESSION_DEREF,    /* *(register + inner) + constant */
};

struct expression_value {
	uint64_t constant;
	int32_t inner;
	uint8_t base; /* enum expression_base */
	uint8_t reg;
};

struct expression {
	const struct unwind_module *module;
	uint64_t pc;
	/* Both NULL: symbolic. */
	struct walk *walk;
	const struct unwind_regs *regs;
};

/*
 * Evaluates the expression at `place` with `*value` on the stack at first
 * (where `initial`), and leaves the result there. False: it cannot be done.
 */
bool expression_evaluate(const struct expression *expression, int64_t place, bool initial,
			 struct expression_value *value);

#endif
