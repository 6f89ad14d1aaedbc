/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What children have read and written is no part of their parent's use: the kernel adds it to the
 * parent's /proc/PID/io when the parent awaits them.  What its threads have, those that live and
 * those that have ended, is the process's own.
 */
#ifndef HELIO_COLLECTOR_CHILD_IO_H
#define HELIO_COLLECTOR_CHILD_IO_H

struct format_sample;

/* The program is about to await a child: from now on the threads that end are counted. */
void child_io_before_wait(void);
/* The calling thread ends, and does nothing more that is worth counting. */
void child_io_thread_end(void);
/* What the process has read and written itself; nothing is changed where that cannot be known. */
void child_io_read(struct format_sample *sample);
/* In the child of a fork. */
void child_io_forget(void);

#endif
