/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java's bytecode (The Java Virtual Machine Specification, chapter 6).  The bytes are those of one
 * method from its begin on: a switch is padded by its place in there.  What an operand in the
 * constant pool stands for, the caller says.
 */
#include "base/array.h"
#include "base/memory.h"
#include "isa/isa_private.h"

#include <stdlib.h>

/* What follows the opcode. */
enum operands {
	NOTHING,
	BYTE,	     /* a number */
	SHORT,	     /* a number of 2 bytes */
	LOCAL,	     /* the number of a local variable */
	INCREMENT,   /* such a number and one that is added */
	CONSTANT,    /* the place of a constant */
	LONG_PLACE,  /* the same of 2 bytes */
	INTERFACE,   /* the same, and 2 bytes that say nothing more */
	DIMENSIONS,  /* the same, and how many dimensions */
	ELEMENT,     /* the type of an array's elements */
	BRANCH,	     /* a distance of 2 bytes */
	LONG_BRANCH, /* of 4 bytes */
	TABLE,	     /* tableswitch */
	LOOKUP,	     /* lookupswitch */
	WIDE,	     /* an instruction whose operands have twice their size */
};

struct opcode {
	const char *name;
	uint8_t operands;
	uint8_t kind;
};

static const struct opcode opcodes[] = {
	{"nop", 0, 0},
	{"aconst_null", 0, 0},
	{"iconst_m1", 0, 0},
	{"iconst_0", 0, 0},
	{"iconst_1", 0, 0},
	{"iconst_2", 0, 0},
	{"iconst_3", 0, 0},
	{"iconst_4", 0, 0},
	{"iconst_5", 0, 0},
	{"lconst_0", 0, 0},
	{"lconst_1", 0, 0},
	{"fconst_0", 0, 0},
	{"fconst_1", 0, 0},
	{"fconst_2", 0, 0},
	{"dconst_0", 0, 0},
	{"dconst_1", 0, 0},
	{"bipush", BYTE, 0},
	{"sipush", SHORT, 0},
	{"ldc", CONSTANT, 0},
	{"ldc_w", LONG_PLACE, 0},
	{"ldc2_w", LONG_PLACE, 0},
	{"iload", LOCAL, 0},
	{"lload", LOCAL, 0},
	{"fload", LOCAL, 0},
	{"dload", LOCAL, 0},
	{"aload", LOCAL, 0},
	{"iload_0", 0, 0},
	{"iload_1", 0, 0},
	{"iload_2", 0, 0},
	{"iload_3", 0, 0},
	{"lload_0", 0, 0},
	{"lload_1", 0, 0},
	{"lload_2", 0, 0},
	{"lload_3", 0, 0},
	{"fload_0", 0, 0},
	{"fload_1", 0, 0},
	{"fload_2", 0, 0},
	{"fload_3", 0, 0},
	{"dload_0", 0, 0},
	{"dload_1", 0, 0},
	{"dload_2", 0, 0},
	{"dload_3", 0, 0},
	{"aload_0", 0, 0},
	{"aload_1", 0, 0},
	{"aload_2", 0, 0},
	{"aload_3", 0, 0},
	{"iaload", 0, 0},
	{"laload", 0, 0},
	{"faload", 0, 0},
	{"daload", 0, 0},
	{"aaload", 0, 0},
	{"baload", 0, 0},
	{"caload", 0, 0},
	{"saload", 0, 0},
	{"istore", LOCAL, 0},
	{"lstore", LOCAL, 0},
	{"fstore", LOCAL, 0},
	{"dstore", LOCAL, 0},
	{"astore", LOCAL, 0},
	{"istore_0", 0, 0},
	{"istore_1", 0, 0},
	{"istore_2", 0, 0},
	{"istore_3", 0, 0},
	{"lstore_0", 0, 0},
	{"lstore_1", 0, 0},
	{"lstore_2", 0, 0},
	{"lstore_3", 0, 0},
	{"fstore_0", 0, 0},
	{"fstore_1", 0, 0},
	{"fstore_2", 0, 0},
	{"fstore_3", 0, 0},
	{"dstore_0", 0, 0},
	{"dstore_1", 0, 0},
	{"dstore_2", 0, 0},
	{"dstore_3", 0, 0},
	{"astore_0", 0, 0},
	{"astore_1", 0, 0},
	{"astore_2", 0, 0},
	{"astore_3", 0, 0},
	{"iastore", 0, 0},
	{"lastore", 0, 0},
	{"fastore", 0, 0},
	{"dastore", 0, 0},
	{"aastore", 0, 0},
	{"bastore", 0, 0},
	{"castore", 0, 0},
	{"sastore", 0, 0},
	{"pop", 0, 0},
	{"pop2", 0, 0},
	{"dup", 0, 0},
	{"dup_x1", 0, 0},
	{"dup_x2", 0, 0},
	{"dup2", 0, 0},
	{"dup2_x1", 0, 0},
	{"dup2_x2", 0, 0},
	{"swap", 0, 0},
	{"iadd", 0, 0},
	{"ladd", 0, 0},
	{"fadd", 0, 0},
	{"dadd", 0, 0},
	{"isub", 0, 0},
	{"lsub", 0, 0},
	{"fsub", 0, 0},
	{"dsub", 0, 0},
	{"imul", 0, 0},
	{"lmul", 0, 0},
	{"fmul", 0, 0},
	{"dmul", 0, 0},
	{"idiv", 0, 0},
	{"ldiv", 0, 0},
	{"fdiv", 0, 0},
	{"ddiv", 0, 0},
	{"irem", 0, 0},
	{"lrem", 0, 0},
	{"frem", 0, 0},
	{"drem", 0, 0},
	{"ineg", 0, 0},
	{"lneg", 0, 0},
	{"fneg", 0, 0},
	{"dneg", 0, 0},
	{"ishl", 0, 0},
	{"lshl", 0, 0},
	{"ishr", 0, 0},
	{"lshr", 0, 0},
	{"iushr", 0, 0},
	{"lushr", 0, 0},
	{"iand", 0, 0},
	{"land", 0, 0},
	{"ior", 0, 0},
	{"lor", 0, 0},
	{"ixor", 0, 0},
	{"lxor", 0, 0},
	{"iinc", INCREMENT, 0},
	{"i2l", 0, 0},
	{"i2f", 0, 0},
	{"i2d", 0, 0},
	{"l2i", 0, 0},
	{"l2f", 0, 0},
	{"l2d", 0, 0},
	{"f2i", 0, 0},
	{"f2l", 0, 0},
	{"f2d", 0, 0},
	{"d2i", 0, 0},
	{"d2l", 0, 0},
	{"d2f", 0, 0},
	{"i2b", 0, 0},
	{"i2c", 0, 0},
	{"i2s", 0, 0},
	{"lcmp", 0, 0},
	{"fcmpl", 0, 0},
	{"fcmpg", 0, 0},
	{"dcmpl", 0, 0},
	{"dcmpg", 0, 0},
	{"ifeq", BRANCH, ISA_CONDITIONAL_JUMP},
	{"ifne", BRANCH, ISA_CONDITIONAL_JUMP},
	{"iflt", BRANCH, ISA_CONDITIONAL_JUMP},
	{"ifge", BRANCH, ISA_CONDITIONAL_JUMP},
	{"ifgt", BRANCH, ISA_CONDITIONAL_JUMP},
	{"ifle", BRANCH, ISA_CONDITIONAL_JUMP},
	{"if_icmpeq", BRANCH, ISA_CONDITIONAL_JUMP},
	{"if_icmpne", BRANCH, ISA_CONDITIONAL_JUMP},
	{"if_icmplt", BRANCH, ISA_CONDITIONAL_JUMP},
	{"if_icmpge", BRANCH, ISA_CONDITIONAL_JUMP},
	{"if_icmpgt", BRANCH, ISA_CONDITIONAL_JUMP},
	{"if_icmple", BRANCH, ISA_CONDITIONAL_JUMP},
	{"if_acmpeq", BRANCH, ISA_CONDITIONAL_JUMP},
	{"if_acmpne", BRANCH, ISA_CONDITIONAL_JUMP},
	{"goto", BRANCH, ISA_JUMP},
	{"jsr", BRANCH, ISA_CONDITIONAL_JUMP},
	{"ret", LOCAL, ISA_JUMP},
	{"tableswitch", TABLE, ISA_JUMP},
	{"lookupswitch", LOOKUP, ISA_JUMP},
	{"ireturn", 0, ISA_RETURN},
	{"lreturn", 0, ISA_RETURN},
	{"freturn", 0, ISA_RETURN},
	{"dreturn", 0, ISA_RETURN},
	{"areturn", 0, ISA_RETURN},
	{"return", 0, ISA_RETURN},
	{"getstatic", LONG_PLACE, 0},
	{"putstatic", LONG_PLACE, 0},
	{"getfield", LONG_PLACE, 0},
	{"putfield", LONG_PLACE, 0},
	{"invokevirtual", LONG_PLACE, ISA_CALL},
	{"invokespecial", LONG_PLACE, ISA_CALL},
	{"invokestatic", LONG_PLACE, ISA_CALL},
	{"invokeinterface", INTERFACE, ISA_CALL},
	{"invokedynamic", INTERFACE, ISA_CALL},
	{"new", LONG_PLACE, 0},
	{"newarray", ELEMENT, 0},
	{"anewarray", LONG_PLACE, 0},
	{"arraylength", 0, 0},
	{"athrow", 0, ISA_RETURN},
	{"checkcast", LONG_PLACE, 0},
	{"instanceof", LONG_PLACE, 0},
	{"monitorenter", 0, 0},
	{"monitorexit", 0, 0},
	{"wide", WIDE, 0},
	{"multianewarray", DIMENSIONS, 0},
	{"ifnull", BRANCH, ISA_CONDITIONAL_JUMP},
	{"ifnonnull", BRANCH, ISA_CONDITIONAL_JUMP},
	{"goto_w", LONG_BRANCH, ISA_JUMP},
	{"jsr_w", LONG_BRANCH, ISA_CONDITIONAL_JUMP},
};

