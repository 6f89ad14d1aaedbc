/* SPDX-License-Identifier: Apache-2.0 */
/* Counter overflow profiling, as the rest of the collector sees it. */
#ifndef HELIO_COLLECTOR_COUNTER_H
#define HELIO_COLLECTOR_COUNTER_H

#include "collector/core/core.h"

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
/* The counter's overflows are context switches. */
bool counter_is_switch(uint64_t number);
/* The calling thread is about to end: writes what it has left over. It is not locked. */
void counter_thread_end(struct thread *thread);

/* Before exec: nothing may be pending; … when the exec failed. */
void counter_pause(void);
void counter_resume(void);
/* In the child of a fork, whose events these are not; and at the end of a recording. */
void counter_forget(void);

#endif
