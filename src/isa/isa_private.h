/* SPDX-License-Identifier: Apache-2.0 */
/* What the decoders of the architectures have in common. */
#ifndef HELIO_ISA_ISA_PRIVATE_H
#define HELIO_ISA_ISA_PRIVATE_H

#include "isa/isa.h"

/* The bytes of one instruction, perhaps followed by more. */
struct isa_code {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
};

struct isa {
	void (*decode)(struct isa *isa, const struct isa_code *code, struct isa_instruction *out);
	/* Fills out and returns the text, valid until the next call; without symbols. */
	const char *(*text)(struct isa *isa, const struct isa_code *code, enum isa_syntax syntax,
			    struct isa_instruction *out);
	/* After decode of the same code; NULL: not known for this machine. */
	bool (*access)(struct isa *isa, const struct isa_code *code, struct isa_access *out);
	void (*free)(struct isa *isa);
};

/* A decoder, or NULL. */
struct isa *isa_x86_new(bool is_64_bit);
struct isa *isa_aarch64_new(void);

#endif
