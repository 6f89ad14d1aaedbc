/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call-frame information read in place: .eh_frame_hdr search, CIE and FDE,
 * and the CFA program of one FDE up to one address.
 *
 * The input is the memory of a mapped module, and is not trusted: each byte is
 * bounds-checked against the module's range, loops are bounded by the input's
 * size, and whatever makes no sense ends in `false`.
 *
 * Sources: the x86-64 psABI, chapter 4.2.4 (.eh_frame), the LSB Core on
 * .eh_frame_hdr and the DW_EH_PE encodings, DWARF 5 section 6.4.2.
 */
#ifndef HELIO_COLLECTOR_UNWIND_CFI_H
#define HELIO_COLLECTOR_UNWIND_CFI_H

#include "collector/arch/word.h"
#include "collector/unwind/unwind.h"

/* What a column says about one register of the caller. */
enum cfi_kind {
	CFI_UNSPECIFIED,
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_OFFSET,	      /* at CFA + value */
	CFI_VALUE_OFFSET,     /* is CFA + value */
	CFI_REGISTER,	      /* in register `value` */
	CFI_EXPRESSION,	      /* at the address that the expression gives */
	CFI_VALUE_EXPRESSION, /* is what the expression gives */
};

enum {
	CFI_COLUMNS = UNWIND_REGS, /* higher registers are read over */
	CFI_RETURN = UNWIND_REGS - 1,
	CFI_CFA_EXPRESSION = 0xff, /* as cfa_register */
};

/*
 * One row of the table: 3 bits of kind and 29 of value (signed bytes, a
 * register, or an expression's place relative to map_start) per column.
 */
struct cfi_row {
	uint32_t column[CFI_COLUMNS];
	uint32_t cfa_register;
	int64_t cfa_offset; /* or the expression's place */
};

static inline enum cfi_kind cfi_kind(uint32_t column)
{
	return (enum cfi_kind)(column & 7);
}

static inline int32_t cfi_value(uint32_t column)
{
	return (int32_t)column >> 3;
}

/* A row and what goes with it. */
struct cfi_result {
	struct cfi_row row;
	const struct unwind_module *module;
	uint64_t function; /* where the FDE's code begins */
	bool signal;	   /* augmentation S: the caller was interrupted, it did not call */
};

enum { CFI_STATES = 6 }; /* nested remember_state, the CIE's row and the current one included */

enum cfi_answer {
	CFI_FOUND,
	CFI_NONE, /* no FDE covers this address */
	CFI_BAD,
};

/*
 * The row in force at `pc`. `states` is working room of CFI_STATES rows.
 */
enum cfi_answer cfi_find(const struct unwind_module *module, uint64_t pc, struct cfi_row *states,
			 struct cfi_result *result);

/* A bounded reader; `bad` stays set once a read went past `end`, reads then give 0. */
struct cfi_reader {
	const uint8_t *at, *end;
	bool bad;
};

static inline uint64_t cfi_fixed(struct cfi_reader *reader, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(reader->end - reader->at) < size) {
		reader->bad = true;
		reader->at = reader->end;
		return 0;
	}
	switch (size) {
	case 1:
		value = *reader->at;
		break;
	case 2:
		value = *(const word16 *)reader->at;
		break;
	case 4:
		value = *(const word32 *)reader->at;
		break;
	case 8:
		value = *(const word64 *)reader->at;
		break;
	}
	reader->at += size;
	return value;
}

uint64_t cfi_uleb(struct cfi_reader *reader);
int64_t cfi_sleb(struct cfi_reader *reader);

/* Sets `reader` on the expression at `place`, its length taken off; false: out of bounds. */
bool cfi_expression(const struct unwind_module *module, int64_t place, struct cfi_reader *reader);

#endif
