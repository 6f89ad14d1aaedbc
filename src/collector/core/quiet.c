/* SPDX-License-Identifier: Apache-2.0 */
/* While the program must not get a signal of ours: before an exec, and where one would stop it. */
#include "collector/core/core.h"
#include "collector/sources/clock.h"
#include "collector/sources/counter.h"
#include "collector/sources/overhead.h"

void quiet_begin(void)
{
	overhead_hold();
	if (collector.engine == ENGINE_PERF)
		perf_engine_pause();
	if (collector.engine == ENGINE_MONITOR)
		monitor_engine_pause();
	counter_pause();
}

void quiet_end(void)
{
	if (collector.engine == ENGINE_PERF)
		perf_engine_resume();
	if (collector.engine == ENGINE_MONITOR)
		monitor_engine_resume();
	timer_arm_all(); /* those that expired meanwhile */
	counter_resume();
	overhead_release();
}
