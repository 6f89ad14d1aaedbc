/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step of the unwinder against elfutils, for the addresses of real
 * libraries: CFA, return address and rbp must be what libdw's CFI reader says.
 *
 * Each file is mapped as the loader would map it.  The stack is a buffer of
 * plausible addresses, the registers point into it, so both sides can work out
 * numbers; the test evaluates libdw's location expressions itself.  What comes
 * after the first step is nonsense and does not matter.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/unwind/unwind.h"
#include "unwind_support.h"

enum {
	ROOM = 256 << 20, /* for an object */
	STACK_SIZE = 8 << 20,
	STACK_SP = 1 << 20,	/* where sp points; other registers a bit above */
	STACK_VALUES = 4 << 20, /* what lies in memory points above this */
	RBP = 6,
	RSP = 7,
	PC = 16,
};

struct object {
	int fd;
	Elf *elf;
	Dwarf_CFI *cfi;
	uint64_t base;
	uint64_t hdr, hdr_size; /* ELF address of .eh_frame_hdr */
	struct unwind_modules *modules;
};

struct tally {
	uint64_t addresses, rows, slow, wrong, ends, unreadable;
};

static uint8_t *stack_memory;
static struct unwind_memory *memory;
static bool held; /* the CFI may only be read through copies */

static uint32_t intern(uint32_t parent, uint64_t pc, void *arg)
{
	return parent + 1;
}

static uint64_t load(uint64_t address, bool *bad)
{
	uint64_t low = (uint64_t)stack_memory;

	if (address < low || address - low > STACK_SIZE - 8) {
		*bad = true;
		return 0;
	}
	return *(uint64_t *)address;
}

static void make_stack(void)
{
	uint64_t seed = 1, i;

	stack_memory =
		mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i + 8 <= STACK_SIZE; i += 8) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		*(uint64_t *)(stack_memory + i) =
			(uint64_t)stack_memory + STACK_VALUES + (seed >> 43) / 8 * 8;
	}
	memory = support_memory(16);
}

/* The registers; all but rsp look like saved values. */
static void make_regs(struct unwind_regs *regs, uint64_t pc)
{
	unsigned int i;

	for (i = 0; i < UNWIND_REGS; i++)
		regs->reg[i] = (uint64_t)stack_memory + STACK_SP + 0x10000 + i * 0x1008;
	regs->reg[RSP] = (uint64_t)stack_memory + STACK_SP;
	regs->reg[PC] = pc;
	regs->known = (1u << UNWIND_REGS) - 1;
}

/* An evaluator of what libdw returns, as simple as can be. */
static uint64_t evaluate(const Dwarf_Op *ops, size_t count, const struct unwind_regs *regs,
			 uint64_t cfa, bool push_cfa, bool *bad)
{
	uint64_t stack[32] = {0};
	size_t top = 0, i;

#define TOP	   stack[top - 1]
#define BINARY(op) (top--, stack[top - 1] = stack[top - 1] op stack[top])
	if (push_cfa)
		stack[top++] = cfa;
	for (i = 0; i < count && !*bad; i++) {
		uint8_t atom = ops[i].atom;

		if (top > 30) {
			*bad = true;
		} else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg16) {
			stack[top++] = regs->reg[atom - DW_OP_breg0] + ops[i].number;
		} else if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
			stack[top++] = atom - DW_OP_lit0;
		} else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
			stack[top++] = ops[i].number;
		} else if (atom == DW_OP_bregx) {
			stack[top++] = regs->reg[ops[i].number] + ops[i].number2;
		} else if (atom == DW_OP_call_frame_cfa) {
			stack[top++] = cfa;
		} else if (atom == DW_OP_plus_uconst) {
			TOP += ops[i].number;
		} else if (atom == DW_OP_deref) {
			TOP = load(TOP, bad);
		} else if (atom == DW_OP_and) {
			BINARY(&);
		} else if (atom == DW_OP_plus) {
			BINARY(+);
		} else if (atom == DW_OP_minus) {
			BINARY(-);
		} else if (atom == DW_OP_mul) {
			BINARY(*);
		} else if (atom == DW_OP_shl) {
			BINARY(<<);
		} else if (atom == DW_OP_ge) {
			top--;
			TOP = (int64_t)TOP >= (int64_t)stack[top];
		} else if (atom == DW_OP_dup) {
			stack[top] = TOP;
			top++;
		} else if (atom != DW_OP_nop && atom != DW_OP_stack_value) {
			fail_msg("an operation that this test does not know: %#x", atom);
		}
	}
	return TOP;
}

