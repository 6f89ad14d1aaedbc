/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/arch/arch.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>

bool arch_read_registers(pid_t tid, struct user_regs_struct *registers)
{
	return !ptrace(PTRACE_GETREGS, tid, NULL, registers);
}

bool arch_write_registers(pid_t tid, const struct user_regs_struct *registers)
{
	return !ptrace(PTRACE_SETREGS, tid, NULL, registers);
}

uint64_t arch_pc(const struct user_regs_struct *registers)
{
	return registers->rip;
}

uint64_t arch_sp(const struct user_regs_struct *registers)
{
	return registers->rsp;
}

uint64_t arch_thread_pointer(const struct user_regs_struct *registers)
{
	return registers->fs_base;
}

uint64_t arch_first_argument(const struct user_regs_struct *registers)
{
	return registers->rdi;
}

long arch_result(const struct user_regs_struct *registers)
{
	return (long)registers->rax;
}

long arch_call(const struct user_regs_struct *registers)
{
	return (long)registers->orig_rax;
}

/* It has a result already. */
bool arch_call_begins(const struct user_regs_struct *registers)
{
	return arch_result(registers) == -ENOSYS;
}

void arch_begin_again(struct user_regs_struct *registers)
{
	registers->rip -= 2; /* the instruction itself */
	registers->rax = registers->orig_rax;
	registers->orig_rax = (uint64_t)-1;
}

void arch_set_call(struct user_regs_struct *registers, uint64_t frame, uint64_t function,
		   const uint64_t arguments[6])
{
	registers->rsp = frame;
	registers->rip = function;
	registers->rdi = arguments[0];
	registers->rsi = arguments[1];
	registers->rdx = arguments[2];
	registers->rcx = arguments[3];
	registers->r8 = arguments[4];
	registers->r9 = arguments[5];
	registers->rax = 0;
	registers->rbp = 0;
	registers->orig_rax = (uint64_t)-1;
	registers->eflags &= ~(uint64_t)0x400; /* the direction flag, as the ABI has it */
}

void arch_set_return(struct user_regs_struct *registers, uint64_t frame, uint64_t code)
{
	registers->rip = code;
	registers->rsp = frame + sizeof(uint64_t);
	registers->orig_rax = (uint64_t)-1;
}

/* Of a system call that is to begin again; it is no errno that a program sees. */
enum { RESTARTNOINTR = 513 };

void arch_enter_hook(struct user_regs_struct *registers, uint64_t place,
		     const struct arch_hook *hook)
{
	uint64_t end = place + hook->size;

	if (registers->rip == end && arch_call(registers) >= 0 &&
	    arch_result(registers) == -RESTARTNOINTR)
		arch_begin_again(registers);
	if (registers->rip <= place || registers->rip >= end)
		return;
	registers->rip = place;
	/* The system call has its fourth argument there, and the instruction overwrites the other.
	 */
	registers->rcx = registers->r10;
}
