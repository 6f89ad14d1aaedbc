/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes profile events, as the core calls it: the clock with its engines, the counters, and
 * the bound on what both take.  sources/profile.c is behind it.
 */
#ifndef HELIO_COLLECTOR_PROFILE_SOURCE_H
#define HELIO_COLLECTOR_PROFILE_SOURCE_H

#include "format/counter.h"

#include <stdbool.h>
#include <stdint.h>

struct text;
struct thread;

/* Page faults of the calling thread between two moments. */
struct own_faults {
	uint64_t faults[COUNTERS_MAX];
};

struct profile_source {
	/* Reads one parameter. False: the key is none of theirs. */
	bool (*read_param)(char key, const char *value);

	/* Before the accounting begins: what takes long, or touches memory for the first time. */
	void (*prepare)(void);
	/* At the begin of a recording: what is counted of it is 0. */
	void (*reset)(void);
	/* The accounting of the process's first thread, the calling one, begins now. */
	void (*begin_process)(struct thread *thread);
	/* Events come from now on. */
	void (*start)(void);
	/* … and from now on the first thread's time is the program's: its accounting begins here
	 * anew, and its life is recorded from here on. */
	void (*begin_program)(struct thread *thread);
	/* The same before a recording of a program that runs already. False: it cannot be. */
	bool (*prepare_late)(void);
	/* … in a program that runs already, once nobody traces the thread `tid`. False: no memory.
	 */
	bool (*start_late)(int tid);

	/* Accounts for the calling thread's time up to now, and writes nothing: from here on its
	 * time is the collector's. */
	void (*account_to_now)(void);
	/* The call stack of the calling thread, where that is worth its price. */
	uint32_t (*own_stack)(void);
	/* … and this writes it. */
	void (*settle_accounted)(uint32_t stack);
	/* Accounts for the time of all threads up to now; `stack` is the calling one's. */
	void (*settle_all)(uint32_t stack);
	/* … of one thread. */
	void (*settle)(struct thread *thread, uint32_t stack);
	/* … of the calling one, whose lock is held. */
	void (*settle_locked)(struct thread *thread, uint32_t stack);

	/* At the end, before the collector's own work there: what counters have left over. */
	void (*finish_counts)(void);
	/* The calling thread ends the recording.  What it settles of other threads from the first
	 * call on, and no tick of theirs covers, is kept; the second divides it among the last
	 * ticks. */
	void (*collect_unsampled)(void);
	void (*distribute_unsampled)(void);
	/* All is accounted for: what the process leaves the next one begins with. */
	void (*leave_process)(void);
	/* Counters, and ticks at short intervals, could keep the process from ending: they cease.
	 */
	void (*disable_frequent_events)(void);
	/* Writes the warnings that are due into the log. */
	void (*log_last_warnings)(void);
	/* Attributes for the log's event `counters`. */
	void (*log)(struct text *line);
	/* Right before the log is closed: warnings of other threads are complete when it returns,
	 * and no more come. */
	void (*log_before_close)(void);
	/* No signal of ours reaches the program from begin to end (hold_signals.h). */
	void (*hold_signals_begin)(void);
	void (*hold_signals_end)(void);
	/* For good: no event comes any more, and our threads are gone. */
	void (*stop)(void);
	/* The same of a recording that nobody has ended. */
	void (*stop_abandoned)(void);
	/* In the child of a fork: events, descriptors and threads are the parent's. */
	void (*forget)(void);

	/* ---- threads ---- */

	/* The calling thread makes its state, and its page faults in between are ours. */
	void (*own_begin)(struct own_faults *own);
	void (*own_end)(struct thread *thread, const struct own_faults *own);
	/* The calling thread has a state from now on. */
	void (*thread_begun)(struct thread *thread);
	/* It has none any more; with its lock. */
	void (*thread_ended)(struct thread *thread);
	/* For threads that ran before: see clock_begin_other and clock_join. */
	void (*begin_other)(struct thread *thread, int dir);
	bool (*join)(struct thread *thread);
};

extern const struct profile_source profile_source;

#endif
