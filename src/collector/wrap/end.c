/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a process.  exit and quick_exit run their handlers in reverse order: ours, set at the
 * start, come last.  Of exit's they come behind the destructors of all libraries, too, which are
 * a handler that the C library sets before main; as one of no library ours is not among them.
 */
#include "collector/core/next_functions.h"
#include "collector/core/start.h"
#include "collector/core/trace.h"
#include "collector/core/wrappers.h"
#include "collector/sources/io.h"
#include "collector/storage/recording.h"

#include <stdlib.h>
#include <unistd.h>

void end_before(void)
{
	if (atomic_load(&collector.recording) && collector_is_ours())
		collector_finish();
}

/*
 * All that exit does after its last handler is to write out the program's streams and to end.
 * fcloseall is the same function, with the same locks: called here it is recorded, and exit finds
 * it done.
 */
static void end_last(void *unused)
{
	(void)unused;
	if (!atomic_load(&collector.recording) || !collector_is_ours())
		return;
	if (trace_is_on(TRACE_IO) && io_streams_finish)
		io_streams_finish(); /* what lies in their buffers */
	NEXT(fcloseall)();
	end_before();
}

int __cxa_atexit(void (*handler)(void *), void *argument, void *library);

void end_install(void)
{
	at_quick_exit(end_before);
	if (!collector.late) /* it would come before the program's own: the destructor serves */
		__cxa_atexit(end_last, NULL, NULL);
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
