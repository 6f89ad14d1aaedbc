/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a process where no destructor runs.  quick_exit runs its handlers in reverse
 * order: ours, set at the start, comes last.
 */
#include "collector/core/core.h"
#include "collector/wrap/next.h"

#include <stdlib.h>
#include <unistd.h>

void end_before(void)
{
	if (atomic_load(&collector.recording) && collector_is_ours())
		collector_finish();
}

void end_install(void)
{
	at_quick_exit(end_before);
}

COLLECTOR_EXPORT _Noreturn void _exit(int status)
{
	end_before();
	NEXT(_exit)(status);
	__builtin_unreachable();
}

COLLECTOR_EXPORT _Noreturn void _Exit(int status)
{
	_exit(status);
}
