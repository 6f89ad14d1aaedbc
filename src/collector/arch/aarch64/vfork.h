/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_AARCH64_VFORK_H
#define HELIO_COLLECTOR_ARCH_AARCH64_VFORK_H

#define ARCH_DEFINE_VFORK(before, next)                                                            \
	__asm__(".text\n"                                                                          \
		".globl vfork\n"                                                                   \
		".type vfork, %function\n"                                                         \
		"vfork:\n\t"                                                                       \
		".cfi_startproc\n\t"                                                               \
		"stp x29, x30, [sp, #-16]!\n\t"                                                    \
		".cfi_adjust_cfa_offset 16\n\t"                                                    \
		".cfi_rel_offset x29, 0\n\t"                                                       \
		".cfi_rel_offset x30, 8\n\t"                                                       \
		"bl " #before "\n\t"                                                               \
		"bl " #next "\n\t"                                                                 \
		"ldp x29, x30, [sp], #16\n\t"                                                      \
		".cfi_adjust_cfa_offset -16\n\t"                                                   \
		".cfi_restore x29\n\t"                                                             \
		".cfi_restore x30\n\t"                                                             \
		"br x0\n\t"                                                                        \
		".cfi_endproc\n"                                                                   \
		".size vfork, .-vfork\n");

#endif
