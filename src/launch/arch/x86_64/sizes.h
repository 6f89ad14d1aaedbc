/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_LAUNCH_ARCH_X86_64_SIZES_H
#define HELIO_LAUNCH_ARCH_X86_64_SIZES_H

enum {
	ARCH_RED_ZONE = 128,
	ARCH_VECTOR_NOTE = 0x202, /* NT_X86_XSTATE: what PTRACE_GETREGSET calls the vector state */
	ARCH_WAY_BACK = 17,	  /* bytes of code */
	ARCH_RETURNED = 10,
	ARCH_SIGRETURN = 9,
	ARCH_MARKER = 4,
	ARCH_JUMP = 5,
	ARCH_FAR_JUMP = 14,
	ARCH_PATTERN_MAX = 13,
};

#endif
