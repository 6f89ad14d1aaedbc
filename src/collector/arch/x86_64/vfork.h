/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_X86_64_VFORK_H
#define HELIO_COLLECTOR_ARCH_X86_64_VFORK_H

#define ARCH_DEFINE_VFORK(before, next)                                                            \
	__asm__(".text\n"                                                                          \
		".globl vfork\n"                                                                   \
		".type vfork, @function\n"                                                         \
		"vfork:\n\t"                                                                       \
		".cfi_startproc\n\t"                                                               \
		"sub $8, %rsp\n\t"                                                                 \
		".cfi_adjust_cfa_offset 8\n\t"                                                     \
		"call " #before "\n\t"                                                             \
		"call " #next "\n\t"                                                               \
		"add $8, %rsp\n\t"                                                                 \
		".cfi_adjust_cfa_offset -8\n\t"                                                    \
		"jmp *%rax\n\t"                                                                    \
		".cfi_endproc\n"                                                                   \
		".size vfork, .-vfork\n");

#endif
