/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of perf events: each event raises a signal in its thread. */
#ifndef HELIO_COLLECTOR_CLOCK_PERF_H
#define HELIO_COLLECTOR_CLOCK_PERF_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread;

/* Signals that were sent by us, not by the program. */
bool perf_signal_is_ours(const siginfo_t *info);
/* In the handler, one of those has come; `context` is where the program was interrupted. */
void perf_signal(const siginfo_t *info, const void *context);
/* Takes the engine's signal, and nothing else yet. */
bool perf_engine_prepare(void);
/* The pause of switch events, of which there were too many, is over: they come again. */
void perf_engine_switches_resumed(void);
bool perf_engine_start(char *reason, size_t size);
/* The first thread's first tick comes when it is due, by what was not the collector's own time. */
void perf_engine_begin_program(const struct thread *thread);
/* Before a thread is created: it inherits the length of the interval. */
void perf_engine_before_thread(void);
void perf_engine_pause(void);  /* before exec: no event may be pending */
void perf_engine_resume(void); /* … when the exec failed */
void perf_engine_forget(void); /* in the child of a fork */
/* The ticks alone, for a moment; not while the engine is paused.  False: they are not to be found.
 */
bool perf_engine_switch_ticks(bool on);
/* Until the thread that enables switch events again is gone: 20 ms at most. */
void perf_engine_wait_for_thread(void);

#endif
