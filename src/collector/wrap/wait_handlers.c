/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/wrap/wait_handlers.h"

#include "collector/arch/sys.h"
#include "collector/core/signals.h"
#include "collector/storage/recording.h"
#include "collector/wrap/handler_wrapper.h"

struct kernel_action wait_action_of(int signal)
{
	struct kernel_action action = {0};

	sys_call(SYS_rt_sigaction, signal, 0, &action, sizeof(action.mask));
	return action;
}

uint64_t wait_pending_signals(void)
{
	uint64_t pending = 0;

	sys_call(SYS_rt_sigpending, &pending, sizeof(pending), 0, 0);
	return pending & ~signal_numbers();
}

static bool is_programs(const void *handler, bool wrapped)
{
	bool ours =
		(uint64_t)handler >= collector.text_low && (uint64_t)handler < collector.text_high;

	if (handler == (void *)SIG_DFL || handler == (void *)SIG_IGN)
		return false;
	return handler == (const void *)handler_wrapper.enter ? wrapped : !ours;
}

uint64_t wait_handled_signals(uint64_t set, bool wrapped)
{
	uint64_t found = 0;

	for (; set; set &= set - 1) {
		if (is_programs(wait_action_of(__builtin_ctzll(set) + 1).handler, wrapped))
			found |= set & -set;
	}
	return found;
}

uint64_t wait_pending_handlers(const ucontext_t *context, bool wrapped)
{
	return wait_handled_signals(
		wait_pending_signals() & ~*(const uint64_t *)&context->uc_sigmask, wrapped);
}
