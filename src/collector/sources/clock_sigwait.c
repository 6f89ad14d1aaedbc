/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/clock_sigwait.h"

#include "collector/arch/sys.h"
#include "collector/core/clock_look.h"
#include "collector/core/log.h"
#include "collector/core/thread.h"
#include "collector/sources/clock_timer.h"
#include "collector/storage/recording.h"
#include "format/format.h"

static bool warned;

void sigwait_note(struct thread *thread, const struct clock_remote *remote)
{
	if (remote->call != SYS_rt_sigtimedwait || !collector.late || !thread->blocked ||
	    thread->takes_signals || !thread_try_lock(thread))
		return;
	thread->takes_signals = true;
	thread->cpu_stack = FORMAT_NO_STACK;
	timer_disarm(thread);
	thread_unlock(thread);
}

void sigwait_warn(const struct thread *thread, const struct clock_remote *remote)
{
	enum { WORTH = 8 }; /* intervals */
	uint64_t computed_ns =
		remote->cpu_ns - thread->clock.last.cpu_ns + (uint64_t)thread->clock.cpu_pending_ns;

	if (warned || !thread->takes_signals ||
	    (int64_t)computed_ns < (int64_t)(WORTH * collector.interval_ns))
		return;
	warned = true;
	log_warning("threads that block all signals and take them by hand (sigwait) got no ticks: "
		    "what they compute has no call stack",
		    0);
}

void sigwait_forget(void)
{
	warned = false;
}
