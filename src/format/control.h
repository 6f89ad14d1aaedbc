/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pausing and resuming a recording, from inside the program or from outside.
 *
 * Each experiment has a recording clock, which runs as CLOCK_MONOTONIC does and
 * is stopped while the recording is paused.  The difference between two readings is the time
 * that was recorded between them, however many pauses fell into it: nobody has to be told of
 * a pause, and a thread that sleeps through several is right when it wakes up.
 *
 * The clock is one word at CONTROL_OFFSET in the header of the file `profile`, which the
 * program has mapped while it is recorded.  `helio ctl` writes it from outside: no
 * signal reaches the program and no call of it is disturbed.  Times are ns since the
 * founder's start.
 *   runs:    the sum of all pauses so far
 *   paused:  CONTROL_PAUSED | the clock's reading, and CONTROL_FINAL if recording has ended
 */
#ifndef HELIO_FORMAT_CONTROL_H
#define HELIO_FORMAT_CONTROL_H

#include "format/format.h"

#include <stdbool.h>

#define CONTROL_PAUSED ((uint64_t)1 << 63)
#define CONTROL_FINAL  ((uint64_t)1 << 62)

enum { CONTROL_OFFSET = FORMAT_BLOCK_ALIGN - sizeof(uint64_t) };

/* The recording clock at `time_ns`. */
static inline uint64_t control_clock(uint64_t word, uint64_t time_ns)
{
	return word & CONTROL_PAUSED ? word & ~(CONTROL_PAUSED | CONTROL_FINAL) : time_ns - word;
}

/* Stops the clock, with CONTROL_FINAL for good. False: it is stopped already, and is left so. */
static inline bool control_stop(uint64_t *word, uint64_t time_ns, uint64_t final)
{
	uint64_t before = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	uint64_t after;

	do {
		if (before & CONTROL_FINAL || (before & CONTROL_PAUSED && !final))
			return false;
		after = CONTROL_PAUSED | final | control_clock(before, time_ns);
	} while (!__atomic_compare_exchange_n(word, &before, after, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	return true;
}

/* The clock goes on. False: it runs already, or is stopped for good. */
static inline bool control_go_on(uint64_t *word, uint64_t time_ns)
{
	uint64_t before = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	uint64_t after;

	do {
		if (before & CONTROL_FINAL || !(before & CONTROL_PAUSED))
			return false;
		after = time_ns - control_clock(before, time_ns);
	} while (!__atomic_compare_exchange_n(word, &before, after, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	return true;
}

#endif
