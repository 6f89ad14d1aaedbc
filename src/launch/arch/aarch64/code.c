/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/arch/arch.h"

#include <string.h>

/* mov x8,#SYS_getpid; svc #0 (the result is the first argument); mov x8,#SYS_rt_sigreturn; svc #0
 */
const uint8_t arch_way_back[ARCH_WAY_BACK] = {0x88, 0x15, 0x80, 0xd2, 0x01, 0, 0, 0xd4,
					      0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};

/* The kernel's own: in the vDSO, as the C library has none. */
const uint8_t arch_sigreturn[ARCH_SIGRETURN] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};

/* bti c */
const uint8_t arch_marker[ARCH_MARKER] = {0x5f, 0x24, 0x03, 0xd5};

enum { REACH = 1 << 27 };

void arch_make_jump(uint8_t code[ARCH_JUMP], uint64_t from, uint64_t to)
{
	uint32_t word = 0x14000000 | ((uint32_t)((to - from) >> 2) & 0x3ffffff);

	memcpy(code, &word, sizeof(word));
}

/* ldr x16,8; br x16, and the address behind them */
void arch_make_far_jump(uint8_t code[ARCH_FAR_JUMP], uint64_t to)
{
	static const uint8_t jump[] = {0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6};

	memcpy(code, jump, sizeof(jump));
	memcpy(code + sizeof(jump), &to, sizeof(to));
}

bool arch_is_near(uint64_t from, uint64_t to)
{
	int64_t distance = (int64_t)(to - from);

	return distance >= -REACH && distance < REACH;
}

bool arch_jump_target(const uint8_t code[ARCH_JUMP], uint64_t *at)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	if (word >> 26 != 5)
		return false;
	*at += (uint64_t)((int64_t)((uint64_t)word << 38) >> 36);
	return true;
}

#error "AArch64: how the functions of the C library begin that are hooked is not written yet"
