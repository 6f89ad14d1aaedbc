/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AArch64: what an instruction does to the flow of control is in fixed bits of
 * its word, read here; only the text is Capstone's.  The library is loaded when
 * the first AArch64 program is looked at: to link with it would cost every start
 * of the tools a millisecond.
 */
#include "base/array.h"
#include "base/late_library.h"
#include "base/memory.h"
#include "isa/isa_private.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF_(number) #number
#define TEXT_OF(number)	 TEXT_OF_(number)
#define LIBRARY		 "libcapstone.so." TEXT_OF(CS_API_MAJOR)
#define FUNCTIONS(X)	 X(cs_open) X(cs_malloc) X(cs_disasm_iter) X(cs_free) X(cs_close)

enum { WORD = 4, TEXT_LIMIT = 256 };

struct aarch64 {
	struct isa isa;
	csh handle;
	cs_insn *instruction;
	struct {
		FUNCTIONS(LATE_POINTER)
	} their;
	char text[TEXT_LIMIT];
};

/* Words with these bits are of that kind; the target, if any, is a signed number of words. */
struct pattern {
	uint32_t mask, bits;
	enum isa_kind kind;
	unsigned shift, width;
};
static const struct pattern patterns[] = {
	{0xfc000000, 0x94000000, ISA_CALL, 0, 26},	       /* bl */
	{0xfc000000, 0x14000000, ISA_JUMP, 0, 26},	       /* b */
	{0xff000000, 0x54000000, ISA_CONDITIONAL_JUMP, 5, 19}, /* b.cond, bc.cond */
	{0x7e000000, 0x34000000, ISA_CONDITIONAL_JUMP, 5, 19}, /* cbz, cbnz */
	{0x7e000000, 0x36000000, ISA_CONDITIONAL_JUMP, 5, 14}, /* tbz, tbnz */
	{0xfefff800, 0xd63f0800, ISA_CALL, 0, 0},	       /* blraa … */
	{0xfffffc1f, 0xd63f0000, ISA_CALL, 0, 0},	       /* blr */
	{0xfefff800, 0xd61f0800, ISA_JUMP, 0, 0},	       /* braa … */
	{0xfffffc1f, 0xd61f0000, ISA_JUMP, 0, 0},	       /* br */
	{0xfffffc1f, 0xd65f0000, ISA_RETURN, 0, 0},	       /* ret */
	{0xfffffbff, 0xd65f0bff, ISA_RETURN, 0, 0},	       /* retaa, retab */
	{0xffe0001f, 0xd4200000, ISA_TRAP, 0, 0},	       /* brk */
	{0xffff0000, 0x00000000, ISA_TRAP, 0, 0},	       /* udf */
};

/* Hints have names, of which Capstone 4 knows few. */
static const struct {
	uint8_t number;
	const char *name;
} hints[] = {
	{7, "xpaclri"},	 {8, "pacia1716"}, {10, "pacib1716"}, {12, "autia1716"}, {14, "autib1716"},
	{16, "esb"},	 {20, "csdb"},	   {24, "paciaz"},    {25, "paciasp"},	 {26, "pacibz"},
	{27, "pacibsp"}, {28, "autiaz"},   {29, "autiasp"},   {30, "autibz"},	 {31, "autibsp"},
	{32, "bti"},	 {34, "bti c"},	   {36, "bti j"},     {38, "bti jc"},
};

static const char *find_hint(uint32_t word)
{
	for (size_t i = 0; i < COUNT(hints); i++)
		if (word == (0xd503201f | (uint32_t)hints[i].number << 5))
			return hints[i].name;
	return NULL;
}

/* The signed number in some bits of a word. */
static int64_t signed_field(uint32_t word, unsigned shift, unsigned width)
{
	return (int64_t)((uint64_t)word << (64 - shift - width)) >> (64 - width);
}

/* adr, adrp and loads of literals. */
static void find_data(uint32_t word, struct isa_instruction *out)
{
	int64_t parts = signed_field(word, 5, 19) * 4 + (int64_t)(word >> 29 & 3);

	if ((word & 0x9f000000) == 0x10000000)
		out->data = out->address + (uint64_t)parts;
	else if ((word & 0x9f000000) == 0x90000000)
		out->data = (out->address & ~UINT64_C(0xfff)) + (uint64_t)parts * 0x1000;
	else if ((word & 0x3b000000) == 0x18000000)
		out->data = out->address + (uint64_t)signed_field(word, 5, 19) * WORD;
	else
		return;
	out->has_data = true;
	out->is_data_written = true;
}

static void aarch64_decode(struct isa *isa, const struct isa_code *code,
			   struct isa_instruction *out)
{
	uint32_t word;

