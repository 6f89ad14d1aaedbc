/* SPDX-License-Identifier: Apache-2.0 */
/* The signals of the engines, and what tells them from the program's own. */
#ifndef HELIO_COLLECTOR_CLOCK_SIGNALS_H
#define HELIO_COLLECTOR_CLOCK_SIGNALS_H

#include "format/attach.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The signals that the engines use: the program must not block or take them.  The
 * monitor's is a real-time signal, because a SIGPROF that the program sends would get lost
 * in one of ours that is pending.  Not the last one: that is taken oftener.  Under a debugger or
 * tracer it is SIGPROF all the same, which they let pass without a word, where they stop at others.
 */
enum {
	CLOCK_SIGNAL_PERF = FORMAT_SIGNAL_PERF,
	CLOCK_SIGNAL_MONITOR = FORMAT_SIGNAL_MONITOR, /* as a rule: collector.monitor_signal */
	CLOCK_SIGNAL_TRACED = SIGPROF,
};

/* si_value of our own signals: tells them from the program's. */
#define MONITOR_COOKIE	    0x48454c494fu
#define MONITOR_COOKIE_WALL 0x48454c494f77u /* of a timer of the wall clock */
#define MONITOR_COOKIE_STOP 0x48454c494f73u /* of a guard */

/*
 * All our events of perf raise SIGTRAP, with sig_data PERF_COOKIE, which tells them from the
 * program's own, and a number: the engine's, or from PERF_EVENT_COUNTER on a counter's.
 */
#define PERF_COOKIE 0x48454c494f000000u
enum { TRAP_PERF_CODE = 6 }; /* si_code TRAP_PERF: newer than Debian 12's headers */
enum {
	PERF_EVENT_TICK = 1,
	PERF_EVENT_SWITCH = 2,
	PERF_EVENT_LATER = 3, /* a tick at the longer interval */
	PERF_EVENT_COUNTER = 16,
};

/* The handlers of both engines' signals (wrap/clock_handlers.c). */
struct clock_handlers {
	void (*perf)(int signal, siginfo_t *info, void *context);
	void (*monitor)(int signal, siginfo_t *info, void *context);
};
extern const struct clock_handlers clock_handlers;

#endif
