/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data files that somebody cuts while they are mapped.
 *
 * An access behind the new end raises SIGBUS in the program's thread.  So that signal is ours: if
 * the address is in a file of ours, memory of nobody's takes the place of what is lost, the access
 * goes on there, and the log tells at the end.  Everything else is the program's, as without us.
 *
 * The kernel ends a program that blocks the signal of such an access.  Therefore our handlers and
 * threads keep it open, and so does the program, which only believes that it blocks it (signal.c).
 */
#include "collector/arch/sys.h"
#include "collector/core/loss.h"
#include "collector/core/rawthread.h"
#include "collector/core/signals.h"
#include "format/attach.h"

#include <ucontext.h>

bool signal_is_fault(const siginfo_t *info)
{
	return info->si_signo == SIGBUS && info->si_code > 0 && info->si_code != BUS_MCEERR_AO;
}

/* Code of ours runs that a handler of the program must not interrupt, or a thread of ours. */
static bool must_wait(const ucontext_t *context)
{
	uint64_t mask = *(const uint64_t *)&context->uc_sigmask;

	return mask & FORMAT_SIGNAL_BIT(SIGNAL_MARK) || rawthread_is(sys_gettid());
}

static void on_bus(int signal, siginfo_t *info, void *context)
{
	if (signal_is_fault(info) ? loss_mend((uint64_t)info->si_addr)
				  : must_wait(context) && signal_send_again(signal, info, context))
		return;
	signal_forward(signal, info, context);
}

void signal_take_faults(void)
{
	signal_take(SIGBUS, on_bus);
}

void signal_open_faults(const void *context)
{
	const uint64_t fault = FORMAT_SIGNAL_BIT(SIGBUS);

	if (*(const uint64_t *)&((const ucontext_t *)context)->uc_sigmask & fault)
		sys_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &fault, 0, sizeof(fault));
}
