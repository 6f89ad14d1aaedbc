/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_LAUNCH_ARCH_AARCH64_SIZES_H
#define HELIO_LAUNCH_ARCH_AARCH64_SIZES_H

enum {
	ARCH_RED_ZONE = 0,
	ARCH_VECTOR_NOTE = 2, /* NT_PRFPREG: what PTRACE_GETREGSET calls the vector state */
	ARCH_WAY_BACK = 16,   /* bytes of code */
	ARCH_RETURNED = 8,
	ARCH_SIGRETURN = 8,
	ARCH_MARKER = 4,
	ARCH_JUMP = 4,
	ARCH_FAR_JUMP = 16,
	ARCH_PATTERN_MAX = 16,
};

#endif
