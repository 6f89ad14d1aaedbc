/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_X86_64_CREATE_H
#define HELIO_COLLECTOR_ARCH_X86_64_CREATE_H

/*
 * The function saves six registers and makes room; that instruction is replaced.  So it is left as
 * if it had just been called, and begun by doing the same here.  What rsp was before the room is
 * made is kept in rax, for who unwinds in between.
 */
#define ARCH_DEFINE_CREATE(entered, original, instead, data)                                       \
	__asm__(".text\n"                                                                          \
		".hidden " #entered "\n"                                                           \
		".globl " #entered "\n"                                                            \
		".type " #entered ", @function\n" #entered ":\n\t"                                 \
		".cfi_startproc\n\t"                                                               \
		".cfi_def_cfa_offset 56\n\t"                                                       \
		".cfi_offset %r15, -16\n\t"                                                        \
		".cfi_offset %r14, -24\n\t"                                                        \
		".cfi_offset %r13, -32\n\t"                                                        \
		".cfi_offset %r12, -40\n\t"                                                        \
		".cfi_offset %rbp, -48\n\t"                                                        \
		".cfi_offset %rbx, -56\n\t"                                                        \
		"add $48, %rsp\n\t" /* the registers are still what was saved */                   \
		".cfi_def_cfa_offset 8\n\t"                                                        \
		".cfi_same_value %r15\n\t"                                                         \
		".cfi_same_value %r14\n\t"                                                         \
		".cfi_same_value %r13\n\t"                                                         \
		".cfi_same_value %r12\n\t"                                                         \
		".cfi_same_value %rbp\n\t"                                                         \
		".cfi_same_value %rbx\n\t"                                                         \
		"jmp " #instead "\n\t"                                                             \
		".cfi_endproc\n"                                                                   \
		".size " #entered ", .-" #entered "\n"                                             \
		".hidden " #original "\n"                                                          \
		".globl " #original "\n"                                                           \
		".type " #original ", @function\n" #original ":\n\t"                               \
		".cfi_startproc\n\t"                                                               \
		"push %r15\n\t"                                                                    \
		".cfi_def_cfa_offset 16\n\t"                                                       \
		".cfi_offset %r15, -16\n\t"                                                        \
		"push %r14\n\t"                                                                    \
		".cfi_def_cfa_offset 24\n\t"                                                       \
		".cfi_offset %r14, -24\n\t"                                                        \
		"push %r13\n\t"                                                                    \
		".cfi_def_cfa_offset 32\n\t"                                                       \
		".cfi_offset %r13, -32\n\t"                                                        \
		"push %r12\n\t"                                                                    \
		".cfi_def_cfa_offset 40\n\t"                                                       \
		".cfi_offset %r12, -40\n\t"                                                        \
		"push %rbp\n\t"                                                                    \
		".cfi_def_cfa_offset 48\n\t"                                                       \
		".cfi_offset %rbp, -48\n\t"                                                        \
		"push %rbx\n\t"                                                                    \
		".cfi_def_cfa_offset 56\n\t"                                                       \
		".cfi_offset %rbx, -56\n\t"                                                        \
		"mov %rsp, %rax\n\t"                                                               \
		".cfi_def_cfa_register %rax\n\t"                                                   \
		"sub 8+" #data "(%rip), %rsp\n\t"                                                  \
		"jmp *" #data "(%rip)\n\t"                                                         \
		".cfi_endproc\n"                                                                   \
		".size " #original ", .-" #original "\n");

#endif
