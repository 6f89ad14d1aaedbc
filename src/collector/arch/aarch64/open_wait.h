/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_AARCH64_OPEN_WAIT_H
#define HELIO_COLLECTOR_ARCH_AARCH64_OPEN_WAIT_H

static inline void arch_wait_open(struct open_wait *wait, const uint64_t *open, uint64_t *closed)
{
	__asm__ volatile("adr x0, 1f\n\t"
			 "str x0, [%[wait], %[begin]]\n\t"
			 "adr x0, 2f\n\t"
			 "str x0, [%[wait], %[behind]]\n\t"
			 "adr x0, 3f\n\t"
			 "str x0, [%[wait], %[end]]\n"
			 "1:\n\t"
			 "mov x8, %[sigprocmask]\n\t"
			 "mov x0, %[setmask]\n\t"
			 "mov x1, %[open]\n\t"
			 "mov x2, %[closed]\n\t"
			 "mov x3, #8\n\t"
			 "svc #0\n\t"
			 "mov x8, %[restart]\n\t"
			 "svc #0\n"
			 "2:\n\t"
			 "str x0, [%[wait], %[result]]\n\t"
			 "mov x8, %[sigprocmask]\n\t"
			 "mov x0, %[setmask]\n\t"
			 "mov x1, %[closed]\n\t"
			 "mov x2, #0\n\t"
			 "mov x3, #8\n\t"
			 "svc #0\n"
			 "3:"
			 :
			 : [wait] "r"(wait), [open] "r"(open), [closed] "r"(closed),
			   [begin] "i"(offsetof(struct open_wait, begin)),
			   [behind] "i"(offsetof(struct open_wait, behind)),
			   [end] "i"(offsetof(struct open_wait, end)),
			   [result] "i"(offsetof(struct open_wait, result)),
			   [sigprocmask] "i"(SYS_rt_sigprocmask), [setmask] "i"(SIG_SETMASK),
			   [restart] "i"(SYS_restart_syscall)
			 : "x0", "x1", "x2", "x3", "x8", "cc", "memory");
}

#endif
