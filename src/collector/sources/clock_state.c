/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/clock_state.h"

#include "collector/arch/call.h"
#include "collector/core/clock_look.h"
#include "collector/core/thread_state.h"
#include "collector/storage/recording.h"

enum { NS_PER_US = 1000 };

/* DWARF register numbers of x86-64. */
enum { REG_CX = 2, REG_PC = 16 };

static uint64_t syscall_site(const struct unwind_regs *regs)
{
	return call_site(regs->reg[REG_PC], regs->reg[REG_CX]);
}

/*
 * A wait outside system calls: for a page, or stopped (SIGSTOP, ptrace).  A minor fault may
 * have been long before; for a page waits only an instruction that uses memory.
 */
enum format_state clock_wait_state(const struct clock_account *clock,
				   const struct unwind_regs *regs)
{
	uint64_t site = syscall_site(regs);

	if (site)
		return clock_call_state(call_number(site, regs->reg));
	if (clock->major_since)
		return FORMAT_STATE_DATA_FAULT;
	if (clock->minor_since && call_accesses_memory(regs->reg[REG_PC]))
		return FORMAT_STATE_DATA_FAULT;
	return FORMAT_STATE_STOPPED;
}

/*
 * User or system?  With the perf engine a tick is delivered on the way back to
 * user mode, so a thread that was in a system call stands right behind its
 * instruction.  A tick within a page fault stands on an ordinary one: if there
 * were faults, the kernel's own count of the thread's system time decides.
 * A signal that the monitor sends may come long after its moment: there the count must agree
 * always.
 */
enum format_state clock_cpu_state(struct thread *thread, const struct unwind_regs *regs)
{
	struct clock_account *clock = &thread->clock;
	uint64_t faults = clock->last.minor_faults + clock->last.major_faults;
	bool looked = clock->last.usage_ns == clock->last.now_ns;
	bool faulted = looked ? faults != clock->tick_faults : clock->faulted;
	bool called = syscall_site(regs);
	int64_t open_us = (int64_t)(clock->last.system_us - clock->system_done_us);
	int64_t weight_us = clock->cpu_pending_ns / NS_PER_US;
	bool counted = open_us * 2 > weight_us;
	bool exact = collector.engine == ENGINE_PERF || thread->timer;
	bool system = exact ? called || (faulted && counted) : (called || faulted) && counted;

	clock->tick_faults = faults;
	clock->faulted = faulted;
	if (system)
		clock->system_done_us += (uint64_t)(weight_us > 0 ? weight_us : 0);
	return system ? FORMAT_STATE_SYSTEM : FORMAT_STATE_USER;
}

bool clock_is_in_call(const struct unwind_regs *regs)
{
	return syscall_site(regs);
}
