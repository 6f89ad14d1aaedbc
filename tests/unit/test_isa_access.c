/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions access and move: encodings as the assembler writes them, meanings as the
 * manuals say. */
#include "isa/isa.h"
#include "test_object_support.h"

#include <elf.h>

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R12 = 12 };
#define NONE	 ISA_NO_REGISTER
#define BIT(reg) (1u << (reg))

struct expected {
	const char *assembly; /* AT&T */
	unsigned count;
	struct isa_memory memory;
	enum isa_move move;
	uint8_t to, from;
	bool is_narrow;
	int64_t constant, pushed;
	uint32_t changed;
};

/* clang-format off */
static const struct expected all[] = {
	{.assembly = "mov 0x10(%rbx), %rax", 1, {RBX, NONE, 0, .size = 8, .displacement = 16}, ISA_MOVE_LOAD, RAX, NONE},
	{.assembly = "mov %rax, -8(%rbp)", 1, {RBP, NONE, 0, .size = 8, .displacement = -8}, ISA_MOVE_STORE, NONE, RAX},
	{.assembly = "movl $1, 4(%rdi,%rcx,4)", 1, {RDI, RCX, 4, .size = 4, .displacement = 4}, ISA_MOVE_NONE, NONE, NONE},
	{.assembly = "movzbl (%rsi), %edx", 1, {RSI, NONE, 0, .size = 1}, ISA_MOVE_NONE, NONE, NONE, .changed = BIT(RDX)},
	{.assembly = "mov %rdi, %rbx", 0, {0}, ISA_MOVE_COPY, RBX, RDI},
	{.assembly = "mov %edi, %ebx", 0, {0}, ISA_MOVE_COPY, RBX, RDI, .is_narrow = true},
	{.assembly = "movslq %ecx, %rax", 0, {0}, ISA_MOVE_COPY, RAX, RCX, .is_narrow = true},
	{.assembly = "mov $0x404020, %edi", 0, {0}, ISA_MOVE_CONSTANT, RDI, NONE, .constant = 0x404020},
	{.assembly = "mov $-1, %rdi", 0, {0}, ISA_MOVE_CONSTANT, RDI, NONE, .constant = -1},
	{.assembly = "xor %eax, %eax", 0, {0}, ISA_MOVE_CONSTANT, RAX, NONE},
	{.assembly = "xor %ecx, %eax", 0, {0}, ISA_MOVE_NONE, NONE, NONE, .changed = BIT(RAX)},
	{.assembly = "add $0x20, %rbx", 0, {0}, ISA_MOVE_ADD_CONSTANT, RBX, NONE, .constant = 32},
	{.assembly = "sub $0x20, %rsp", 0, {0}, ISA_MOVE_ADD_CONSTANT, RSP, NONE, .constant = -32},
	{.assembly = "inc %r8", 0, {0}, ISA_MOVE_ADD_CONSTANT, R8, NONE, .constant = 1},
	{.assembly = "dec %r8", 0, {0}, ISA_MOVE_ADD_CONSTANT, R8, NONE, .constant = -1},
	{.assembly = "add %rdx, %rax", 0, {0}, ISA_MOVE_ADD, RAX, RDX},
	{.assembly = "sub %rdx, %rax", 0, {0}, ISA_MOVE_NONE, NONE, NONE, .changed = BIT(RAX)},
	{.assembly = "add 8(%rax), %rdx", 1, {RAX, NONE, 0, .size = 8, .displacement = 8}, ISA_MOVE_ADD_LOAD, RDX, NONE},
	{.assembly = "add 8(%rax), %edx", 1, {RAX, NONE, 0, .size = 4, .displacement = 8}, ISA_MOVE_NONE, NONE, NONE, .changed = BIT(RDX)},
	{.assembly = "add %rdx, 8(%rax)", 1, {RAX, NONE, 0, .size = 8, .displacement = 8}, ISA_MOVE_NONE, NONE, NONE},
	{.assembly = "shl $4, %rcx", 0, {0}, ISA_MOVE_MULTIPLY, RCX, RCX, .constant = 16},
	{.assembly = "imul $88, %rsi, %rdx", 0, {0}, ISA_MOVE_MULTIPLY, RDX, RSI, .constant = 88},
	{.assembly = "cmovne %rdx, %rax", 0, {0}, ISA_MOVE_CHOICE, RAX, RDX},
	{.assembly = "lea 8(%rdi,%rsi,8), %rax", 0, {RDI, RSI, 8, .size = 8, .displacement = 8}, ISA_MOVE_ADDRESS, RAX, NONE},
	{.assembly = "lea 1(%rdi), %eax", 0, {RDI, NONE, 0, .size = 8, .displacement = 1}, ISA_MOVE_ADDRESS, RAX, NONE, .is_narrow = true},
	{.assembly = "mov %fs:-8, %rax", 1, {NONE, NONE, 0, .has_segment = true, .size = 8, .displacement = -8}, ISA_MOVE_LOAD, RAX, NONE},
	{.assembly = "push %rbx", 1, {RSP, NONE, 0, .is_stack = true, .size = 8}, ISA_MOVE_NONE, NONE, NONE, .pushed = -8},
	{.assembly = "pop %r12", 1, {RSP, NONE, 0, .is_stack = true, .size = 8}, ISA_MOVE_NONE, NONE, NONE, .pushed = 8, .changed = BIT(R12)},
	{.assembly = "movss 4(%rax), %xmm0", 1, {RAX, NONE, 0, .size = 4, .displacement = 4}, ISA_MOVE_NONE, NONE, NONE},
	{.assembly = "cmp %rax, 8(%rbx)", 1, {RBX, NONE, 0, .size = 8, .displacement = 8}, ISA_MOVE_NONE, NONE, NONE},
	{.assembly = "lock xadd %eax, (%rdx)", 1, {RDX, NONE, 0, .size = 4}, ISA_MOVE_NONE, NONE, NONE, .changed = BIT(RAX)},
	{.assembly = "nopw 0x0(%rax,%rax,1)", 0, {0}, ISA_MOVE_NONE, NONE, NONE},
	{.assembly = "prefetcht0 (%rax)", 0, {0}, ISA_MOVE_NONE, NONE, NONE},
	{.assembly = "mul %rcx", 0, {0}, ISA_MOVE_NONE, NONE, NONE, .changed = BIT(RAX) | BIT(RDX)},
	{.assembly = "rep stosb", 1, {RDI, NONE, 0, .is_run = true, .size = 1}, ISA_MOVE_NONE, NONE, NONE, .changed = BIT(RDI) | BIT(RCX)},
};
/* clang-format on */

