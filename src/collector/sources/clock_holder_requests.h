/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the holder of threads' perf events (clock_holder.h), by words in memory. */
#ifndef HELIO_COLLECTOR_CLOCK_HOLDER_REQUESTS_H
#define HELIO_COLLECTOR_CLOCK_HOLDER_REQUESTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Where it holds no events these do nothing and return false. */
bool holder_pause(void); /* returns when no event fires any more; also while it starts */
bool holder_resume(void);
/* It has not opened events yet, or started the monitor. */
bool holder_is_starting(void);
bool holder_pause_switches(void); /* no switch events for HOLDING_SWITCH_PAUSE_NS */
bool holder_rest(uint64_t ns);	  /* no ticks for so long; in the end overhead_rested() is called */
bool holder_drop(void);

bool holder_holds(void);
int holder_tid(void); /* 0: there is none */
void holder_stop(void);

/* ---- the words, for the holder ---- */

enum {
	HOLDING_SWITCH = 1,
	HOLDING_SWITCH_PAUSE = 2,
	HOLDING_DROP = 4,
	HOLDING_END = 8,
	HOLDING_REST = 16,
};

enum { HOLDING_SWITCH_PAUSE_NS = 20 * 1000 * 1000 };

extern struct holding {
	_Atomic unsigned running;
	_Atomic uint32_t wishes;  /* a futex */
	_Atomic uint64_t rest_ns; /* asked for */
	/*
	 * The last request to switch all events, and the last one that was carried out (a futex):
	 * twice its number, and 1 for off.  Numbered, because one may follow before the previous
	 * one is carried out.
	 */
	_Atomic uint32_t requested, fulfilled;
	_Atomic int32_t tid;
	_Atomic int32_t home;  /* the process whose holder it is: not a child of its */
	_Atomic bool held;     /* there are events */
	_Atomic bool starting; /* … or will be in a moment, of the one or the other engine */
} holding;

void holding_wait(_Atomic uint32_t *word, uint32_t value, uint64_t limit_ns);
void holding_wake(_Atomic uint32_t *word);

#endif
