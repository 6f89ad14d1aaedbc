/* SPDX-License-Identifier: Apache-2.0 */
/* While the program must not get a signal of ours: before an exec, and where one would stop it. */
#include "collector/sources/hold_signals.h"

#include "collector/sources/clock_monitor.h"
#include "collector/sources/clock_perf.h"
#include "collector/sources/clock_timer.h"
#include "collector/sources/counter.h"
#include "collector/sources/overhead.h"
#include "collector/storage/recording.h"

void hold_signals_begin(void)
{
	overhead_hold();
	if (collector.engine == ENGINE_PERF)
		perf_engine_pause();
	if (collector.engine == ENGINE_MONITOR)
		monitor_engine_pause();
	counter_pause();
}

/* Released first: the next tick may already be the one that has to make all of them rest. */
void hold_signals_end(void)
{
	overhead_release();
	if (collector.engine == ENGINE_PERF)
		perf_engine_resume();
	if (collector.engine == ENGINE_MONITOR)
		monitor_engine_resume();
	timer_arm_all(); /* those that expired meanwhile */
	if (!overhead_is_resting())
		counter_resume();
}
