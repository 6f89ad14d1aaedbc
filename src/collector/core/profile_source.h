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

	/* The calling thread's time is the program's up to here, and from here on the collector's.
	 */
	void (*leave_off)(void);
	/* The call stack of the calling thread, where that is worth its price. */
	uint32_t (*own_stack)(void);
	/* Writes what the calling thread has used up to where it has left off. */
	void (*settle_left)(uint32_t stack);
	/* Accounts for the time of all threads up to now; `stack` is the calling one's. */
	void (*settle_all)(uint32_t stack);
	/* … of one thread. */
	void (*settle)(struct thread *thread, uint32_t stack);
	/* … of the calling one, whose lock is held. */
	void (*settle_locked)(struct thread *thread, uint32_t stack);

	/* At the end, before the collector's own work there: what counters have left over. */
	void (*finish_counts)(void);
	/* What the calling thread, which ends the recording, settles of others and no tick of
	 * theirs stands for is kept from `gather` on, until `spread` gives it to those that there
	 * were. */
	void (*gather)(void);
	void (*spread)(void);
	/* All is accounted for: what the process leaves the next one begins with. */
	void (*leave_process)(void);
	/* Events at a short interval could keep the process from ending: they cease. */
	void (*quieten)(void);
	/* Says in the log what is still to be said; attributes for the event `counters`. */
	void (*say_last)(void);
	void (*log)(struct text *line);
	/* … for the last time, before the log is closed. */
	void (*say_no_more)(void);
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
