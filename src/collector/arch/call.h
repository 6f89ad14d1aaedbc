/* SPDX-License-Identifier: Apache-2.0 */
/* System calls, as the registers of an interrupted thread show them. */
#ifndef HELIO_COLLECTOR_CALL_H
#define HELIO_COLLECTOR_CALL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Address of the system-call instruction that a thread is in or just left, or
 * 0.  The kernel leaves the return address in rcx (`after`); a call that will be
 * restarted has its pc set back onto the instruction.
 */
uint64_t call_site(uint64_t pc, uint64_t after);

/*
 * The number of the system call at `site`, or -1.  It is gone from rax, so look
 * for the instruction that put it there, a constant or another register, which still
 * holds it; in syscall(3), which takes the number as an argument, only a futex can be
 * told, by the first two arguments (rdi, rsi).  Registers by their numbers in DWARF.
 */
long call_number(uint64_t site, const uint64_t *registers);

/* The same for code that ends with `size` bytes in front of the instruction. */
enum { CALL_CODE = 64 }; /* more are not looked at */
long call_number_in(const uint8_t *code, unsigned int size, const uint64_t *registers);

/*
 * The call that restart_syscall goes on with in a thread that waits, or -1.  /proc shows it no
 * longer, but its arguments (rdi, rsi, rdx, r10, r8, r9), and where it returns to.
 */
enum { CALL_ARGUMENTS = 6 };
long call_restarted(uint64_t pc, const uint64_t *arguments);

/* Whether the instruction at `pc`, which is about to be executed, uses memory. */
bool call_accesses_memory(uint64_t pc);

#endif
