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

long call_number(uint64_t site, uint64_t first, uint64_t second)
{
	enum { FAR = 40 };
	const uint8_t *code = (const uint8_t *)site;
	uint64_t room = site & 0xfff;

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
