/* SPDX-License-Identifier: Apache-2.0 */
/* The begin and the end of a recording, and what comes in between. */
#ifndef HELIO_COLLECTOR_START_H
#define HELIO_COLLECTOR_START_H

#include "collector/core/recording.h"

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* The end of the process: accounts for all threads, writes the end sample. Once. */
void collector_finish(void);
/* Whether all that the program does, from the recording's begin on, is to be recorded. */
bool collector_records_all(void);
/* Accounts for the time of all threads up to now. */
void collector_settle_all(void);
void collector_settle_thread(struct thread *thread);
/* Ends the recording of this process for good; the program goes on. */
void collector_terminate(void);
/* Ends the recording for good, and all that we do in this process and its descendants. */
void collector_fall_silent(const char *reason);
/* Before exec, which ends this image with all its threads: returns up to when they are accounted
 * for. */
uint64_t collector_suspend(void);
/* When the exec failed after all. */
void collector_go_on(void);
/* Begins a new recording in the child of a fork. */
void collector_restart_after_fork(void);
/* Begins a recording in a program that runs already, all but its engine; `words` as in
 * format/attach.h.  0, or a negative errno. */
int collector_begin_late(const char *words);
/* Unmaps the files of a recording that has ended; in_use as of blockfile_abandon. */
void collector_drop_files(bool in_use);
/* Says in the log which engine is at work, and why not the one that was asked for. */
void collector_log_engine(enum engine asked, const char *reason);
/* CPU time of the program's threads since the recording began, ours taken out. */
uint64_t collector_cpu_ns(void);
/* True in the process whose recording this is, false in a child of vfork. */
bool collector_is_ours(void);

#endif
