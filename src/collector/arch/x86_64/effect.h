/* SPDX-License-Identifier: Apache-2.0 */
/* What x86-64 instructions do to general registers and memory, as far as a handler asks. */
#ifndef HELIO_COLLECTOR_ARCH_X86_64_EFFECT_H
#define HELIO_COLLECTOR_ARCH_X86_64_EFFECT_H

#include "collector/arch/x86_64/decode.h"

/* Registers by the processor's numbers. */
enum { EFFECT_AX = 0, EFFECT_REGISTERS = 16 };

enum effect_kind {
	EFFECT_OTHER,  /* nothing more is known than what it writes */
	EFFECT_NUMBER, /* puts `number` into `to` */
	EFFECT_COPY,   /* copies `from` to `to` */
	EFFECT_LEAVES, /* a call, return, jump or system call: another instruction runs next */
};

struct effect {
	enum effect_kind kind;
	uint16_t writes; /* a bit for each register that may be changed; all: unknown */
	uint8_t to, from;
	int32_t number;
};

struct effect decoded_effect(const struct decoded *decoded);

/* True if it reads or writes memory, other than its own code. */
bool decoded_accesses(const struct decoded *decoded);

#endif
