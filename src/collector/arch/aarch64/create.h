/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_AARCH64_CREATE_H
#define HELIO_COLLECTOR_ARCH_AARCH64_CREATE_H

/* What pthread_create begins with is not written yet (launch/arch/aarch64/code.c): never reached.
 */
#define ARCH_DEFINE_CREATE(entered, original, instead, data)                                       \
	__asm__(".text\n"                                                                          \
		".hidden " #entered "\n"                                                           \
		".globl " #entered "\n"                                                            \
		".type " #entered ", %function\n" #entered ":\n\t"                                 \
		"brk #0\n"                                                                         \
		".size " #entered ", .-" #entered "\n"                                             \
		".hidden " #original "\n"                                                          \
		".globl " #original "\n"                                                           \
		".type " #original ", %function\n" #original ":\n\t"                               \
		"brk #0\n"                                                                         \
		".size " #original ", .-" #original "\n");

#endif
