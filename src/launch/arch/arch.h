/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a processor must provide for the injection of a library into a process: its registers, the
 * kernel's signal frame (held_put_frame and held_frame_room of attach_thread.h), and code.  The
 * build takes the directory of its own processor.
 */
#ifndef HELIO_LAUNCH_ARCH_H
#define HELIO_LAUNCH_ARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#if defined(__x86_64__)
#include "launch/arch/x86_64/sizes.h"
#elif defined(__aarch64__)
#include "launch/arch/aarch64/sizes.h"
#else
#error "no directory of src/launch/arch is this processor's"
#endif

/* ---- registers of a stopped thread ---- */

bool arch_read_registers(pid_t tid, struct user_regs_struct *registers);
bool arch_write_registers(pid_t tid, const struct user_regs_struct *registers);

uint64_t arch_pc(const struct user_regs_struct *registers);
uint64_t arch_sp(const struct user_regs_struct *registers);
uint64_t arch_thread_pointer(const struct user_regs_struct *registers);
/* Of a function or a system call. */
uint64_t arch_first_argument(const struct user_regs_struct *registers);
long arch_result(const struct user_regs_struct *registers);

/* The number of the system call that the thread is in; negative: it is in none. */
long arch_call(const struct user_regs_struct *registers);
/* At a stop of a system call: it is that of its begin. */
bool arch_call_begins(const struct user_regs_struct *registers);
/* A thread in a system call is put back onto its instruction. */
void arch_begin_again(struct user_regs_struct *registers);

/* The thread calls `function`, which returns to the address in `frame`. */
void arch_set_call(struct user_regs_struct *registers, uint64_t frame, uint64_t function,
		   const uint64_t arguments[6]);
/* The thread is about to execute `code`, which takes the signal frame in `frame` back. */
void arch_set_return(struct user_regs_struct *registers, uint64_t frame, uint64_t code);

/* ---- code ---- */

/*
 * Where a function called by us returns to: getpid with the result as its argument, which tells us
 * of it, behind that call ARCH_RETURNED bytes on, and rt_sigreturn.
 */
extern const uint8_t arch_way_back[ARCH_WAY_BACK];
/* rt_sigreturn, as the C library has it. */
extern const uint8_t arch_sigreturn[ARCH_SIGRETURN];
/* What functions may begin with that are called indirectly. */
extern const uint8_t arch_marker[ARCH_MARKER];

/* Functions of the C library that are made to jump to ours. */
enum { ARCH_HOOKS = 4 };
struct arch_hook {
	const char *name;
	size_t size;
	uint8_t code[ARCH_PATTERN_MAX]; /* how it begins; exec's up to the system call */
	bool optional;
	/*
	 * Above 0: not the first instruction becomes the jump but one that makes room on the stack,
	 * the last of `code`, so many bytes on.  How much room is the operand behind `code`.
	 */
	size_t skipped;
};
extern const struct arch_hook arch_hooks[ARCH_HOOKS];

/* A thread between the begin of such a function, at `place`, and its system call, or in one that
 * the kernel would begin again, is put back to the begin. */
void arch_enter_hook(struct user_regs_struct *registers, uint64_t place,
		     const struct arch_hook *hook);

void arch_make_jump(uint8_t code[ARCH_JUMP], uint64_t from, uint64_t to);
/* To anywhere. */
void arch_make_far_jump(uint8_t code[ARCH_FAR_JUMP], uint64_t to);
/* Whether a jump reaches. */
bool arch_is_near(uint64_t from, uint64_t to);
/* From *at to where a jump there leads; false: it is none. */
bool arch_jump_target(const uint8_t code[ARCH_JUMP], uint64_t *at);

#endif
