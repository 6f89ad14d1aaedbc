/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room on stacks.  An alternate signal stack may have 8 KiB, of which the kernel's frame takes up
 * to a half, and a handler of the program there knows only what it needs itself.  What needs more
 * in our handlers, or at the end of a recording (_exit in a handler), runs on a stack of ours.
 */
#include "collector/core/handler_stack.h"

#include "collector/arch/sys.h"
#include "collector/arch/thread.h"
#include "collector/storage/recording.h"
#include "collector/unwind/unwind.h"

#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/resource.h>

static bool is_on_small_stack(void)
{
	enum { ENOUGH = 32 * 1024 };
	stack_t stack;
	uint64_t here = (uint64_t)__builtin_frame_address(0);

	return !sys_call(SYS_sigaltstack, 0, &stack, 0, 0) && stack.ss_flags & SS_ONSTACK &&
	       here - (uint64_t)stack.ss_sp < ENOUGH;
}

/*
 * No signal meanwhile that is handled on the alternate stack: the kernel would take that for free,
 * from its top.
 */
void run_on_stack(char *top, void (*work)(void *), void *arg)
{
	uint64_t mask = sys_block_signals_but(collector.faults_here);

	arch_call_on_stack(top, work, arg);
	sys_restore_signals(mask);
}

void run_with_room(void (*work)(void *))
{
	static char stack[64 * 1024] __attribute__((aligned(16)));

	if (is_on_small_stack())
		run_on_stack(stack + sizeof(stack), work, NULL);
	else
		work(NULL);
}

bool room_is_at_end_of_first_stack(void)
{
	enum { ENOUGH = 16 * 1024 };
	uint64_t here = (uint64_t)__builtin_frame_address(0);

	return here - (collector.main_stack_low - UNWIND_STACK_SLACK) < ENOUGH;
}

void room_find_stacks(void)
{
	enum { LARGEST = 1 << 30, SLACK = UNWIND_STACK_SLACK };
	struct rlimit limit = {.rlim_cur = 8 << 20};
	pthread_attr_t attributes;
	size_t size = 0;

	sys_call(SYS_prlimit64, 0, RLIMIT_STACK, 0, &limit);
	if (limit.rlim_cur > LARGEST)
		limit.rlim_cur = LARGEST;
	if (limit.rlim_cur <
	    SLACK) /* set lower than what is in use: nothing is read without care */
		limit.rlim_cur = SLACK;
	/* The kernel puts the program's name above everything that a frame can hold. */
	collector.main_stack_high = getauxval(AT_EXECFN) & ~(uint64_t)7;
	collector.main_stack_low = collector.main_stack_high - limit.rlim_cur + SLACK;
	if (!pthread_attr_init(&attributes)) {
		pthread_attr_getstacksize(&attributes, &size);
		pthread_attr_destroy(&attributes);
	}
	collector.default_stack_size = size;
}
