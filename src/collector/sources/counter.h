/* SPDX-License-Identifier: Apache-2.0 */
/* Counter overflow profiling, as the rest of the collector sees it. */
#ifndef HELIO_COLLECTOR_COUNTER_H
#define HELIO_COLLECTOR_COUNTER_H

#include "collector/core/profile_source.h"

#include <stdbool.h>
#include <stdint.h>

struct thread;
struct unwind_regs;

/* A signal of an event of ours: the clock's, or a counter's. */
struct counter_signal {
	uint64_t number;  /* of the counter; else any above their count */
	uint64_t address; /* of the data that the event was about; 0: unknown */
	bool waited;	  /* for the end of a handler */
	bool locked;	  /* the thread is; else nothing can be written for it */
};

/*
 * In the handler of SIGTRAP, for each of its signals: counts what is due.  thread NULL: its
 * state could not be had.
 */
void counter_signal(struct thread *thread, const struct counter_signal *signal,
		    const struct unwind_regs *regs);
/* At the end of that handler: the page faults since then are its own.  The thread is locked. */
void counter_own_faults(struct thread *thread);
/* Page faults of the calling thread between the two are the collector's; no signal of ours may come
 * in between. */
void counter_own_begin(struct own_faults *own);
void counter_own_end(struct thread *thread, const struct own_faults *own);
/* There are any. */
bool counter_is_any(void);
/* The counter's overflows are context switches. */
bool counter_is_switch(uint64_t number);
/* … are those of a timer. */
bool counter_is_timer(uint64_t number);
/*
 * The calling thread, just begun, is about to take the new state `thread`.  Signals that found none
 * have told of the page faults up to now, which are taken for the collector's.
 */
void counter_thread_begin(struct thread *thread);
/* The calling thread is about to end: writes what it has left over. It is not locked. */
void counter_thread_end(struct thread *thread);

/* At the end of a recording, before the collector's own work there: writes what is left over. */
void counter_finish(void);
/* Before exec: nothing may be pending; … when the exec failed. */
void counter_pause(void);
void counter_resume(void);
/* In the child of a fork, whose events these are not; and at the end of a recording. */
void counter_forget(void);

#endif
