/* SPDX-License-Identifier: Apache-2.0 */
/* The begin and the end of a recording, and what comes in between. */
#ifndef HELIO_COLLECTOR_START_H
#define HELIO_COLLECTOR_START_H

#include "collector/storage/recording.h"

#include <stdbool.h>
#include <stdint.h>

/* The end of the process: accounts for all threads, writes the end sample. Once. */
void collector_finish(void);
/* Ends the recording of this process for good; the program goes on. */
void collector_terminate(void);
/* Ends the recording for good, and all that we do in this process and its descendants. */
void collector_disable(const char *reason);
/* Before exec, which ends this image with all its threads: returns up to when they are accounted
 * for. */
uint64_t collector_suspend(void);
/* When the exec failed after all. */
void collector_exec_failed(void);
/* Begins a new recording in the child of a fork. */
void collector_restart_after_fork(void);
/* Begins a recording in a program that runs already, all but its engine; `words` as in
 * format/attach.h.  0, or a negative errno. */
int collector_begin_late(const char *words);
/* Unmaps the files of a recording that has ended; in_use as of blockfile_abandon. */
void collector_drop_files(bool in_use);

#endif