/* How many bytes follow the opcode, but for those that differ. */
static const uint8_t sizes[] = {
	[NOTHING] = 0,	  [BYTE] = 1,	  [SHORT] = 2,	    [LOCAL] = 1,
	[INCREMENT] = 2,  [CONSTANT] = 1, [LONG_PLACE] = 2, [INTERFACE] = 4,
	[DIMENSIONS] = 3, [ELEMENT] = 1,  [BRANCH] = 2,	    [LONG_BRANCH] = 4,
};

struct bytecode {
	struct isa isa;
	isa_constant *constant;
	void *arg;
	struct strbuf text;
};

/* ---- numbers, most significant byte first; bytes that are not there are 0 ---- */

static uint32_t number_at(const struct isa_code *code, uint64_t offset, unsigned size)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < size; i++)
		number = number << 8 | (offset + i < code->size ? code->bytes[offset + i] : 0);
	return number;
}

static int32_t signed_at(const struct isa_code *code, uint64_t offset, unsigned size)
{
	unsigned shift = 32 - 8 * size;

	return (int32_t)(number_at(code, offset, size) << shift) >> shift;
}

/* ---- switches: padding to a multiple of 4, default, then for a table the least and the greatest
 * number, for a lookup how many; then distances, of a lookup each behind its number ---- */

