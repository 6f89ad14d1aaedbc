/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What our handlers take of a thread's time, and a bound on it (--max-overhead).
 *
 * A signal costs its delivery and our handler.  Where that comes to more than the interval, the
 * next one is due when the handler returns, and the program never gets on.  So each thread has an
 * account: what its signals took, less the allowed part of the CPU time that has passed.  When
 * that debt has become too large, events rest until it is paid.  Nothing is lost by that: time is
 * accounted for, not counted, and what passes during a rest goes to the next event.
 *
 * Switch events are bounded by what passes on the wall, not of CPU time: a thread that sleeps a
 * thousand times a second uses little of either (clock_perf.c).
 */
#ifndef HELIO_COLLECTOR_OVERHEAD_H
#define HELIO_COLLECTOR_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

struct overhead_account;
struct thread;

/* What a signal is for: how its delivery's cost is known, and what bounds it. */
enum overhead_kind {
	OVERHEAD_TICK,	/* of perf's timer, whose interrupt is part of it */
	OVERHEAD_TIMER, /* of the thread's own on the wall clock: likewise */
	OVERHEAD_SENT,	/* a tick of the monitor's, or of a timer that the kernel's ticks look at */
	OVERHEAD_COUNTER, /* of something that the thread does */
	OVERHEAD_SWITCH,  /* not charged to the thread's account */
};

/* A handler that has begun. */
struct overhead_mark {
	uint64_t wall_ns, cpu_ns; /* cpu_ns 0: not read */
};

/* Values of PARAMS_OVERHEAD and PARAMS_TEST_DELAY (format/params.h). */
void overhead_read_limit(const char *value);
void overhead_read_test_delay(const char *value);

/* exact: reads the CPU clock too; needed where clock_tick or clock_switched_in do not do it. */
void overhead_enter(struct overhead_mark *mark, bool exact);

/*
 * At a handler's end; thread NULL: its state could not be had.  Returns what the signal took.
 * *rest_ns: for how long there should be no more, of the thread's CPU time; 0: the debt is small.
 */
uint64_t overhead_leave(struct thread *thread, const struct overhead_mark *mark,
			enum overhead_kind kind, uint64_t *rest_ns);

/* What a tick of perf takes before its handler begins, as far as known; or measured first. */
uint64_t overhead_delivery_ns(void);
uint64_t overhead_measured_delivery_ns(void);

/*
 * The shortest interval at which perf's ticks that take so long to be delivered stay within the
 * bound, or leave the program half of its time where there is none; and the longest that this can
 * come to on any machine.
 */
uint64_t overhead_least_interval_ns(uint64_t delivery_ns);
uint64_t overhead_longest_least_interval_ns(void);

/* The bound as a factor: so much time must pass for each ns of cost; 0: there is no bound. */
uint64_t overhead_time_for(uint64_t cost_ns);

/*
 * What the handlers of all threads have taken since this was last called, with the process's CPU
 * time then.  They have a bound of their own: what is just beyond it does not count.
 */
uint64_t overhead_of_handlers_ns(uint64_t cpu_ns);

/*
 * The same for any account: `cost_ns` more at `clock_ns`, on a clock of the caller's; returns for
 * how long to rest, on that clock, with jitter.
 */
uint64_t overhead_charge(struct overhead_account *account, uint64_t clock_ns, uint64_t cost_ns);

/* Somebody rests or is made to: the log and the end message say so. */
void overhead_limited(void);
/* The interval is longer from the start: likewise said. */
void overhead_raised_interval(void);
/* Writes the warning, once there is reason to.  Not in a handler. */
void overhead_warn(void);
/* Before the log is closed: the warning is complete when this returns, and no more comes. */
void overhead_warn_before_close(void);

/* What the calling thread, which ends, still owes: the next one that begins pays it. */
void overhead_thread_end(struct thread *thread);

/*
 * All ticks and counters of the process are off until `ns` from now.  In a handler; a raw thread
 * or the holder switches them on again.
 */
void overhead_rest(uint64_t ns);
/*
 * They are: a signal that comes all the same was under way.  Where they are just being switched by
 * another thread, waits for that.
 */
bool overhead_rests(void);
/* A rest is under way: whoever ends it switches the events on, unless they are held. */
bool overhead_is_resting(void);
/* By the holder, when its rest is over. */
void overhead_rested(void);

/*
 * Where no thread can be started (a limit on processes), the next signal after the end of a rest
 * switches the events on: those of context switches go on meanwhile.
 */
void overhead_end_rest(void);

/*
 * Before exec: nothing switches events on again when this returns; … when the exec failed.  Rests
 * still begin: the caller switches the events off only after this, and on only after the release.
 * A tick that costs more than its interval would let it get no further.
 */
void overhead_hold(void);
void overhead_release(void);
/* Ends the raw thread, and lets no rest begin until overhead_allow.  All events must be off: see
 * hold_signals_begin. */
void overhead_stop(void);
void overhead_allow(void);
void overhead_forget(void); /* in the child of a fork */

/* Somebody has rested lately: what can be left out is. */
bool overhead_is_limited(void);

/* Whether counters stood still, so that their counts are to be made up for. */
bool overhead_has_rested(void);

/* Attributes for the event `counters` in the log. */
struct text;
void overhead_log(struct text *line);
/* At the begin of a recording.  switch_events: switches all ticks and counters of the process off
 * or on again, for a rest; in a handler. */
void overhead_reset(void (*switch_events)(bool on));

#endif
