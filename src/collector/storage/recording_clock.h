/* SPDX-License-Identifier: Apache-2.0 */
/* The recording clock (format/control.h): stopped while the recording is paused. */
#ifndef HELIO_COLLECTOR_RECORDING_CLOCK_H
#define HELIO_COLLECTOR_RECORDING_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The clock lies at `word` from now on, where others can read and set it. */
void recording_clock_open(uint64_t *word);
/* In the child of a fork, before its parent's files are unmapped. */
void recording_clock_forget(void);

/* The rest may be called in a handler. */

/* The recording clock at `now_ns` (CLOCK_MONOTONIC), and whether recording is paused. */
uint64_t recording_clock_ns(uint64_t now_ns, bool *paused);
/* There never was a pause. */
bool recording_clock_always_ran(void);
/* Stops the clock, with CONTROL_FINAL for good, and lets it go on. False: it does already, or
 * is stopped for good. */
bool recording_clock_stop(uint64_t now_ns, uint64_t final);
bool recording_clock_go_on(uint64_t now_ns);

/* Whether all that the program does, from the recording's begin on, is to be recorded. */
bool collector_records_all(void);

#endif
