/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions.  Ground truth: objdump on this test's own code, the encodings
 * in the manuals for single ones, and the text of the assembly that they are from.
 */
#include "isa/isa.h"
#include "test_object_support.h"

#include <elf.h>
#include <stdint.h>

static bool symbolise(uint64_t address, void *arg, struct strbuf *text)
{
	if (address < 0x1000 || address >= 0x2000)
		return false;
	strbuf_printf(text, "%s+0x%lx", (const char *)arg, address - 0x1000);
	return true;
}

struct expected {
	const char *bytes; /* hex */
	const char *att, *intel;
	enum isa_kind kind;
	uint64_t target, data;
};

static size_t parse_bytes(const char *hex, uint8_t *bytes)
{
	size_t size = 0;

	for (; hex[2 * size]; size++)
		sscanf(hex + 2 * size, "%2hhx", &bytes[size]);
	return size;
}

static void expect_text(struct isa *isa, const struct expected *expected, enum isa_syntax syntax,
			const char *text)
{
	uint8_t bytes[32];
	size_t size = parse_bytes(expected->bytes, bytes);
	struct isa_instruction instruction, decoded;
	struct strbuf written = {0};

	isa_text(isa, bytes, size, 0x1100, syntax, symbolise, "f", &instruction, &written);
	assert_string_equal(written.text, text);
	isa_decode(isa, bytes, size, 0x1100, &decoded);
	assert_int_equal(decoded.length, size);
	assert_int_equal(decoded.kind, expected->kind);
	assert_int_equal(decoded.has_target, expected->target != 0);
	assert_int_equal(decoded.target, expected->target);
	assert_int_equal(decoded.has_data, expected->data != 0);
	assert_int_equal(decoded.data, expected->data);
	assert_int_equal(instruction.kind, decoded.kind);
	assert_int_equal(instruction.length, decoded.length);
	strbuf_fini(&written);
}

/* At 0x1100, with the symbol f at 0x1000. */
static void test_x86(void **state)
{
	static const struct expected all[] = {
		{"4889e5", "mov %rsp, %rbp", "mov rbp, rsp", ISA_OTHER, 0, 0},
		{"e8fb000000", "call 0x1200 <f+0x200>", "call 0x1200 <f+0x200>", ISA_CALL, 0x1200,
		 0},
		{"e8fbffff0f", "call 0x10001100", "call 0x10001100", ISA_CALL, 0x10001100, 0},
		{"ebfe", "jmp 0x1100 <f+0x100>", "jmp 0x1100 <f+0x100>", ISA_JUMP, 0x1100, 0},
		{"7402", "je 0x1104 <f+0x104>", "je 0x1104 <f+0x104>", ISA_CONDITIONAL_JUMP, 0x1104,
		 0},
		{"0f8700010000", "ja 0x1206 <f+0x206>", "ja 0x1206 <f+0x206>", ISA_CONDITIONAL_JUMP,
		 0x1206, 0},
		{"ffd0", "call *%rax", "call rax", ISA_CALL, 0, 0},
		{"ff2510000000", "jmp *0x10(%rip)  # 0x1116 <f+0x116>",
		 "jmp qword ptr [rip+0x10]  # 0x1116 <f+0x116>", ISA_JUMP, 0, 0x1116},
		{"c3", "ret", "ret", ISA_RETURN, 0, 0},
		{"0f0b", "ud2", "ud2", ISA_TRAP, 0, 0},
		{"f4", "hlt", "hlt", ISA_TRAP, 0, 0},
		{"488b05e42e0000", "mov 0x2ee4(%rip), %rax  # 0x3feb",
		 "mov rax, qword ptr [rip+0x2ee4]  # 0x3feb", ISA_OTHER, 0, 0x3feb},
		{"c70005000000", "movl $0x5, (%rax)", "mov dword ptr [rax], 0x5", ISA_OTHER, 0, 0},
		{"0fb607", "movzbl (%rdi), %eax", "movzx eax, byte ptr [rdi]", ISA_OTHER, 0, 0},
		{"4863c7", "movslq %edi, %rax", "movsxd rax, edi", ISA_OTHER, 0, 0},
		{"4898", "cltq", "cdqe", ISA_OTHER, 0, 0},
		{"0f1f440000", "nopl (%rax,%rax,1)", "nop dword ptr [rax+rax*1]", ISA_OTHER, 0, 0},
		{"f3a4", "rep movsb", "rep movsb", ISA_OTHER, 0, 0},
		{"f348a5", "rep movsq", "rep movsq", ISA_OTHER, 0, 0},
		{"f0480fc107", "lock xadd %rax, (%rdi)", "lock xadd qword ptr [rdi], rax",
		 ISA_OTHER, 0, 0},
		{"48b8efcdab8967452301", "movabs $0x123456789abcdef, %rax",
		 "movabs rax, 0x123456789abcdef", ISA_OTHER, 0, 0},
		{"d3e0", "shl %cl, %eax", "shl eax, cl", ISA_OTHER, 0, 0},
		{"d320", "shll %cl, (%rax)", "shl dword ptr [rax], cl", ISA_OTHER, 0, 0},
		{"dd4508", "fldl 0x8(%rbp)", "fld qword ptr [rbp+0x8]", ISA_OTHER, 0, 0},
		{"d9c9", "fxch %st(1)", "fxch st(1)", ISA_OTHER, 0, 0},
		{"dac1", "fcmovb %st(1), %st(0)", "fcmovb st(0), st(1)", ISA_OTHER, 0, 0},
		{"f20f2a4508", "cvtsi2sdl 0x8(%rbp), %xmm0", "cvtsi2sd xmm0, dword ptr [rbp+0x8]",
		 ISA_OTHER, 0, 0},
		{"c5fd6f07", "vmovdqa (%rdi), %ymm0", "vmovdqa ymm0, ymmword ptr [rdi]", ISA_OTHER,
		 0, 0},
	};
	struct isa *isa = isa_new(EM_X86_64);

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		expect_text(isa, &all[i], ISA_ATT, all[i].att);
		expect_text(isa, &all[i], ISA_INTEL, all[i].intel);
	}
	isa_free(isa);
}

