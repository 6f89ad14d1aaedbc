/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of this process as the kernel lists them. */
#ifndef HELIO_COLLECTOR_TASKS_H
#define HELIO_COLLECTOR_TASKS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The directory of them.  TASKS_BY_PATH in a program that may have moved its root, where no
 * directory is held: each file is opened by its path, or asked for.  Or a negative errno.
 */
enum { TASKS_BY_PATH = -1000000 };
int tasks_open(void);
bool tasks_are_open(int dir);
/*
 * The same in a raw thread with a descriptor table of its own, in which nothing else stays open:
 * the table is a copy, and to hold the program's pipes open would change it.
 */
int tasks_open_alone(void);

/* Calls visit for the number of each. `dir` is from above. False: nobody knows them. */
bool tasks_for_each(int dir, void (*visit)(int tid, void *arg), void *arg);

/*
 * What the process, or the calling thread, is called in /proc: where that is of a pid namespace
 * above ours, by another number than its own.
 */
int tasks_process_number(void);
int tasks_own_number(void);

/* Whether a thread's number is also the name of a directory in /proc. */
bool tasks_have_own_place(void);
/*
 * Opens a file of a thread, if it is the same for the thread and at the thread's own place in /proc
 * (`stat` there would be the whole process's); `dir` is from above, or TASKS_BY_PATH.  Of a process
 * that is not dumpable some are root's, which the launcher may be.  Or a negative errno.
 */
int tasks_open_file(int dir, int tid, const char *name);

/*
 * Reads the file of that name in the directory of the thread, as a text; a longer one is cut.
 * Empty where it cannot be read.
 */
void tasks_read(int tid, const char *file, char *text, size_t size);

/* Whether the thread is a zombie: it has ended and is still listed. *status: what it ended with. */
bool task_has_ended(int tid, int *status);

/* Whether a debugger or tracer is attached to the thread. */
bool task_is_traced(int tid);

#endif
