/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of perf events: each event raises a signal in its thread. */
#ifndef HELIO_COLLECTOR_CLOCK_PERF_H
#define HELIO_COLLECTOR_CLOCK_PERF_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool perf_signal_take(void);
/* Signals that were sent by us, not by the program. */
bool perf_signal_is_ours(const siginfo_t *info);
/* Takes the engine's signal, and nothing else yet. */
bool perf_engine_prepare(void);
/* An event of another thread, or with 0 of the calling one: a descriptor or a negative errno. */
int perf_engine_open(int tid, bool switches);
/* The switch events, which there were too many of, may come again. */
void perf_engine_breathed(void);
bool perf_engine_start(char *reason, size_t size);
/* The length of the interval that is in force for the process's first thread. */
uint64_t perf_engine_interval_ns(void);
/* Before a thread is created: it inherits the length of the interval. */
void perf_engine_before_birth(void);
/* All threads' ticks come at the longer interval from now on. In a handler. */
void perf_engine_widen(void);
/* Every context switch is being signalled now. */
bool perf_engine_sees_switches(void);
/* How often they have ceased to be. */
uint32_t perf_engine_switch_pauses(void);
void perf_engine_pause(void);  /* before exec: no event may be pending */
void perf_engine_resume(void); /* … when the exec failed */
void perf_engine_forget(void); /* in the child of a fork */
/* The ticks alone, for a moment; not while the engine is paused.  False: they are not to be found.
 */
bool perf_engine_switch_ticks(bool on);
/* Until the thread that enables switch events again is gone: 20 ms at most. */
void perf_engine_wait_for_thread(void);

#endif
