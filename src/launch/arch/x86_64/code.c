/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/arch/arch.h"

#include <string.h>

/*
 * mov %rax,%rdi; mov $SYS_getpid,%eax; syscall; mov $SYS_rt_sigreturn,%eax; syscall.  The first
 * call tells us the result of a function, the second is the way back.
 */
const uint8_t arch_way_back[ARCH_WAY_BACK] = {0x48, 0x89, 0xc7, 0xb8, 0x27, 0, 0,    0,	  0x0f,
					      0x05, 0xb8, 0x0f, 0,    0,    0, 0x0f, 0x05};

const uint8_t arch_sigreturn[ARCH_SIGRETURN] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

const uint8_t arch_marker[ARCH_MARKER] = {0xf3, 0x0f, 0x1e, 0xfa};

const struct arch_hook arch_hooks[ARCH_HOOKS] = {
	{"execve", 7, {0xb8, 0x3b, 0, 0, 0, 0x0f, 0x05}, false, 0},
	{"execveat", 10, {0x49, 0x89, 0xca, 0xb8, 0x42, 0x01, 0, 0, 0x0f, 0x05}, false, 0},
	{"pthread_sigmask", 7, {0x48, 0x81, 0xec, 0x98, 0, 0, 0}, true, 0},
	/* six registers saved, and sub $…,%rsp: see arch/x86_64/create.h of the collector */
	{"pthread_create",
	 13,
	 {0x41, 0x57, 0x41, 0x56, 0x41, 0x55, 0x41, 0x54, 0x55, 0x53, 0x48, 0x81, 0xec},
	 true,
	 10},
};

void arch_make_jump(uint8_t code[ARCH_JUMP], uint64_t from, uint64_t to)
{
	int32_t distance = (int32_t)(to - from - ARCH_JUMP);

	code[0] = 0xe9;
	memcpy(code + 1, &distance, sizeof(distance));
}

/* jmp *0(%rip), and the address behind it */
void arch_make_far_jump(uint8_t code[ARCH_FAR_JUMP], uint64_t to)
{
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};

	memcpy(code, jump, sizeof(jump));
	memcpy(code + sizeof(jump), &to, sizeof(to));
}

bool arch_is_near(uint64_t from, uint64_t to)
{
	int64_t distance = (int64_t)(to - from - ARCH_JUMP);

	return distance == (int32_t)distance;
}

bool arch_jump_target(const uint8_t code[ARCH_JUMP], uint64_t *at)
{
	int32_t distance;

	if (code[0] != 0xe9)
		return false;
	memcpy(&distance, code + 1, sizeof(distance));
	*at += ARCH_JUMP + (uint64_t)(int64_t)distance;
	return true;
}
