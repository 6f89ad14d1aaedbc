/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as .eh_frame_hdr and .eh_frame of a mapped module: what is asked of
 * them stays inside them and comes to an end, and stacks unwound by them are the
 * same with and without the memory of the stack before.  Compiled with the
 * unwinder's sources, because in the collector they carry no sanitizer.
 */
#include "collector/unwind/cfi.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TABLE = 12, ENTRY = 8, ENTRIES = 64, REACH = 1 << 24 };

static void ask(const struct unwind_module *module, uint64_t pc)
{
	struct cfi_row states[CFI_STATES];
	struct cfi_result result;
	struct cfi_reader reader;

	if (cfi_find(module, pc, states, &result) != CFI_FOUND)
		return;
	for (int i = 0; i < CFI_COLUMNS; i++) {
		uint32_t column = result.row.column[i];

		if (cfi_kind(column) == CFI_EXPRESSION || cfi_kind(column) == CFI_VALUE_EXPRESSION)
			cfi_expression(module, cfi_value(column), &reader);
	}
	if (result.row.cfa_register == CFI_CFA_EXPRESSION)
		cfi_expression(module, result.row.cfa_offset, &reader);
}

enum { CODE = 16 << 20, WORDS = 1024, LIMIT = 64 };

/* Nodes are numbered by a mix of parent and pc: equal stacks, equal numbers. */
static uint32_t intern(uint32_t parent, uint64_t pc, void *arg)
{
	uint64_t mixed = (parent + UINT64_C(0x9e3779b97f4a7c15)) * (pc | 1);

	return (uint32_t)(mixed >> 32) | 1;
}

/* A stack of words that point to code and into the stack, in turn; some are small numbers. */
static void fill(uint64_t *words, uint64_t code, uint64_t seed)
{
	for (int i = 0; i < WORDS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		words[i] = i % 16 == 0 ? seed >> 60
			   : i & 1     ? code + (seed >> 44)
				       : (uint64_t)&words[i] + (seed >> 58) * 8;
	}
}

static struct unwind_memory *new_memory(void)
{
	struct unwind_memory *memory = calloc(1, unwind_memory_size(LIMIT));

	unwind_memory_init(memory, LIMIT);
	return memory;
}

/* The pc, and registers that point into the stack. */
static struct unwind_regs registers(const uint64_t *words, uint64_t pc)
{
	struct unwind_regs regs = {.known = (1u << UNWIND_REGS) - 1};

	for (int i = 0; i < UNWIND_REGS; i++)
		regs.reg[i] = (uint64_t)(words + 64 + i * 2);
	regs.reg[7] = (uint64_t)(words + 16);
	regs.reg[UNWIND_REGS - 1] = pc;
	return regs;
}

static size_t read_words(uint64_t address, void *to, size_t size, void *words)
{
	uint64_t end = (uint64_t)words + WORDS * sizeof(uint64_t);

	if (address < (uint64_t)words || address >= end)
		return 0;
	size = size < end - address ? size : (size_t)(end - address);
	memcpy(to, (const void *)address, size);
	return size;
}

/* Where no stack is known, all is read by a function. */
static void unwind_unknown(uint64_t *words, uint64_t pc)
{
	static struct unwind_memory *memory;
	const struct unwind_stack stack = {.read_slow = read_words, .arg = words};
	const struct unwind_regs regs = registers(words, pc);
	enum unwind_end end;

	if (!memory)
		memory = new_memory();
	unwind_memory_reset(memory);
	unwind_stack_node(memory, &regs, &stack, intern, NULL, &end);
}

/*
 * Unwinds some times with a memory, and once without: all the same.  Each kind of leaf has its
 * memory: no pc is that of an instruction and of a byte before a return address.
 */
static void unwind_as(uint64_t *words, uint64_t pc, uint32_t called, struct unwind_memory *memory)
{
	static struct unwind_memory *empty;
	struct unwind_stack stack = {.low = (uint64_t)words, .high = (uint64_t)(words + WORDS)};
	struct unwind_regs regs = registers(words, pc);
	enum unwind_end first_end, end;
	uint32_t first;

	regs.known |= called;
	if (!empty)
		empty = new_memory();
	unwind_memory_reset(empty);
	first = unwind_stack_node(empty, &regs, &stack, intern, NULL, &first_end);
	for (int turn = 0; turn < 3; turn++) {
		/* A cut depends on where the one before was. */
		if (unwind_stack_node(memory, &regs, &stack, intern, NULL, &end) != first &&
		    end != UNWIND_TRUNCATED)
			abort();
		if (memory->depth > LIMIT)
			abort();
	}
}

static void unwind_known(uint64_t *words, uint64_t pc)
{
	static struct unwind_memory *interrupted, *called;

	if (!called) {
		interrupted = new_memory();
		called = new_memory();
	}
	unwind_as(words, pc, 0, interrupted);
	unwind_as(words, pc, UNWIND_CALLED, called);
}

/* From each address of the search table, with no rule known before. */
static void unwind_table(struct unwind_modules *modules, void (*unwind)(uint64_t *, uint64_t))
{
	static uint64_t words[WORDS];
	const uint8_t *header = modules->items[0].eh_frame_hdr;
	size_t size = modules->items[0].eh_frame_hdr_size;

	unwind_modules_publish(modules);
	for (size_t at = TABLE; at + ENTRY <= size && at < TABLE + ENTRIES * ENTRY; at += ENTRY) {
		int32_t location;

		memcpy(&location, header + at, sizeof(location));
		fill(words, (uint64_t)header + (uint64_t)(int64_t)location - (1 << 19), at);
		unwind(words, (uint64_t)header + (uint64_t)(int64_t)location);
		unwind(words, (uint64_t)header + (uint64_t)(int64_t)location + 21);
	}
	unwind_modules_publish(NULL);
}

/* The bytes at the end of a module full of zeros, an inaccessible page behind them. */
static void unwind_all(const uint8_t *data, size_t size)
{
	static uint8_t *room;
	static struct unwind_modules *modules;
	uint8_t *header;

	if (!room) {
		room = mmap(NULL, CODE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(room + CODE - 4096, 4096, PROT_NONE);
		modules = calloc(1, sizeof(*modules) + sizeof(struct unwind_module));
		modules->count = 1;
	}
	if (size > 1 << 20)
		return;
	header = room + CODE - 4096 - size;
	memcpy(header, data, size);
	modules->items[0] = (struct unwind_module){.start = (uint64_t)room,
						   .end = (uint64_t)(room + CODE - 4096),
						   .eh_frame_hdr = header,
						   .eh_frame_hdr_size = size,
						   .map_start = (uint64_t)header,
						   .map_end = (uint64_t)header + size};
	unwind_table(modules, unwind_known);
	unwind_table(modules, unwind_unknown);
	memset(header, 0, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t start = (uint64_t)data;
	struct unwind_module module = {
		.start = start - REACH,
		.end = start + REACH,
		.eh_frame_hdr = data,
		.eh_frame_hdr_size = size,
		.map_start = start,
		.map_end = start + size,
	};

	for (size_t at = TABLE; at + ENTRY <= size && at < TABLE + ENTRIES * ENTRY; at += ENTRY) {
		int32_t location;

		memcpy(&location, data + at, sizeof(location));
		ask(&module, start + (uint64_t)(int64_t)location);
		ask(&module, start + (uint64_t)(int64_t)location + 21);
	}
	ask(&module, start);
	unwind_all(data, size);
	return 0;
}
