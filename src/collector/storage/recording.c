/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/storage/recording.h"

#include "collector/arch/sys.h"
#include "format/attach.h"

struct collector collector = {.monitor_signal = FORMAT_SIGNAL_MONITOR};

bool collector_is_ours(void)
{
	return !atomic_load_explicit(&collector.silent, memory_order_relaxed) &&
	       sys_getpid() == atomic_load_explicit(&collector.pid, memory_order_relaxed);
}