/* At 0x1100 again; the words are what an assembler makes of the text. */
static void test_aarch64(void **state)
{
	static const struct expected all[] = {
		{"40000094", "bl 0x1200 <f+0x200>", NULL, ISA_CALL, 0x1200, 0},
		{"ffffff17", "b 0x10fc <f+0xfc>", NULL, ISA_JUMP, 0x10fc, 0},
		{"40000054", "b.eq 0x1108 <f+0x108>", NULL, ISA_CONDITIONAL_JUMP, 0x1108, 0},
		{"400000b4", "cbz x0, 0x1108 <f+0x108>", NULL, ISA_CONDITIONAL_JUMP, 0x1108, 0},
		{"e3ff2f37", "tbnz w3, #5, 0x10fc <f+0xfc>", NULL, ISA_CONDITIONAL_JUMP, 0x10fc, 0},
		{"20003fd6", "blr x1", NULL, ISA_CALL, 0, 0},
		{"20021fd6", "br x17", NULL, ISA_JUMP, 0, 0},
		{"c0035fd6", "ret", NULL, ISA_RETURN, 0, 0},
		{"ff0b5fd6", ".inst 0xd65f0bff", NULL, ISA_RETURN, 0, 0}, /* retaa */
		{"000000b0", "adrp x0, 0x2000", NULL, ISA_OTHER, 0, 0x2000},
		{"41000010", "adr x1, 0x1108 <f+0x108>", NULL, ISA_OTHER, 0, 0x1108},
		{"42000058", "ldr x2, 0x1108 <f+0x108>", NULL, ISA_OTHER, 0, 0x1108},
		{"231040b9", "ldr w3, [x1, #0x10]", NULL, ISA_OTHER, 0, 0},
		{"000020d4", "brk #0", NULL, ISA_TRAP, 0, 0},
		{"e0ff9fd2", "mov x0, #0xffff", NULL, ISA_OTHER, 0, 0},
		{"20f0a0d2", "mov x0, #0x7810000", NULL, ISA_OTHER, 0, 0},
		{"03008092", "mov x3, #0xffffffffffffffff", NULL, ISA_OTHER, 0, 0},
		{"60018012", "mov w0, #0xfffffff4", NULL, ISA_OTHER, 0, 0},
		{"e0f303b2", "mov x0, #0xaaaaaaaaaaaaaaaa", NULL, ISA_OTHER, 0, 0},
		{"3f2303d5", "paciasp", NULL, ISA_OTHER, 0, 0},
		{"5f2403d5", "bti c", NULL, ISA_OTHER, 0, 0},
		{"0000a0d2", "movz x0, #0, lsl #16", NULL, ISA_OTHER, 0, 0},
	};
	struct isa *isa = isa_new(EM_AARCH64);

	(void)state;
	assert_non_null(isa);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		expect_text(isa, &all[i], ISA_ATT, all[i].att);
	isa_free(isa);
}

