/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlclose: code and CFI vanish under the unwinder's feet.  Handlers are kept
 * away from all that may vanish until the list of modules is right again.
 */
#include "collector/wrap/dl.h"
#include "collector/arch/sys.h"
#include "collector/core/modules.h"
#include "collector/core/next_functions.h"
#include "collector/storage/recording.h"
#include "collector/unwind/unwind.h"

#include <dlfcn.h>
#include <stdatomic.h>

static _Atomic uint32_t closes;

uint32_t dl_close_count(void)
{
	return atomic_load_explicit(&closes, memory_order_relaxed);
}

/* Who reads is in a handler and on its way out; it may only have to get a processor first. */
static void wait_until_quiet(void)
{
	enum { YIELDS = 1000, NAPS = 100 * 1000, NAP_NS = 100 * 1000 };

	for (int i = 0; i < YIELDS + NAPS && !unwind_modules_quiet(); i++) {
		if (i < YIELDS)
			sys_call(SYS_sched_yield, 0, 0, 0, 0);
		else
			sys_nap(NAP_NS);
	}
}

/* Afterwards: who sees the count asks the loader, whose lock destructors are called with, and one
 * of these may wait for that thread. */
static int close_counted(void *handle)
{
	int result = NEXT(dlclose)(handle);

	atomic_fetch_add_explicit(&closes, 1, memory_order_relaxed);
	return result;
}

COLLECTOR_EXPORT int dlclose(void *handle)
{
	if (!atomic_load(&collector.recording) || !collector_is_ours())
		return close_counted(handle);
	modules_note_staying();
	modules_update(); /* what is about to go must have been noted */
	unwind_modules_hold();
	wait_until_quiet();
	int result = close_counted(handle);
	if (modules_update()) /* else it stays as it is: no code can be trusted any more */
		unwind_modules_release();
	return result;
}
