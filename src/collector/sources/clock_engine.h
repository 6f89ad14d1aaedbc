/* SPDX-License-Identifier: Apache-2.0 */
/* Which engine makes the clock's events. */
#ifndef HELIO_COLLECTOR_CLOCK_ENGINE_H
#define HELIO_COLLECTOR_CLOCK_ENGINE_H

#include "collector/storage/recording.h"

/*
 * Why the program would be harmed by signals other than a timer's; NULL: it is not.  One that is
 * pending when a thread executes another program ends that one, unless it is a timer's, which the
 * kernel discards.  Our wrappers of exec see to it that none is, but Go's runtime and qemu's guests
 * execute by a system call instruction of their own.
 */
const char *engine_signals_harm(void);
/* Not 0 while the monitor's thread is there; in a handler. */
extern _Atomic unsigned engine_monitor;
static inline bool engine_monitor_runs(void)
{
	return engine_monitor;
}

/* Says in the log which engine is at work, and why not the one that was asked for. */
void engine_log(enum engine asked, const char *reason);

#endif
