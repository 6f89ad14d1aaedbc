/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handlers of the engines' signals: what the program was interrupted in goes on afterwards as
 * if nothing had been.  Signals of the program's own are handed on.
 */
#include "collector/core/handler_stack.h"
#include "collector/core/signals.h"
#include "collector/sources/clock_monitor.h"
#include "collector/sources/clock_perf.h"
#include "collector/sources/clock_signals.h"
#include "collector/wrap/wait.h"
#include "collector/wrap/wait_restart.h"

struct signalled {
	const siginfo_t *info;
	const void *context;
	bool goes_on; /* as monitor_signal() says */
};

/*
 * The first thread may be at the very end of its stack: ruby touches the last page when it begins.
 * The handler then runs on a stack of its own; one suffices, as only that thread needs it.
 */
static void with_room(void (*work)(void *), struct signalled *signalled)
{
	static char stack[64 * 1024] __attribute__((aligned(16)));

	if (room_is_at_end_of_first_stack())
		run_on_stack(stack + sizeof(stack), work, signalled);
	else
		work(signalled);
}

static void tick_of_perf(void *arg)
{
	const struct signalled *signalled = arg;

	perf_signal(signalled->info, signalled->context);
}

static void tick_of_monitor(void *arg)
{
	struct signalled *signalled = arg;

	signalled->goes_on = monitor_signal(signalled->info, signalled->context);
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	if (!perf_signal_is_ours(info)) {
		signal_forward(signal, info, context);
		return;
	}
	signal_open_faults(context);
	struct signalled signalled = {info, wait_program_context(context), false};

	with_room(tick_of_perf, &signalled);
	wait_go_on(context, false);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	if (!monitor_signal_is_ours(info)) {
		signal_forward(signal, info, context);
		return;
	}
	signal_open_faults(context);
	struct signalled signalled = {info, wait_program_context(context), false};

	with_room(tick_of_monitor, &signalled);
	wait_go_on(context, signalled.goes_on);
}

const struct clock_handlers clock_handlers = {.perf = on_trap, .monitor = on_signal};
