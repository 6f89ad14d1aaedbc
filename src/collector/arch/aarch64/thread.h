/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HELIO_COLLECTOR_ARCH_AARCH64_THREAD_H
#define HELIO_COLLECTOR_ARCH_AARCH64_THREAD_H

/* What a call may change, but for the registers that carry arguments here. */
#define ARCH_CALL_CHANGES                                                                          \
	"x2", "x3", "x4", "x5", "x6", "x7", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", \
		"x17", "x30", "memory", "cc"

static inline long arch_clone_onto(long flags, void *stack_top, _Atomic int32_t *tid,
				   void (*run)(void))
{
	register long x8 __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = flags;
	register void *x1 __asm__("x1") = stack_top;
	register _Atomic int32_t *x2 __asm__("x2") = tid;
	register void (*start)(void) __asm__("x20") = run; /* not x29, which ends call stacks */

	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, #0\n\t"
			 "mov x30, #0\n\t"
			 "blr %[run]\n\t"
			 "brk #0\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), [run] "r"(start)
			 : "x30", "memory", "cc");
	return x0;
}

static inline _Noreturn void arch_exit_thread(_Atomic unsigned *flag, long status)
{
	register long x8 __asm__("x8") = SYS_exit;
	register long x0 __asm__("x0") = status;

	__asm__ volatile("stlr wzr, [%[flag]]\n\t"
			 "svc #0\n\t"
			 "brk #0"
			 :
			 : [flag] "r"(flag), "r"(x8), "r"(x0)
			 : "memory");
	__builtin_unreachable();
}

static inline void arch_call_on_stack(char *top, void (*work)(void *), void *argument)
{
	register void *x0 __asm__("x0") = argument;
	register void (*function)(void *) __asm__("x8") = work;
	register char *stack __asm__("x1") = top;

	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, %[top]\n\t"
			 "blr %[work]\n\t"
			 "mov sp, x19"
			 : "+r"(x0), [top] "+r"(stack), [work] "+r"(function)
			 :
			 : "x18", "x19", ARCH_CALL_CHANGES);
}

#endif