struct cases {
	uint64_t first; /* offset of the first case */
	uint32_t size;	/* bytes of each */
	int64_t count;	/* below 0: damage */
	int32_t least;	/* the number of the first one, of a table */
};

static uint64_t operand_of_switch(const struct isa_code *code)
{
	return 4 - (code->address & 3);
}

static struct cases cases_of(const struct isa_code *code, uint8_t operands)
{
	uint64_t at = operand_of_switch(code);
	int64_t first = signed_at(code, at + 4, 4), second = signed_at(code, at + 8, 4);

	if (operands == LOOKUP)
		return (struct cases){at + 8, 8, first, 0};
	return (struct cases){at + 12, 4, second - first + 1, (int32_t)first};
}

/* ---- lengths and kinds ---- */

static const struct opcode *opcode_at(const struct isa_code *code, uint64_t offset)
{
	return offset < code->size && code->bytes[offset] < COUNT(opcodes)
		       ? &opcodes[code->bytes[offset]]
		       : NULL;
}

/* 0: it is none. */
static uint64_t length_of(const struct isa_code *code, const struct opcode *opcode)
{
	struct cases cases;

	switch (opcode->operands) {
	case TABLE:
	case LOOKUP:
		cases = cases_of(code, opcode->operands);
		return cases.count < 0 ? 0 : cases.first + cases.size * (uint64_t)cases.count;
	case WIDE:
		opcode = opcode_at(code, 1);
		if (!opcode || (opcode->operands != LOCAL && opcode->operands != INCREMENT))
			return 0;
		return 2 + 2 * (uint64_t)sizes[opcode->operands];
	default:
		return 1 + (uint64_t)sizes[opcode->operands];
	}
}

static void decode(struct isa *isa, const struct isa_code *code, struct isa_instruction *out)
{
	const struct opcode *opcode = opcode_at(code, 0);
	uint64_t length = opcode ? length_of(code, opcode) : 0;
	unsigned size;

	(void)isa;
	*out = (struct isa_instruction){.address = code->address, .length = 1, .kind = ISA_INVALID};
	if (!length || length > code->size)
		return;
	out->length = (uint32_t)length;
	out->kind = (enum isa_kind)opcode->kind;
	size = opcode->operands == BRANCH ? 2 : opcode->operands == LONG_BRANCH ? 4 : 0;
	out->has_target = size;
	if (size)
		out->target = code->address + (uint64_t)(int64_t)signed_at(code, 1, size);
}

/* ---- text ---- */

/* As the lines have it: the place in the method. */
static void put_place(struct strbuf *text, uint64_t address)
{
	enum { PLACES = 0xffff };

	strbuf_printf(text, "%08x", (unsigned)(address & PLACES));
}

