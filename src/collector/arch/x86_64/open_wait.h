/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_X86_64_OPEN_WAIT_H
#define HELIO_COLLECTOR_ARCH_X86_64_OPEN_WAIT_H

static inline void arch_wait_open(struct open_wait *wait, const uint64_t *open, uint64_t *closed)
{
	__asm__ volatile("lea 1f(%%rip), %%rax\n\t"
			 "mov %%rax, %c[begin](%[wait])\n\t"
			 "lea 2f(%%rip), %%rax\n\t"
			 "mov %%rax, %c[behind](%[wait])\n\t"
			 "lea 3f(%%rip), %%rax\n\t"
			 "mov %%rax, %c[end](%[wait])\n"
			 "1:\n\t"
			 "mov %[sigprocmask], %%eax\n\t"
			 "mov %[setmask], %%edi\n\t"
			 "mov %[open], %%rsi\n\t"
			 "mov %[closed], %%rdx\n\t"
			 "mov $8, %%r10d\n\t"
			 "syscall\n\t"
			 "mov %[restart], %%eax\n\t"
			 "syscall\n"
			 "2:\n\t"
			 "mov %%rax, %c[result](%[wait])\n\t"
			 "mov %[sigprocmask], %%eax\n\t"
			 "mov %[setmask], %%edi\n\t"
			 "mov %[closed], %%rsi\n\t"
			 "xor %%edx, %%edx\n\t"
			 "mov $8, %%r10d\n\t"
			 "syscall\n"
			 "3:"
			 :
			 : [wait] "r"(wait), [open] "r"(open), [closed] "r"(closed),
			   [begin] "i"(offsetof(struct open_wait, begin)),
			   [behind] "i"(offsetof(struct open_wait, behind)),
			   [end] "i"(offsetof(struct open_wait, end)),
			   [result] "i"(offsetof(struct open_wait, result)),
			   [sigprocmask] "i"(SYS_rt_sigprocmask), [setmask] "i"(SIG_SETMASK),
			   [restart] "i"(SYS_restart_syscall)
			 : "rax", "rcx", "rdx", "rdi", "rsi", "r8", "r9", "r10", "r11", "cc",
			   "memory");
}

#endif
