/* SPDX-License-Identifier: Apache-2.0 */
/* Where x86-64 instructions end, and the few things that a stack scan wants to know of them. */
#ifndef HELIO_COLLECTOR_ARCH_X86_64_DECODE_H
#define HELIO_COLLECTOR_ARCH_X86_64_DECODE_H

#include <stdbool.h>
#include <stdint.h>

struct decoded {
	uint8_t length;
	uint8_t map; /* 0: one-byte opcodes, 1: 0f, 2: 0f 38, 3: 0f 3a, 0xff: VEX and EVEX */
	uint8_t opcode;
	uint8_t rex;   /* 0x40-0x4f, or 0 */
	uint8_t modrm; /* 0 when there is none */
	bool has_modrm;
	uint8_t sib;
	int32_t displacement; /* of the memory operand */
	int32_t immediate;    /* sign-extended; of a jump, the distance */
};

/* Decodes the instruction at [at, end); false: it is none, or reaches beyond. */
bool decode(const uint8_t *at, const uint8_t *end, struct decoded *decoded);

#endif