static void put_constant(struct bytecode *bytecode, uint32_t index)
{
	size_t before = bytecode->text.length;

	if (bytecode->constant)
		bytecode->constant((uint16_t)index, bytecode->arg, &bytecode->text);
	if (bytecode->text.length == before)
		strbuf_printf(&bytecode->text, "#%u", index);
}

static void put_cases(struct strbuf *text, const struct isa_code *code, uint8_t operands)
{
	enum { SHOWN_MAX = 16 };
	const struct cases cases = cases_of(code, operands);
	const int64_t shown = cases.count < SHOWN_MAX ? cases.count : SHOWN_MAX;

	for (int64_t i = 0; i < shown; i++) {
		uint64_t at = cases.first + (uint64_t)i * cases.size;
		int32_t number =
			operands == LOOKUP ? signed_at(code, at, 4) : (int32_t)(cases.least + i);

		strbuf_printf(text, "%d: ", number);
		put_place(text, code->address +
					(uint64_t)(int64_t)signed_at(code, at + cases.size - 4, 4));
		strbuf_puts(text, ", ");
	}
	if (shown < cases.count)
		strbuf_printf(text, "%lld more, ", (long long)(cases.count - shown));
	strbuf_puts(text, "default: ");
	put_place(text,
		  code->address + (uint64_t)(int64_t)signed_at(code, operand_of_switch(code), 4));
}

static const char *element_name(uint8_t type)
{
	static const char *const names[] = {"boolean", "char",	"float", "double",
					    "byte",    "short", "int",	 "long"};
	enum { FIRST = 4 };

	return type >= FIRST && type < FIRST + COUNT(names) ? names[type - FIRST] : "?";
}

static void put_wide(struct strbuf *text, const struct isa_code *code)
{
	const struct opcode *opcode = opcode_at(code, 1);

	strbuf_printf(text, "%s_w %u", opcode->name, number_at(code, 2, 2));
	if (opcode->operands == INCREMENT)
		strbuf_printf(text, ", %d", signed_at(code, 4, 2));
}

static void put_operands(struct bytecode *bytecode, const struct isa_code *code,
			 const struct isa_instruction *instruction, uint8_t operands)
{
	struct strbuf *text = &bytecode->text;

	switch (operands) {
	case BYTE:
		strbuf_printf(text, "%d", signed_at(code, 1, 1));
		break;
	case SHORT:
		strbuf_printf(text, "%d", signed_at(code, 1, 2));
		break;
	case LOCAL:
		strbuf_printf(text, "%u", number_at(code, 1, 1));
		break;
	case INCREMENT:
		strbuf_printf(text, "%u, %d", number_at(code, 1, 1), signed_at(code, 2, 1));
		break;
	case CONSTANT:
		put_constant(bytecode, number_at(code, 1, 1));
		break;
	case LONG_PLACE:
	case INTERFACE:
		put_constant(bytecode, number_at(code, 1, 2));
		break;
	case DIMENSIONS:
		put_constant(bytecode, number_at(code, 1, 2));
		strbuf_printf(text, ", %u", number_at(code, 3, 1));
		break;
	case ELEMENT:
		strbuf_puts(text, element_name((uint8_t)number_at(code, 1, 1)));
		break;
	case BRANCH:
	case LONG_BRANCH:
		put_place(text, instruction->target);
		break;
	case TABLE:
	case LOOKUP:
		put_cases(text, code, operands);
		break;
	case WIDE:
		put_wide(text, code);
		break;
	}
}

static const char *write_text(struct isa *isa, const struct isa_code *code, enum isa_syntax syntax,
			      struct isa_instruction *out)
{
	struct bytecode *bytecode = (struct bytecode *)isa;
	const struct opcode *opcode = opcode_at(code, 0);

	(void)syntax;
	decode(isa, code, out);
	if (out->kind == ISA_INVALID)
		return "(bad)";
	strbuf_clear(&bytecode->text);
	if (opcode->operands != WIDE)
		strbuf_puts(&bytecode->text, opcode->name);
	if (opcode->operands != WIDE && opcode->operands != NOTHING)
		strbuf_putc(&bytecode->text, ' ');
	put_operands(bytecode, code, out, opcode->operands);
	return bytecode->text.text;
}

static void free_bytecode(struct isa *isa)
{
	strbuf_fini(&((struct bytecode *)isa)->text);
	free(isa);
}

struct isa *isa_bytecode_new(isa_constant *constant, void *arg)
{
	struct bytecode *bytecode = xcalloc(1, sizeof(*bytecode));

	bytecode->isa = (struct isa){.decode = decode, .text = write_text, .free = free_bytecode};
	bytecode->constant = constant;
	bytecode->arg = arg;
	return &bytecode->isa;
}