static void test_invalid(void **state)
{
	static const uint8_t cut[] = {0xe8, 0, 0}, prefixes[] = {0x66, 0x66, 0x66};
	static const uint16_t machines[] = {EM_X86_64, EM_386, EM_AARCH64};
	struct isa_instruction instruction;

	(void)state;
	assert_null(isa_new(EM_SPARC));
	isa_free(NULL);
	for (size_t i = 0; i < 3; i++) {
		struct isa *isa = isa_new(machines[i]);
		struct strbuf text = {0};

		isa_text(isa, cut, sizeof(cut), 0, ISA_ATT, NULL, NULL, &instruction, &text);
		assert_int_equal(instruction.kind, ISA_INVALID);
		assert_true(instruction.length >= 1 && instruction.length <= sizeof(cut));
		assert_true(text.length > 0);
		isa_decode(isa, prefixes, sizeof(prefixes), 0, &instruction);
		assert_int_equal(instruction.kind, ISA_INVALID);
		strbuf_fini(&text);
		isa_free(isa);
	}
}

/* Without spaces, 0x and what only explains; one of several ways to write the same. */
static void simplify(char *text)
{
	char *out = text;

	text[strcspn(text, "#<\n")] = '\0';
	if (strstr(text, "nop") || strstr(text, "xchg   %ax,%ax"))
		strcpy(text, "nop");
	for (const char *in = text; *in; in++) {
		if (*in == ' ' || *in == '\t')
			continue;
		if (in[0] == '0' && in[1] == 'x') {
			in++;
			continue;
		}
		if (in[0] == '0' && in[1] == '(' && (out == text || out[-1] != '0'))
			continue; /* a displacement of 0 */
		*out++ = *in;
	}
	*out = '\0';
}

/*
 * What objdump writes of an instruction that is written in two ways; data16 pads an access to a
 * thread-local variable.
 */
static bool has_other_spelling(const char *text)
{
	static const char *const parts[] = {
		"stos", "movsb", "movsw", "movsl", "movsq",  "scas",   "cmpsb",	 "lods",   "repz",
		"fsub", "fdiv",	 "shr",	  "shl",   "sar",    "sal",    "rol",	 "ror",	   "st(0)",
		"%st",	"cmpeq", "cmplt", "cmple", "cmpneq", "cmpnlt", "cmpnle", "cmpltu", "data16",
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (strstr(text, parts[i]))
			return true;
	}
	return false;
}

static void compare(struct isa *isa, struct object *object, uint64_t address, char *expected)
{
	struct isa_instruction instruction;
	struct strbuf text = {0};
	uint8_t bytes[16];
	size_t size = object_code(object, address, bytes, sizeof(bytes));

	assert_true(size > 0);
	isa_text(isa, bytes, size, address, ISA_ATT, NULL, NULL, &instruction, &text);
	simplify(text.text);
	simplify(expected);
	if (!has_other_spelling(expected) && strcmp(text.text, expected) != 0)
		fail_msg("0x%lx: %s not %s", address, text.text, expected);
	strbuf_fini(&text);
}

/* Every 16th instruction of the sections .text and .plt of this test. */
static void test_own_code(void **state)
{
	char *self = realpath("/proc/self/exe", NULL), line[512];
	struct object *object = open_object(self);
	struct isa *isa = isa_new(object_machine(object));
	size_t compared = 0, count = 0;

	(void)state;
	run("objdump -d --no-show-raw-insn %s >listing", self);

	FILE *in = fopen("listing", "r");

	while (fgets(line, sizeof(line), in)) {
		uint64_t address;
		int text = 0;

		if (line[0] != ' ' || sscanf(line, " %lx: %n", &address, &text) != 1 || !text ||
		    count++ % 16)
			continue;
		compare(isa, object, address, line + text);
		compared++;
	}
	fclose(in);
	assert_true(compared > 100);
	isa_free(isa);
	object_free(object);
	free(self);
}

