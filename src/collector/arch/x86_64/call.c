/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/arch/call.h"

#include "collector/arch/sys.h"
#include "collector/arch/x86_64/effect.h"

#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

enum { PAGE = 4096, CALL_LIMIT = 4096 };

static bool bytes_are_syscall(uint64_t pc)
{
	const uint8_t *code = (const uint8_t *)pc;

	return code[0] == 0x0f && code[1] == 0x05;
}

uint64_t call_site(uint64_t pc, uint64_t after)
{
	if (after == pc && (pc & 0xfff) >= 2 && bytes_are_syscall(pc - 2))
		return pc - 2;
	if (after == pc + 2 && (pc & 0xfff) <= 0xffe && bytes_are_syscall(pc))
		return pc;
	return 0;
}

/*
 * The instructions in front of a place, found from behind.  Decoding from any byte meets the true
 * boundaries after a few instructions, so of those that lead to the place most bytes
 * lead to the true one.
 */
struct path {
	const uint8_t *code;
	uint8_t next[CALL_CODE];  /* where the instruction at this byte ends; 0: nowhere */
	uint8_t votes[CALL_CODE]; /* bytes that lead here */
	unsigned int size;
};

static void path_find(struct path *path, const uint8_t *code, unsigned int size)
{
	struct decoded decoded;

	path->code = code;
	path->size = size;
	for (unsigned int i = 0; i < size; i++)
		path->votes[i] = 1;
	for (unsigned int i = 0; i < size; i++) {
		bool is = decode(code + i, code + size, &decoded);

		path->next[i] = is ? (uint8_t)(i + decoded.length) : 0;
		if (is && path->next[i] < size)
			path->votes[path->next[i]] += path->votes[i];
	}
}

/* Where the instruction in front of `at` begins, or -1. */
static int path_before(const struct path *path, unsigned int at)
{
	int best = -1;

	for (unsigned int i = 0; i < at; i++)
		if (path->next[i] == at && (best < 0 || path->votes[i] > path->votes[best]))
			best = (int)i;
	return best;
}

/* In syscall(3), which has moved the number out of the first argument. */
static long number_by_arguments(const uint64_t *registers)
{
	enum { SI = 4, DI = 5 };
	uint64_t first = registers[DI], second = registers[SI];
	bool futex = !(first & 3) && first > PAGE && second < 1024 && sys_futex_waits((long)second);

	return futex ? SYS_futex : -1;
}

/* What the register holds whose value went to rax; `changed`: registers that have changed since. */
static long number_in_register(unsigned int from, uint16_t changed, const uint64_t *registers)
{
	static const uint8_t dwarf[EFFECT_REGISTERS] = {0, 2, 1,  3,  7,  6,  4,  5,
							8, 9, 10, 11, 12, 13, 14, 15};
	enum { CX = 1, DI = 7, R11 = 11 };

	if (changed & 1 << from)
		return from == DI ? number_by_arguments(registers) : -1;
	if (from == EFFECT_AX || from == CX || from == R11) /* the kernel overwrites them */
		return -1;
	return registers[dwarf[from]] < CALL_LIMIT ? (long)registers[dwarf[from]] : -1;
}

/* pop %rax: the number was pushed just before. */
static long number_pushed(const struct path *path, unsigned int at)
{
	int push = path_before(path, at);
	struct decoded decoded;

	if (push < 0 || !decode(path->code + push, path->code + at, &decoded) || decoded.map)
		return -1;
	return (decoded.opcode == 0x6a || decoded.opcode == 0x68) && decoded.immediate >= 0
		       ? decoded.immediate
		       : -1;
}

long call_number_in(const uint8_t *code, unsigned int size, const uint64_t *registers)
{
	struct path path;
	struct decoded decoded;
	uint16_t changed = 0;
	int at;

	if (size > CALL_CODE) {
		code += size - CALL_CODE;
		size = CALL_CODE;
	}
	path_find(&path, code, size);
	for (unsigned int end = size; (at = path_before(&path, end)) >= 0; end = (unsigned int)at) {
		decode(code + at, code + end, &decoded);
		struct effect effect = decoded_effect(&decoded);

		if (!(effect.writes & 1 << EFFECT_AX)) {
			changed |= effect.writes;
			continue;
		}
		if (effect.kind == EFFECT_NUMBER)
			return effect.number >= 0 && effect.number < CALL_LIMIT ? effect.number
										: -1;
		if (effect.kind == EFFECT_COPY)
			return number_in_register(effect.from, changed, registers);
		return !decoded.map && decoded.opcode == 0x58
			       ? number_pushed(&path, (unsigned int)at)
			       : -1;
	}
	return -1;
}

/* mov $number,%eax right in front of it, as nearly always: as call_number_in would tell. */
static long number_in_front(const uint8_t *code, uint64_t room)
{
	enum { MOV_EAX = 0xb8 };

	if (room < 6 || code[-5] != MOV_EAX || code[-2] || code[-1] || (code[-6] & 0xf0) == 0x40)
		return -1;
	return code[-4] | code[-3] << 8;
}

long call_number(uint64_t site, const uint64_t *registers)
{
	uint64_t room = site % PAGE;
	uint8_t copy[CALL_CODE];
	long number = number_in_front((const uint8_t *)site, room);

	if (number >= 0)
		return number;
	if (room >= CALL_CODE)
		return call_number_in((const uint8_t *)site - CALL_CODE, CALL_CODE, registers);
	if (sys_read_memory(site - CALL_CODE, copy, CALL_CODE) == CALL_CODE)
		return call_number_in(copy, CALL_CODE, registers);
	return call_number_in((const uint8_t *)site - room, (unsigned int)room, registers);
}

long call_restarted(uint64_t pc, const uint64_t *arguments)
{
	static const uint8_t dwarf[CALL_ARGUMENTS] = {5, 4, 1, 10, 8, 9};
	enum { REGISTERS = 17, SYSCALL = 2 };
	uint64_t registers[REGISTERS], site = pc - SYSCALL;
	uint64_t size = site % PAGE < CALL_CODE ? site % PAGE : CALL_CODE;
	uint8_t copy[CALL_CODE];

	memset(registers, 0xff, sizeof(registers)); /* no number of a call */
	for (int i = 0; i < CALL_ARGUMENTS; i++)
		registers[dwarf[i]] = arguments[i];
	if (sys_read_memory(site - CALL_CODE, copy, CALL_CODE) == CALL_CODE)
		return call_number_in(copy, CALL_CODE, registers);
	if (sys_read_memory(site - size, copy, size) != size)
		return -1;
	return call_number_in(copy, (unsigned int)size, registers);
}

bool call_accesses_memory(uint64_t pc)
{
	enum { LONGEST = 15 };
	uint8_t copy[LONGEST];
	struct decoded decoded;
	size_t got = sys_read_memory(pc, copy, sizeof(copy));

	return decode(copy, copy + got, &decoded) && decoded_accesses(&decoded);
}
