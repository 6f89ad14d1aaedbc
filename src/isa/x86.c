/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86 by Zydis: 90 ns to decode an instruction, 200 ns with its text, and it
 * knows all of what compilers and hand-written assembly use.  Its mnemonics are
 * Intel's; here they become those of GNU binutils, which people and every other
 * tool on Linux write, and the suffixes of AT&T syntax with them.
 */
#include "isa/x86_access.h"

#include "base/array.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_LIMIT = 256 };

struct x86 {
	struct isa isa;
	struct x86_decoded decoded;
	ZydisDecoder decoder;
	ZydisFormatter formatters[2]; /* by enum isa_syntax */
	char raw[TEXT_LIMIT];	      /* as Zydis writes it */
	struct strbuf text;
};

static bool x86_access(struct isa *isa, const struct isa_code *code, struct isa_access *out)
{
	x86_access_read(&((struct x86 *)isa)->decoded, code, out);
	return true;
}

static enum isa_kind kind_of(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return ISA_CALL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return ISA_JUMP;
	case ZYDIS_CATEGORY_COND_BR:
		return ISA_CONDITIONAL_JUMP;
	case ZYDIS_CATEGORY_RET:
		return ISA_RETURN;
	default:
		break;
	}
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_HLT:
		return ISA_TRAP;
	default:
		return ISA_OTHER;
	}
}

/* What the operands name relative to the instruction. */
static void find_addresses(const struct x86 *x86, struct isa_instruction *out)
{
	const ZydisDecodedInstruction *instruction = &x86->decoded.instruction;

	for (size_t i = 0; i < instruction->operand_count_visible; i++) {
		const ZydisDecodedOperand *operand = &x86->decoded.operands[i];
		bool is_branch =
			operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative;
		bool is_data = operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			       (operand->mem.base == ZYDIS_REGISTER_RIP ||
				operand->mem.base == ZYDIS_REGISTER_EIP);
		ZyanU64 address;

		if ((!is_branch && !is_data) ||
		    !ZYAN_SUCCESS(
			    ZydisCalcAbsoluteAddress(instruction, operand, out->address, &address)))
			continue;
		if (is_branch) {
			out->has_target = true;
			out->target = address;
		} else {
			out->has_data = true;
			out->data = address;
		}
	}
}

static void find_constant(const struct x86 *x86, struct isa_instruction *out)
{
	const ZydisDecodedOperand *operand = &x86->decoded.operands[1];

	if (x86->decoded.instruction.mnemonic != ZYDIS_MNEMONIC_MOV ||
	    operand->type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    x86->decoded.instruction.raw.imm[0].size < 32)
		return;
	out->has_constant = true;
	out->constant = operand->imm.value.u;
}

static void x86_decode(struct isa *isa, const struct isa_code *code, struct isa_instruction *out)
{
	struct x86 *x86 = (struct x86 *)isa;

	*out = (struct isa_instruction){.address = code->address, .length = 1, .kind = ISA_INVALID};
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&x86->decoder, code->bytes, code->size,
						 &x86->decoded.instruction, x86->decoded.operands)))
		return;
	out->length = x86->decoded.instruction.length;
	out->kind = kind_of(&x86->decoded.instruction);
	find_addresses(x86, out);
	find_constant(x86, out);
}

