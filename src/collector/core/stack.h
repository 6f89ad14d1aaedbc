/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks as nodes; the caller holds the thread's lock. */
#ifndef HELIO_COLLECTOR_STACK_H
#define HELIO_COLLECTOR_STACK_H

#include "collector/unwind/unwind.h"

#include <stdbool.h>
#include <stdint.h>

struct thread;

/*
 * What a runtime knows beside the stack of the calling thread, whose registers these are, or NULL:
 * of another thread: the node of the pair (FORMAT_PC_PAIR), or `stack`.  In a handler.
 */
typedef uint32_t stack_pair_function(struct thread *thread, const struct unwind_regs *regs,
				     uint32_t stack);
void stack_set_runtime(stack_pair_function *runtime); /* NULL: none does from now on */
/* The registers of an interruption, at the place where the time before it was spent. */
void stack_interrupted(struct unwind_regs *regs, const void *context);
/* Of the registers at an interruption of the calling thread. */
uint32_t stack_of_context(struct thread *thread, const struct unwind_regs *regs);
/* Of the caller, our own frames left out. */
uint32_t stack_of_caller(struct thread *thread);
/* Of the caller of the function whose __builtin_frame_address(0) this is: none of our own frames
 * has to be walked. */
uint32_t stack_above_frame(struct thread *thread, const void *frame);
/* The registers that calls preserve, in the frame of the calling thread that has this sp. */
bool stack_preserved(struct thread *thread, uint64_t sp, struct unwind_regs *found);
/* Of another thread, blocked in a system call. */
uint32_t stack_of_blocked(struct thread *thread, uint64_t pc, uint64_t sp);

#endif
