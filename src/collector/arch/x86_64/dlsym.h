/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_X86_64_DLSYM_H
#define HELIO_COLLECTOR_ARCH_X86_64_DLSYM_H

/* clang-format off */
#define ARCH_DEFINE_DLSYM(before, next)                                                            \
	__asm__(".text\n"                                                                          \
		".globl dlsym\n"                                                                   \
		".type dlsym, @function\n"                                                         \
		"dlsym:\n\t"                                                                       \
		".cfi_startproc\n\t"                                                               \
		"push %rdi\n\t"                                                                    \
		"push %rsi\n\t"                                                                    \
		"sub $8, %rsp\n\t"                                                                 \
		".cfi_adjust_cfa_offset 24\n\t"                                                    \
		"call " #before "\n\t"                                                             \
		"test %rax, %rax\n\t"                                                              \
		"jnz 1f\n\t"                                                                       \
		"call " #next "\n"                                                                 \
		"1:\n\t"                                                                           \
		"add $8, %rsp\n\t"                                                                 \
		"pop %rsi\n\t"                                                                     \
		"pop %rdi\n\t"                                                                     \
		".cfi_adjust_cfa_offset -24\n\t"                                                   \
		"jmp *%rax\n\t"                                                                    \
		".cfi_endproc\n"                                                                   \
		".size dlsym, .-dlsym\n");
/* clang-format on */

#endif
