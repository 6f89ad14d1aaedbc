/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/call.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <sys/syscall.h>

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

/* True for the operations of futex(2) that wait. */
static bool futex_waits(uint64_t operation)
{
	switch (operation & (uint64_t)FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI:
		return true;
	default:
		return false;
	}
}

/* mov %REGISTER,%eax right in front of the instruction: of a compiler that keeps the number. */
static long number_in_register(const uint8_t *code, uint64_t room, const uint64_t *registers)
{
	static const uint8_t number[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
	enum { LIMIT = 4096 };

	if (room < 2 || code[-2] != 0x89 || (code[-1] & 0xc7) != 0xc0)
		return -1;
	unsigned high = room >= 3 && (code[-3] & 0xf7) == 0x44 ? 8 : 0; /* REX.R */
	unsigned from = number[(code[-1] >> 3 & 7) | high];

	return registers[from] < LIMIT ? (long)registers[from] : -1;
}

long call_number(uint64_t site, const uint64_t *registers)
{
	enum { FAR = 40, SI = 4, DI = 5 };
	const uint8_t *code = (const uint8_t *)site;
	uint64_t room = site & 0xfff, first = registers[DI], second = registers[SI];
	long number = number_in_register(code, room, registers);

	if (number >= 0)
		return number;
	if (room >= 2 && code[-2] == 0x31 && code[-1] == 0xc0) /* xor %eax,%eax */
		return 0;
	for (uint64_t back = 3; back <= FAR && back <= room; back++) {
		const uint8_t *at = code - back;

		if (back >= 5 && at[0] == 0xb8 && at[3] == 0 && at[4] == 0) /* mov $number,%eax */
			return at[1] | at[2] << 8;
		if (at[0] == 0x48 && at[1] == 0x89 && at[2] == 0xf8) { /* mov %rdi,%rax */
			bool futex = !(first & 3) && first > 4096 && second < 1024 &&
				     futex_waits(second);

			return futex ? SYS_futex : -1;
		}
	}
	return -1;
}