/* Other words for the same; NULL: Zydis's. */
struct spelling {
	ZydisMnemonic mnemonic;
	const char *att, *intel;
};
#define CONDITION(zydis, gnu)                                                                      \
	{ZYDIS_MNEMONIC_J##zydis, "j" gnu, "j" gnu},                                               \
		{ZYDIS_MNEMONIC_CMOV##zydis, "cmov" gnu, "cmov" gnu},                              \
	{                                                                                          \
		ZYDIS_MNEMONIC_SET##zydis, "set" gnu, "set" gnu                                    \
	}
static const struct spelling spellings[] = {
	CONDITION(Z, "e"),
	CONDITION(NZ, "ne"),
	CONDITION(NB, "ae"),
	CONDITION(NBE, "a"),
	CONDITION(NLE, "g"),
	CONDITION(NL, "ge"),
	{ZYDIS_MNEMONIC_CBW, "cbtw", NULL},
	{ZYDIS_MNEMONIC_CWDE, "cwtl", NULL},
	{ZYDIS_MNEMONIC_CDQE, "cltq", NULL},
	{ZYDIS_MNEMONIC_CWD, "cwtd", NULL},
	{ZYDIS_MNEMONIC_CDQ, "cltd", NULL},
	{ZYDIS_MNEMONIC_CQO, "cqto", NULL},
	{ZYDIS_MNEMONIC_MOVZX, "movz", NULL},
	{ZYDIS_MNEMONIC_MOVSX, "movs", NULL},
	{ZYDIS_MNEMONIC_MOVSXD, "movs", NULL},
};
#undef CONDITION

/* Whether a constant or an address has all its 64 bits in the instruction. */
static bool is_movabs(const ZydisDecodedInstruction *instruction)
{
	return instruction->mnemonic == ZYDIS_MNEMONIC_MOV &&
	       (instruction->raw.imm[0].size == 64 || instruction->raw.disp.size == 64);
}

static const char *gnu_name(const ZydisDecodedInstruction *instruction, enum isa_syntax syntax)
{
	if (is_movabs(instruction))
		return "movabs";
	for (size_t i = 0; i < COUNT(spellings); i++) {
		const char *name = syntax == ISA_ATT ? spellings[i].att : spellings[i].intel;

		if (spellings[i].mnemonic == instruction->mnemonic && name)
			return name;
	}
	return ZydisMnemonicGetString(instruction->mnemonic);
}

/* A row of suffixes, by size: 8, 16, 32, 64 and 80 bits. */
static const char *size_suffix(const char *const suffixes[5], ZyanU16 bits)
{
	switch (bits) {
	case 8:
		return suffixes[0];
	case 16:
		return suffixes[1];
	case 32:
		return suffixes[2];
	case 64:
		return suffixes[3];
	case 80:
		return suffixes[4];
	default:
		return "";
	}
}
static const char *const integer_suffixes[] = {"b", "w", "l", "q", ""};
static const char *const x87_suffixes[] = {"", "", "s", "l", "t"};
static const char *const x87_integer_suffixes[] = {"", "s", "l", "ll", ""};

/* The operand in memory, or NULL where a register tells the size, or nothing needs it. */
static const ZydisDecodedOperand *sizing_operand(const struct x86 *x86)
{
	const ZydisDecodedOperand *memory = NULL;
	ZydisInstructionCategory category = x86->decoded.instruction.meta.category;
	bool has_count = category == ZYDIS_CATEGORY_SHIFT || category == ZYDIS_CATEGORY_ROTATE;

	for (size_t i = 0; i < x86->decoded.instruction.operand_count_visible; i++) {
		const ZydisDecodedOperand *operand = &x86->decoded.operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
			memory = operand;
		else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
			 !(has_count && operand->reg.value == ZYDIS_REGISTER_CL))
			return NULL;
	}
	return memory;
}

/* Whether the size of what is in memory is not in the mnemonic itself. */
static bool has_integer_suffix(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_BINARY:
	case ZYDIS_CATEGORY_BITBYTE:
	case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_LOGICAL:
	case ZYDIS_CATEGORY_ROTATE:
	case ZYDIS_CATEGORY_SHIFT:
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return true;
	default:
		return instruction->mnemonic == ZYDIS_MNEMONIC_CVTSI2SD ||
		       instruction->mnemonic == ZYDIS_MNEMONIC_CVTSI2SS;
	}
}

static const char *x87_suffix(const ZydisDecodedInstruction *instruction, ZyanU16 bits)
{
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_FLDCW:
	case ZYDIS_MNEMONIC_FNSTCW:
	case ZYDIS_MNEMONIC_FNSTSW:
	case ZYDIS_MNEMONIC_FBLD:
	case ZYDIS_MNEMONIC_FBSTP:
		return "";
	default:
		break;
	}
	bool is_integer = ZydisMnemonicGetString(instruction->mnemonic)[1] == 'i';

	return size_suffix(is_integer ? x87_integer_suffixes : x87_suffixes, bits);
}

/* AT&T: what follows the mnemonic. */
static void add_suffix(struct x86 *x86)
{
	const ZydisDecodedInstruction *instruction = &x86->decoded.instruction;
	const ZydisDecodedOperand *memory = sizing_operand(x86);

	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		strbuf_puts(&x86->text,
			    size_suffix(integer_suffixes, x86->decoded.operands[1].size));
		strbuf_puts(&x86->text,
			    size_suffix(integer_suffixes, x86->decoded.operands[0].size));
		return;
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_CVTSI2SD:
	case ZYDIS_MNEMONIC_CVTSI2SS:
		for (size_t i = 0; i < instruction->operand_count_visible; i++) {
			if (x86->decoded.operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
				memory = &x86->decoded.operands[i];
		}
		break;
	default:
		break;
	}
	if (memory && instruction->meta.category == ZYDIS_CATEGORY_X87_ALU)
		strbuf_puts(&x86->text, x87_suffix(instruction, memory->size));
	else if (memory && has_integer_suffix(instruction))
		strbuf_puts(&x86->text, size_suffix(integer_suffixes, memory->size));
}

