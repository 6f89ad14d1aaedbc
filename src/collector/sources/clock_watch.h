/* SPDX-License-Identifier: Apache-2.0 */
/* Waits without a switch event. */
#ifndef HELIO_COLLECTOR_CLOCK_WATCH_H
#define HELIO_COLLECTOR_CLOCK_WATCH_H

/* For the perf engine: looks at all threads' waits, once and until each of them has ended. */
void watch_waits(void);
void watch_stop(void);	 /* returns when its thread is gone */
void watch_forget(void); /* in the child of a fork */

#endif
