/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/wrap/wait_call.h"

#include "collector/arch/context.h"
#include "collector/arch/sys.h"
#include "collector/core/signals.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"

long wait_call_closed(const ucontext_t *context, const struct request *request)
{
	uint64_t mask = *(const uint64_t *)&context->uc_sigmask | signal_numbers(), all;

	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &all, sizeof(mask));
	long result = sys_call6(request->call, request->a, request->b, request->c, request->d,
				request->e, request->f);
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, 0, sizeof(all));
	return result;
}

long wait_make_call(const ucontext_t *context, long call, const struct request *request)
{
	struct thread *thread = thread_current_if_known();
	struct call_place before = {0};

	if (thread) {
		before = thread->continued;
		thread->continued = (struct call_place){
			.pc = arch_pc(context), .sp = arch_sp(context), .call = call};
	}
	long result = wait_call_closed(context, request);

	if (thread)
		thread->continued = before;
	return result;
}
