/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/clock_event.h"

#include "collector/arch/sys.h"
#include "collector/sources/clock_signals.h"

#include <linux/perf_event.h>

static int open_event(const struct perf_event_attr *attr, int tid)
{
	return (int)sys_call6(SYS_perf_event_open, SYS_ARG(attr), tid, -1, -1, PERF_FLAG_FD_CLOEXEC,
			      0);
}

int clock_event_open(int tid, uint64_t event, uint64_t interval_ns)
{
	bool switches = event == PERF_EVENT_SWITCH;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = switches ? PERF_COUNT_SW_CONTEXT_SWITCHES : PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = switches ? 1 : interval_ns,
		/* A tick that costs more than the interval must find what it can switch off. */
		.disabled = event == PERF_EVENT_LATER || (event == PERF_EVENT_TICK && !tid),
		.inherit = 1,
		.inherit_thread = 1,
		.sigtrap = 1,
		.remove_on_exec = 1,
		.sig_data = PERF_COOKIE | event,
	};

	return open_event(&attr, tid);
}

int clock_event_open_silent(uint64_t interval_ns)
{
	const struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = interval_ns,
	};

	return open_event(&attr, 0);
}