/* What a register of the caller is; `undefined`: nothing. */
static uint64_t reference_register(Dwarf_Frame *frame, int reg, const struct unwind_regs *regs,
				   uint64_t cfa, bool *undefined, bool *bad)
{
	Dwarf_Op room[3], *ops;
	size_t count;
	uint64_t value;

	*undefined = false;
	assert_int_equal(dwarf_frame_register(frame, reg, room, &ops, &count), 0);
	if (!count) {
		*undefined = ops != NULL;
		return regs->reg[reg];
	}
	if (count == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		return regs->reg[ops[0].atom - DW_OP_reg0];
	if (count == 1 && ops[0].atom == DW_OP_regx)
		return regs->reg[ops[0].number];
	value = evaluate(ops, count, regs, cfa, true, bad);
	return ops[count - 1].atom == DW_OP_stack_value ? value : load(value, bad);
}

struct reference {
	uint64_t cfa, address, bp;
	bool end, bp_undefined, bad;
};

static struct reference reference_step(Dwarf_Frame *frame, const struct unwind_regs *regs)
{
	struct reference step = {0};
	Dwarf_Op *ops;
	size_t count;
	bool undefined;

	assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
	step.cfa = evaluate(ops, count, regs, 0, false, &step.bad);
	step.address = reference_register(frame, PC, regs, step.cfa, &step.end, &step.bad);
	step.bp = reference_register(frame, RBP, regs, step.cfa, &step.bp_undefined, &step.bad);
	/* Where the CFI restores rsp to something else than the CFA: signal frames. */
	step.cfa = reference_register(frame, RSP, regs, step.cfa, &undefined, &step.bad);
	return step;
}

/* Nothing but the object. */
static size_t read_object(uint64_t address, void *to, size_t size, void *arg)
{
	const struct object *object = arg;
	struct iovec local = {to, size}, remote = {(void *)address, size};

	if (address < object->base || address >= object->base + ROOM)
		return 0;
	ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

static void check(const struct object *object, Dwarf_Frame *frame, uint64_t pc, bool signal,
		  struct tally *tally)
{
	struct unwind_stack stack = {.low = (uint64_t)stack_memory,
				     .high = (uint64_t)stack_memory + STACK_SIZE,
				     .read_slow = held ? read_object : NULL,
				     .arg = (void *)object};
	uint64_t slow = memory->counts.slow, frames = memory->counts.frames;
	struct unwind_regs regs;
	struct reference expected;
	const struct unwind_frame *caller;
	enum unwind_end end;
	bool right;

	make_regs(&regs, pc);
	expected = reference_step(frame, &regs);
	unwind_memory_reset(memory);
	assert_int_not_equal(unwind_stack_node(memory, &regs, &stack, intern, NULL, &end), 0);
	/* The frames as the walk found them, leaf first. */
	caller = &memory->frames[1 + memory->limit + 1];
	frames = memory->counts.frames - frames;
	tally->addresses++;
	tally->slow += memory->counts.slow > slow;
	if (expected.end) {
		tally->ends++;
		right = end == UNWIND_COMPLETE && frames == 1;
	} else if (expected.bad) {
		tally->unreadable++;
		right = end == UNWIND_FAILED && frames == 1;
	} else {
		right = frames >= 2 && caller->sp == expected.cfa &&
			caller->pc == expected.address - !signal &&
			(caller->bp == expected.bp || expected.bp_undefined);
	}
	if (!right && tally->wrong++ < 10)
		print_message("%#lx: CFA %#lx, expected %#lx; pc %#lx, expected %#lx; rbp %#lx, "
			      "expected %#lx; frames %lu end %d reason %d\n",
			      pc - object->base, caller->sp - regs.reg[RSP],
			      expected.cfa - regs.reg[RSP], caller->pc, expected.address,
			      caller->bp, expected.bp, frames, end, memory->reason);
}

/* One row of the table: all its addresses, or its first and last. */
static uint64_t check_row(const struct object *object, uint64_t address, uint64_t end, bool every,
			  struct tally *tally)
{
	Dwarf_Frame *frame;
	Dwarf_Addr row_start, row_end;
	bool signal;

	if (dwarf_cfi_addrframe(object->cfi, address, &frame))
		return end;
	assert_int_not_equal(dwarf_frame_info(frame, &row_start, &row_end, &signal), -1);
	tally->rows++;
	for (; address < row_end && address < end; address++) {
		if (every || address == row_start || address == row_end - 1)
			check(object, frame, object->base + address, signal, tally);
	}
	free(frame);
	return address;
}

/* All functions that .eh_frame_hdr names. */
static struct tally check_object(const struct object *object, bool every)
{
	const uint8_t *hdr = (const uint8_t *)(object->base + object->hdr);
	uint32_t count = *(const uint32_t *)(hdr + 8), i;
	const int32_t *table = (const int32_t *)(hdr + 12);
	struct tally tally = {0};

	for (i = 0; i < count; i++) {
		uint64_t address = object->hdr + (uint64_t)(int64_t)table[2 * i];
		uint64_t end = i + 1 < count ? object->hdr + (uint64_t)(int64_t)table[2 * i + 2]
					     : address + 0x1000;

		while (address < end)
			address = check_row(object, address, end, every, &tally);
	}
	return tally;
}

static void map_segment(struct object *object, const GElf_Phdr *load, const GElf_Phdr *cfi)
{
	uint64_t page = load->p_offset & 4095;
	struct unwind_module *module = &object->modules->items[object->modules->count];

	mmap((void *)(object->base + load->p_vaddr - page), load->p_filesz + page, PROT_READ,
	     MAP_PRIVATE | MAP_FIXED, object->fd, (off_t)(load->p_offset - page));
	if (!(load->p_flags & PF_X))
		return;
	*module = (struct unwind_module){.start = object->base + load->p_vaddr,
					 .end = object->base + load->p_vaddr + load->p_filesz,
					 .eh_frame_hdr =
						 (const uint8_t *)(object->base + object->hdr),
					 .eh_frame_hdr_size = object->hdr_size,
					 .map_start = object->base + cfi->p_vaddr,
					 .map_end = object->base + cfi->p_vaddr + cfi->p_filesz};
	object->modules->count++;
}

static bool open_object(struct object *object, const char *path)
{
	GElf_Phdr header, cfi = {0};
	size_t count, i;

	object->fd = open(path, O_RDONLY);
	if (object->fd < 0)
		return false;
	object->elf = elf_begin(object->fd, ELF_C_READ_MMAP, NULL);
	object->cfi = dwarf_getcfi_elf(object->elf);
	assert_non_null(object->cfi);
	object->modules =
		calloc(1, sizeof(struct unwind_modules) + 8 * sizeof(struct unwind_module));
	object->base = (uint64_t)mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	elf_getphdrnum(object->elf, &count);
	for (i = 0; i < count; i++) {
		gelf_getphdr(object->elf, (int)i, &header);
		if (header.p_type != PT_GNU_EH_FRAME)
			continue;
		object->hdr = header.p_vaddr;
		object->hdr_size = header.p_memsz;
	}
	for (i = 0; i < count; i++) {
		gelf_getphdr(object->elf, (int)i, &header);
		if (header.p_type != PT_LOAD)
			continue;
		if (object->hdr >= header.p_vaddr && object->hdr < header.p_vaddr + header.p_filesz)
			cfi = header;
		if (header.p_vaddr >= ROOM)
			return false;
	}
	for (i = 0; i < count; i++) {
		gelf_getphdr(object->elf, (int)i, &header);
		if (header.p_type == PT_LOAD)
			map_segment(object, &header, &cfi);
	}
	unwind_modules_publish(object->modules);
	return true;
}

static void close_object(struct object *object)
{
	unwind_modules_publish(NULL);
	munmap((void *)object->base, ROOM);
	dwarf_cfi_end(object->cfi);
	elf_end(object->elf);
	close(object->fd);
	free(object->modules);
}

/* The greatest share of slow steps in 100,000 addresses. */
static void compare(const char *pattern, bool every, uint64_t slow_limit)
{
	struct object object = {0};
	struct tally tally;
	glob_t found;

	if (glob(pattern, 0, NULL, &found) || !open_object(&object, found.gl_pathv[0])) {
		print_message("no %s here\n", pattern);
		skip();
	}
	tally = check_object(&object, every);
	print_message("%s: %lu addresses, %lu rows, %lu slow, %lu ends, %lu unreadable\n",
		      found.gl_pathv[0], tally.addresses, tally.rows, tally.slow, tally.ends,
		      tally.unreadable);
	assert_int_equal(tally.wrong, 0);
	assert_true(tally.addresses > 1000);
	assert_true(tally.slow * 100000 <= slow_limit * tally.addresses);
	close_object(&object);
	globfree(&found);
}

static void test_libc(void **state)
{
	compare("/lib/x86_64-linux-gnu/libc.so.6", true, 100);
}

static void test_loader(void **state)
{
	compare("/lib64/ld-linux-x86-64.so.2", true, 3000);
}

static void test_libcrypto(void **state)
{
	compare("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", false, 5000);
}

static void test_libgcc(void **state)
{
	compare("/lib/x86_64-linux-gnu/libgcc_s.so.1", true, 100);
}

static void test_libstdcxx(void **state)
{
	compare("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", false, 100);
}

static void test_python(void **state)
{
	compare("/usr/bin/python3.*[0-9]", false, 100);
}

static void test_compiler(void **state)
{
	compare("/usr/lib/gcc/x86_64-linux-gnu/*/cc1", false, 100);
}

/* The same as ever, but that all of it may be unmapped at any moment. */
static void compare_held(const char *pattern, uint64_t slow_limit)
{
	unwind_modules_hold();
	held = true;
	compare(pattern, false, slow_limit);
	held = false;
	unwind_modules_release();
}

static void test_libc_held(void **state)
{
	compare_held("/lib/x86_64-linux-gnu/libc.so.6", 100);
}

static void test_libcrypto_held(void **state)
{
	compare_held("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 5000);
}

static int setup(void **state)
{
	elf_version(EV_CURRENT);
	make_stack();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libc),	       cmocka_unit_test(test_loader),
		cmocka_unit_test(test_libcrypto),      cmocka_unit_test(test_libgcc),
		cmocka_unit_test(test_libstdcxx),      cmocka_unit_test(test_python),
		cmocka_unit_test(test_compiler),       cmocka_unit_test(test_libc_held),
		cmocka_unit_test(test_libcrypto_held),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
