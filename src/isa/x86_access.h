/* SPDX-License-Identifier: Apache-2.0 */
/* What x86-64 instructions do with memory and addresses. Private to this module. */
#ifndef HELIO_ISA_X86_ACCESS_H
#define HELIO_ISA_X86_ACCESS_H

#include "isa/isa_private.h"

#include <Zydis/Zydis.h>

/* An instruction as Zydis tells it. */
struct x86_decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

void x86_access_read(const struct x86_decoded *decoded, const struct isa_code *code,
		     struct isa_access *out);

#endif
