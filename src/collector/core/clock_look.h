/* SPDX-License-Identifier: Apache-2.0 */
/* Threads seen from outside, by their files in /proc. */
#ifndef HELIO_COLLECTOR_CLOCK_LOOK_H
#define HELIO_COLLECTOR_CLOCK_LOOK_H

#include "collector/core/thread_state.h"
#include "format/format.h"

#include <stdbool.h>
#include <stdint.h>

/* How a thread stands in the kernel, read from /proc from outside. */
struct clock_remote {
	const struct clock_files *files; /* by which it was seen */
	bool blocked;			 /* in a system call, `pc` and `sp` are valid */
	bool hidden;			 /* blocked, but the kernel does not tell us where */
	uint64_t pc, sp;
	long call; /* its number; -1: blocked outside a system call */
	uint64_t argument[6];
	uint64_t cpu_ns, delay_ns, slices;
	/* See clock_look_status: by a signal or a debugger; how often others took its processor. */
	bool stopped;
	char state; /* as the file has it */
	uint64_t preempted;
};
/* `dir` is from tasks_open(). What cannot be opened is as if it said nothing. */
void clock_files_open(struct clock_files *files, int dir, const struct thread *thread);
void clock_files_close(struct clock_files *files);
bool clock_look(const struct clock_files *files, struct clock_remote *remote);
/* Its two halves, in this order: the sums, and what the thread is blocked in, which costs as much.
 */
bool clock_look_sums(const struct clock_files *files, struct clock_remote *remote);
void clock_look_call(const struct clock_files *files, struct clock_remote *remote);
/* Says so in the log, once, where a wait was hidden; not in a handler. … In the child of a fork. */
void clock_warn_hidden(void);
void clock_forget_hidden(void);
/* What a thread waits for in a system call. After calls that cannot wait, it was stopped. */
enum format_state clock_call_state(long call);
/* One look, with files of its own. */
bool clock_look_at(const struct thread *thread, struct clock_remote *remote);

/* Fills in `stopped` and `preempted`: one more file, so only for a wait that is new. */
void clock_look_status(struct clock_files *files, int dir, const struct thread *thread,
		       struct clock_remote *remote);
/* The lines of such a file, each cut to what all that are wanted have room in. */
void clock_each_line(int fd, void (*take)(const char *line, void *arg), void *arg);

/* The clock id of a thread's CPU time, and that time up to this moment. */
long clock_cpu_id(int tid);
uint64_t clock_other_cpu_ns(int tid);

/* One of the calling thread's files in /proc, or a negative errno. */
int clock_open_own(const char *name);
/* The calling thread's run-queue delay; 0 where /proc does not tell. */
uint64_t clock_own_delay_ns(void);
/* Its two halves, for who asks often: a descriptor or a negative errno; false leaves the value. */
int clock_open_delay(void);
bool clock_read_delay(int fd, uint64_t *delay_ns);

/* It has not run since it was seen: what was read from its stack meanwhile is true. */
bool clock_still_waits(const struct clock_remote *remote);

#endif
