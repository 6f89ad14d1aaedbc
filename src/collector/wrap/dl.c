/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlclose: code and CFI vanish under the unwinder's feet.  Handlers are kept
 * away from it until the list of modules is right again.
 */
#include "collector/core/core.h"
#include "collector/core/sys.h"
#include "collector/wrap/next.h"

#include <dlfcn.h>

enum { QUIET_TRIES = 1000 };

COLLECTOR_EXPORT int dlclose(void *handle)
{
	if (!atomic_load(&collector.recording) || !collector_is_ours())
		return NEXT(dlclose)(handle);
	modules_update(); /* what is about to go must have been noted */
	unwind_modules_hold();
	for (int i = 0; i < QUIET_TRIES && !unwind_modules_quiet(); i++)
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	int result = NEXT(dlclose)(handle);
	modules_update();
	unwind_modules_release();
	return result;
}
