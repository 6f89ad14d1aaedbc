/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handlers of the engines' signals: what the program was interrupted in goes on afterwards as
 * if nothing had been.  Signals of the program's own are handed on.
 */
#include "collector/core/next_functions.h"
#include "collector/sources/clock_monitor.h"
#include "collector/sources/clock_perf.h"
#include "collector/sources/clock_signals.h"
#include "collector/wrap/wait.h"
#include "collector/wrap/wait_restart.h"

static void on_trap(int signal, siginfo_t *info, void *context)
{
	if (!perf_signal_is_ours(info)) {
		signal_forward(signal, info, context);
		return;
	}
	signal_open_faults(context);
	perf_signal(info, wait_program_context(context));
	wait_go_on(context, false);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	if (!monitor_signal_is_ours(info)) {
		signal_forward(signal, info, context);
		return;
	}
	signal_open_faults(context);
	wait_go_on(context, monitor_signal(info, wait_program_context(context)));
}

const struct clock_handlers clock_handlers = {.perf = on_trap, .monitor = on_signal};
