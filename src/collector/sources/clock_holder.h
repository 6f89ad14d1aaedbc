/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that holds other threads' perf events. */
#ifndef HELIO_COLLECTOR_CLOCK_HOLDER_H
#define HELIO_COLLECTOR_CLOCK_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The holder of other threads' events, in a program that was attached to.  It begins when
 * the thread `tid` is not traced any more.  What it is asked for: clock_holder_requests.h.
 */
bool holder_prepare(void); /* before the recording: a thread that begins may set a timer then */
bool holder_start(int tid);
void holder_forget(void); /* in the child of a fork */

#endif