static void test_system_calls(void **state)
{
	static const struct {
		uint16_t machine;
		uint8_t bytes[4];
		bool is_call;
	} all[] = {
		{EM_X86_64, {0x0f, 0x05}, true},
		{EM_X86_64, {0xcd, 0x80}, true},
		{EM_X86_64, {0x0f, 0x0b}, false},
		{EM_X86_64, {0xcd, 0x03}, false},
		{EM_AARCH64, {0x01, 0x00, 0x00, 0xd4}, true},  /* svc #0 */
		{EM_AARCH64, {0xe1, 0xff, 0x1f, 0xd4}, true},  /* svc #0xffff */
		{EM_AARCH64, {0x02, 0x00, 0x00, 0xd4}, false}, /* hvc #0 */
		{EM_AARCH64, {0x00, 0x00, 0x20, 0xd4}, false}, /* brk #0 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(isa_is_system_call(all[i].machine, all[i].bytes), all[i].is_call);
	assert_int_equal(isa_system_call_size(EM_X86_64), 2);
	assert_int_equal(isa_system_call_size(EM_AARCH64), 4);
	assert_int_equal(isa_system_call_size(EM_PPC64), 0);
}

static void put_number(uint16_t index, void *arg, struct strbuf *text)
{
	if (index == 7)
		strbuf_puts(text, arg);
}

/* Encodings of the specification of the Java machine; at place 1 of a method. */
static void test_bytecode(void **state)
{
	static const struct {
		const char *bytes, *text;
		enum isa_kind kind;
		uint64_t target;
	} all[] = {
		{"00", "nop", ISA_OTHER, 0},
		{"10ff", "bipush -1", ISA_OTHER, 0},
		{"118000", "sipush -32768", ISA_OTHER, 0},
		{"1207", "ldc seven", ISA_OTHER, 0},
		{"1208", "ldc #8", ISA_OTHER, 0},
		{"15ff", "iload 255", ISA_OTHER, 0},
		{"8405fe", "iinc 5, -2", ISA_OTHER, 0},
		{"c41501ff", "iload_w 511", ISA_OTHER, 0},
		{"c4840100ff00", "iinc_w 256, -256", ISA_OTHER, 0},
		{"9d0010", "ifgt 00000011", ISA_CONDITIONAL_JUMP, 0x8000000000070011},
		{"a7ffff", "goto 00000000", ISA_JUMP, 0x8000000000070000},
		{"c800010000", "goto_w 00000001", ISA_JUMP, 0x8000000000080001},
		{"b1", "return", ISA_RETURN, 0},
		{"b80007", "invokestatic seven", ISA_CALL, 0},
		{"b900070200", "invokeinterface seven", ISA_CALL, 0},
		{"bc0a", "newarray int", ISA_OTHER, 0},
		{"bc03", "newarray ?", ISA_OTHER, 0},
		{"c5000702", "multianewarray seven, 2", ISA_OTHER, 0},
		{"cb", "(bad)", ISA_INVALID, 0},
		{"c400", "(bad)", ISA_INVALID, 0},
		{"b8", "(bad)", ISA_INVALID, 0},
	};
	struct isa *isa = isa_bytecode_new(put_number, "seven");

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint8_t bytes[64];
		size_t size = parse_bytes(all[i].bytes, bytes);
		struct isa_instruction out;
		struct strbuf text = {0};

		isa_text(isa, bytes, size, 0x8000000000070001, ISA_ATT, NULL, NULL, &out, &text);
		assert_string_equal(text.text, all[i].text);
		assert_int_equal(out.kind, all[i].kind);
		assert_int_equal(out.length, all[i].kind == ISA_INVALID ? 1 : size);
		assert_int_equal(out.target, all[i].target);
		strbuf_fini(&text);
	}
	isa_free(isa);
}

/* At place 1: two bytes of padding; cases that the bytes do not have make it none. */
static void test_switches(void **state)
{
	static const uint8_t table[] = {0xaa, 0, 0, 0, 0, 0, 0x20, 0xff, 0xff, 0xff, 0xff, 0,
					0,    0, 0, 0, 0, 0, 0x30, 0,	 0,    0,    0x31};
	static const uint8_t lookup[] = {0xab, 0,    0,	   0,	 0,    0, 0x20, 0, 0,	0,
					 1,    0xff, 0xff, 0xff, 0xf6, 0, 0,	0, 0x30};
	uint8_t endless[] = {0xaa, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff};
	struct isa *isa = isa_bytecode_new(NULL, NULL);
	struct isa_instruction out;
	struct strbuf text = {0};

	(void)state;
	isa_text(isa, table, sizeof(table), 1, ISA_ATT, NULL, NULL, &out, &text);
	assert_string_equal(text.text, "tableswitch -1: 00000031, 0: 00000032, default: 00000021");
	assert_int_equal(out.length, sizeof(table));
	strbuf_clear(&text);
	isa_text(isa, lookup, sizeof(lookup), 1, ISA_ATT, NULL, NULL, &out, &text);
	assert_string_equal(text.text, "lookupswitch -10: 00000031, default: 00000021");
	assert_int_equal(out.length, sizeof(lookup));
	for (size_t size = 1; size < sizeof(table); size++) {
		isa_decode(isa, table, size, 1, &out);
		assert_int_equal(out.kind, ISA_INVALID);
		assert_int_equal(out.length, 1);
	}
	isa_decode(isa, endless, sizeof(endless), 1, &out);
	assert_int_equal(out.kind, ISA_INVALID);
	endless[0] = 0xab;
	isa_decode(isa, endless, sizeof(endless), 1, &out);
	assert_int_equal(out.kind, ISA_INVALID);
	strbuf_fini(&text);
	isa_free(isa);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),	 cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_invalid),	 cmocka_unit_test(test_system_calls),
		cmocka_unit_test(test_own_code), cmocka_unit_test(test_bytecode),
		cmocka_unit_test(test_switches),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
