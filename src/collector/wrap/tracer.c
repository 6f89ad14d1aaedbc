/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that trace others, and a program that asks to be traced (PTRACE_TRACEME).
 *
 * From then on each signal stops the thread until its parent lets it go on: debuggers take one that
 * comes before the exec for the exec itself, and a parent that does not know that it is a tracer
 * never lets it go on.  So there are none of ours until the exec: time stays pending.  What is
 * executed then has a tracer that expects signals (monitor_engine_start).
 */
#include "collector/arch/sys.h"
#include "collector/core/next_functions.h"
#include "collector/core/wrappers.h"
#include "collector/sources/hold_signals.h"
#include "collector/storage/recording.h"

#include <sys/ptrace.h>

static _Atomic bool traces;
static _Atomic int asked_by; /* the process that is traced because it has asked */

bool tracer_is_one(void)
{
	return atomic_load_explicit(&traces, memory_order_relaxed);
}

/* Defined under the name of a variadic function, whose arguments are in the same places. */
COLLECTOR_EXPORT long wrapped_ptrace(long request, long tid, long address,
				     long data) __asm__("ptrace");

long wrapped_ptrace(long request, long tid, long address, long data)
{
	bool quiet = request == PTRACE_TRACEME && atomic_load(&collector.recording) &&
		     collector_is_ours() && atomic_load(&asked_by) != sys_getpid();

	if (request != PTRACE_TRACEME)
		atomic_store_explicit(&traces, true, memory_order_relaxed);
	if (quiet)
		hold_signals_begin();
	long result = NEXT(ptrace)(request, tid, address, data);

	int error = errno;

	if (quiet && result < 0)
		hold_signals_end();
	else if (quiet)
		atomic_store(&asked_by, sys_getpid());
	errno = error;
	return result;
}
