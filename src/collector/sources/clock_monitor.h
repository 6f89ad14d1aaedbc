/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor engine: a thread that looks at all others. */
#ifndef HELIO_COLLECTOR_CLOCK_MONITOR_H
#define HELIO_COLLECTOR_CLOCK_MONITOR_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct thread;

bool monitor_signal_is_ours(const siginfo_t *info);
/* In the handler, one of those has come; `context` is where the program was interrupted.  True: it
 * may have ended a system call that the program would not have seen end. */
bool monitor_signal(const siginfo_t *info, const void *context);
/* Takes the engine's signal, and nothing else yet. */
bool monitor_engine_prepare(void);
bool monitor_engine_start(void);
/* The process may be stopped before the monitor looks for the first time. */
void monitor_engine_guard_first(struct thread *thread);
/* Starts in a handler, in the place of the perf engine, for all threads. */
bool monitor_engine_take_over(void);
/* For a process that switches all the time: its waits are short and many, a few of them will do. */
void monitor_engine_look_seldom(void);
/* Ends it: when this returns, its thread and its timers are gone. */
void monitor_engine_stop(void);
void monitor_engine_pause(void);
void monitor_engine_resume(void);
/* Before the files of threads may become root's: those of all that are known are opened. */
void monitor_engine_open_files(void);
void monitor_engine_forget(void);

#endif
