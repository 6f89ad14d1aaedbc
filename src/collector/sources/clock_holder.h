/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that holds other threads' perf events. */
#ifndef HELIO_COLLECTOR_CLOCK_HOLDER_H
#define HELIO_COLLECTOR_CLOCK_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The holder of other threads' events, in a program that was attached to.  It begins when
 * the thread `tid` is not traced any more.  Where it holds no events the next ones do
 * nothing and return false.
 */
bool holder_prepare(void); /* before the recording: a thread that begins may set a timer then */
bool holder_start(int tid);
bool holder_pause(void); /* returns when no event fires any more; also while it starts */
bool holder_resume(void);
/* It has not opened events yet, or started the monitor. */
bool holder_is_starting(void);
bool holder_breathe(void);     /* no switch events for a moment */
bool holder_rest(uint64_t ns); /* no ticks for so long; in the end overhead_rested() is called */
bool holder_drop(void);
bool holder_holds(void);
int holder_tid(void); /* 0: there is none */
void holder_stop(void);
void holder_forget(void); /* in the child of a fork */

#endif
