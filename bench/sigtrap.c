/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that a clock tick by SIGTRAP can cost: an event of the kernel every
 * HELIO_SIGTRAP_NS of CPU time and a handler that does nothing.  To be preloaded.
 * What helio costs beyond it is ours; what perf costs less is the price of a signal.
 */
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void on_trap(int number)
{
	(void)number;
}

__attribute__((constructor)) static void start(void)
{
	const char *interval = getenv("HELIO_SIGTRAP_NS");
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = interval ? strtoul(interval, NULL, 10) : 0,
		.inherit = 1,
		.inherit_thread = 1,
		.sigtrap = 1,
		.remove_on_exec = 1,
	};

	if (!attr.sample_period || signal(SIGTRAP, on_trap) == SIG_ERR ||
	    syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0)
		_exit(125);
}