static uint64_t relevant(const struct isa_memory *memory)
{
	return memory->base | (uint64_t)memory->index << 8 |
	       (uint64_t)(memory->index == NONE ? 0 : memory->scale) << 16 |
	       (uint64_t)memory->has_segment << 24 | (uint64_t)memory->is_run << 25 |
	       (uint64_t)memory->is_stack << 26 | (uint64_t)memory->size << 32;
}

static void expect(const struct expected *expected, const struct isa_access *access)
{
	bool has_memory = expected->count || expected->move == ISA_MOVE_ADDRESS;

	if (access->count != expected->count || access->move != expected->move ||
	    access->to != expected->to || access->from != expected->from ||
	    access->is_narrow != expected->is_narrow || access->constant != expected->constant ||
	    access->pushed != expected->pushed || access->changed != expected->changed)
		fail_msg("%s: count %u, move %d, to %u, from %u, narrow %d, constant %lld, pushed "
			 "%lld, changed %x",
			 expected->assembly, access->count, access->move, access->to, access->from,
			 access->is_narrow, (long long)access->constant, (long long)access->pushed,
			 access->changed);
	if (has_memory && (relevant(&access->memory[0]) != relevant(&expected->memory) ||
			   access->memory[0].displacement != expected->memory.displacement))
		fail_msg("%s: memory %llx %lld", expected->assembly,
			 (unsigned long long)relevant(&access->memory[0]),
			 (long long)access->memory[0].displacement);
}

/* The code that the assembler makes of one line; its size. */
static size_t assemble(const char *line, uint8_t *code, size_t size)
{
	FILE *file;

	write_file("line.s", line);
	run("echo >> line.s; as -o line.o line.s && objcopy -O binary -j .text line.o line.bin");
	file = fopen("line.bin", "r");
	assert_non_null(file);
	size = fread(code, 1, size, file);
	fclose(file);
	return size;
}

static void test_x86_64(void **state)
{
	struct isa *isa = isa_new(EM_X86_64);

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct isa_instruction instruction;
		struct isa_access access;
		uint8_t code[32];
		size_t size = assemble(all[i].assembly, code, sizeof(code));

		assert_true(isa_access(isa, code, size, 0x1000, &instruction, &access));
		assert_int_equal(instruction.length, size);
		expect(&all[i], &access);
	}
	isa_free(isa);
}

/* Relative to the instruction's end, whatever its length. */
static void test_relative(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00};
	struct isa *isa = isa_new(EM_X86_64);
	struct isa_instruction instruction;
	struct isa_access access;

	(void)state;
	assert_true(isa_access(isa, code, sizeof(code), 0x1000, &instruction, &access));
	assert_int_equal(access.count, 1);
	assert_int_equal(access.memory[0].base, NONE);
	assert_int_equal(access.memory[0].index, NONE);
	assert_int_equal(access.memory[0].displacement, 0x1017);
	assert_false(isa_access(isa, code, 3, 0x1000, &instruction, &access));
	isa_free(isa);
}

/* Whatever the bytes are: an answer within the bounds, for each of many random ones. */
static void test_any_bytes(void **state)
{
	static const uint16_t machines[] = {EM_X86_64, EM_386, EM_AARCH64};

	(void)state;
	srandom(7);
	for (size_t m = 0; m < 3; m++) {
		struct isa *isa = isa_new(machines[m]);

		for (int i = 0; isa && i < 20000; i++) {
			struct isa_instruction instruction;
			struct isa_access access;
			uint8_t code[16];

			for (size_t k = 0; k < sizeof(code); k++)
				code[k] = (uint8_t)random();
			bool known =
				isa_access(isa, code, sizeof(code), 0x1000, &instruction, &access);

			assert_true(!known || machines[m] == EM_X86_64);
			assert_true(!known || (access.count <= 2 && access.changed <= UINT16_MAX));
		}
		if (isa)
			isa_free(isa);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_relative),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