	(void)isa;
	*out = (struct isa_instruction){.address = code->address, .length = WORD};
	if (code->size < WORD) {
		out->length = (uint8_t)code->size;
		out->kind = ISA_INVALID;
		return;
	}
	memcpy(&word, code->bytes, sizeof(word));
	for (size_t i = 0; i < COUNT(patterns); i++) {
		const struct pattern *pattern = &patterns[i];

		if ((word & pattern->mask) != pattern->bits)
			continue;
		out->kind = pattern->kind;
		out->has_target = pattern->width != 0;
		if (out->has_target)
			out->target =
				code->address +
				(uint64_t)signed_field(word, pattern->shift, pattern->width) * WORD;
		return;
	}
	find_data(word, out);
}

/*
 * Constants in a register are written with mov, as everybody does but Capstone: movz and movn,
 * unless they have a shift to no purpose, and orr with the register that is zero.
 */
static bool write_constant(struct aarch64 *aarch64, uint32_t word)
{
	const cs_insn *instruction = aarch64->instruction;
	const char *operands = instruction->op_str;
	int name = (int)strcspn(operands, ",");
	uint64_t value = (uint64_t)(word >> 5 & 0xffff) << (word >> 21 & 3) * 16;
	bool is_inverse = (word & 0x7f800000) == 0x12800000, is_wide = word >> 31;

	if (is_inverse || (word & 0x7f800000) == 0x52800000) {
		if (!value && word >> 21 & 3)
			return false;
		value = is_inverse ? ~value : value;
		snprintf(aarch64->text, sizeof(aarch64->text), "mov %.*s, #0x%lx", name, operands,
			 is_wide ? value : value & UINT32_MAX);
		return true;
	}
	if (strcmp(instruction->mnemonic, "orr") != 0 ||
	    strncmp(operands + name, is_wide ? ", xzr, #" : ", wzr, #", 8) != 0)
		return false;
	snprintf(aarch64->text, sizeof(aarch64->text), "mov %.*s%s", name, operands,
		 operands + name + strlen(", xzr"));
	return true;
}

/* Puts a plain address in the place of the last immediate, where Capstone writes #0x…. */
static void write_text(struct aarch64 *aarch64, const struct isa_instruction *out, uint32_t word)
{
	const cs_insn *instruction = aarch64->instruction;
	const char *operands = instruction->op_str;
	const char *mark = out->has_target || out->has_data ? strrchr(operands, '#') : NULL;

	const char *hint = find_hint(word);

	if (write_constant(aarch64, word))
		return;
	if (hint)
		snprintf(aarch64->text, sizeof(aarch64->text), "%s", hint);
	else if (mark)
		snprintf(aarch64->text, sizeof(aarch64->text), "%s %.*s0x%lx",
			 instruction->mnemonic, (int)(mark - operands), operands,
			 out->has_target ? out->target : out->data);
	else
		snprintf(aarch64->text, sizeof(aarch64->text), "%s%s%s", instruction->mnemonic,
			 *operands ? " " : "", operands);
}

static const char *aarch64_text(struct isa *isa, const struct isa_code *code,
				enum isa_syntax syntax, struct isa_instruction *out)
{
	struct aarch64 *aarch64 = (struct aarch64 *)isa;
	const uint8_t *bytes = code->bytes;
	size_t size = code->size < WORD ? code->size : WORD;
	uint64_t address = code->address;
	uint32_t word = 0;

	(void)syntax;
	aarch64_decode(isa, code, out);
	memcpy(&word, code->bytes, code->size < WORD ? code->size : WORD);
	if (aarch64->their.cs_disasm_iter(aarch64->handle, &bytes, &size, &address,
					  aarch64->instruction)) {
		write_text(aarch64, out, word);
		return aarch64->text;
	}
	/* Capstone 4 does not know pointer authentication and udf, whose kind is known here. */
	if (out->kind == ISA_OTHER)
		out->kind = ISA_INVALID;
	out->has_data = false;
	snprintf(aarch64->text, sizeof(aarch64->text), ".inst 0x%08x", word);
	return aarch64->text;
}

static void aarch64_free(struct isa *isa)
{
	struct aarch64 *aarch64 = (struct aarch64 *)isa;

	if (aarch64->instruction)
		aarch64->their.cs_free(aarch64->instruction, 1);
	if (aarch64->handle)
		aarch64->their.cs_close(&aarch64->handle);
	free(aarch64);
}

static bool open_library(struct aarch64 *aarch64)
{
#define ENTRY(name) {#name, &aarch64->their.name},
	const struct late_function functions[] = {FUNCTIONS(ENTRY)};

	if (late_library_load(LIBRARY, functions, COUNT(functions)) ||
	    aarch64->their.cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &aarch64->handle))
		return false;
	aarch64->instruction = aarch64->their.cs_malloc(aarch64->handle);
	return aarch64->instruction;
}

struct isa *isa_aarch64_new(void)
{
	struct aarch64 *aarch64 = xcalloc(1, sizeof(*aarch64));

	aarch64->isa =
		(struct isa){.decode = aarch64_decode, .text = aarch64_text, .free = aarch64_free};
	if (open_library(aarch64))
		return &aarch64->isa;
	aarch64_free(&aarch64->isa);
	return NULL;
}