static bool is_indirect_branch(const struct x86 *x86)
{
	enum isa_kind kind = kind_of(&x86->decoded.instruction);

	return (kind == ISA_CALL || kind == ISA_JUMP) &&
	       x86->decoded.operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/* The mnemonic in Zydis's text, behind the prefixes. */
static const char *find_mnemonic(const char *raw, const char *mnemonic)
{
	size_t length = strlen(mnemonic);

	for (const char *word = raw; word; word = strchr(word, ' ')) {
		word += strspn(word, " ");
		if (!strncmp(word, mnemonic, length))
			return word;
	}
	return raw;
}

/* GNU counts x87 registers in parentheses: %st(1). */
static void add_x87_operands(struct x86 *x86, const char *operands)
{
	for (const char *at; (at = strstr(operands, "st")); operands = at + 3) {
		strbuf_add(&x86->text, operands, (size_t)(at - operands) + 2);
		strbuf_printf(&x86->text, "(%c)", at[2]);
	}
	strbuf_puts(&x86->text, operands);
}

static void add_operands(struct x86 *x86, const char *operands, enum isa_syntax syntax)
{
	const char *comma = strstr(operands, ", ");

	if (!*operands)
		return;
	strbuf_puts(&x86->text, syntax == ISA_ATT && is_indirect_branch(x86) ? " *" : " ");
	if (x86->decoded.instruction.mnemonic == ZYDIS_MNEMONIC_NOP && comma) {
		/* the register of a long nop is not read */
		if (syntax == ISA_ATT)
			strbuf_puts(&x86->text, comma + 2);
		else
			strbuf_add(&x86->text, operands, (size_t)(comma - operands));
	} else if (x86->decoded.instruction.meta.category == ZYDIS_CATEGORY_X87_ALU ||
		   x86->decoded.instruction.meta.category == ZYDIS_CATEGORY_FCMOV) {
		add_x87_operands(x86, operands);
	} else {
		strbuf_puts(&x86->text, operands);
	}
}

/* Prefixes, GNU's mnemonic, operands. */
static void rewrite(struct x86 *x86, enum isa_syntax syntax)
{
	const char *mnemonic = ZydisMnemonicGetString(x86->decoded.instruction.mnemonic);
	const char *word = find_mnemonic(x86->raw, mnemonic);
	const char *operands = word + strcspn(word, " ");

	strbuf_clear(&x86->text);
	strbuf_add(&x86->text, x86->raw, (size_t)(word - x86->raw));
	strbuf_puts(&x86->text, gnu_name(&x86->decoded.instruction, syntax));
	if (syntax == ISA_ATT) {
		char *last = x86->text.text + x86->text.length - 1;

		/* movsd, stosd: with strings a double word is long */
		if (x86->decoded.instruction.meta.category == ZYDIS_CATEGORY_STRINGOP &&
		    *last == 'd')
			*last = 'l';
		if (!is_movabs(&x86->decoded.instruction))
			add_suffix(x86);
	}
	add_operands(x86, operands + strspn(operands, " "), syntax);
}

static const char *x86_text(struct isa *isa, const struct isa_code *code, enum isa_syntax syntax,
			    struct isa_instruction *out)
{
	struct x86 *x86 = (struct x86 *)isa;

	x86_decode(isa, code, out);
	if (out->kind == ISA_INVALID ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
		    &x86->formatters[syntax], &x86->decoded.instruction, x86->decoded.operands,
		    x86->decoded.instruction.operand_count_visible, x86->raw, sizeof(x86->raw),
		    code->address, NULL)))
		return "(bad)";
	rewrite(x86, syntax);
	return x86->text.text;
}

static void x86_free(struct isa *isa)
{
	strbuf_fini(&((struct x86 *)isa)->text);
	free(isa);
}

static void init_formatter(ZydisFormatter *formatter, ZydisFormatterStyle style)
{
	const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} settings[] = {
		{ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE},
		{ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE},
		{ZYDIS_FORMATTER_PROP_FORCE_SIZE, style == ZYDIS_FORMATTER_STYLE_INTEL},
		{ZYDIS_FORMATTER_PROP_UPPERCASE_TYPECASTS, ZYAN_TRUE},
		{ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS, ZYDIS_SIGNEDNESS_UNSIGNED},
	};

	ZydisFormatterInit(formatter, style);
	for (size_t i = 0; i < COUNT(settings); i++)
		ZydisFormatterSetProperty(formatter, settings[i].property, settings[i].value);
}

struct isa *isa_x86_new(bool is_64_bit)
{
	struct x86 *x86 = xcalloc(1, sizeof(*x86));

	x86->isa = (struct isa){.decode = x86_decode,
				.text = x86_text,
				.access = is_64_bit ? x86_access : NULL,
				.free = x86_free};
	ZydisDecoderInit(&x86->decoder,
			 is_64_bit ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
			 is_64_bit ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	init_formatter(&x86->formatters[ISA_ATT], ZYDIS_FORMATTER_STYLE_ATT);
	init_formatter(&x86->formatters[ISA_INTEL], ZYDIS_FORMATTER_STYLE_INTEL);
	return &x86->isa;
}
