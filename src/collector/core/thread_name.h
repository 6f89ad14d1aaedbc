/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of threads, as the kernel has them (pthread_setname_np, prctl).  They are asked for when a
 * thread ends or the recording does: a name set meanwhile costs nothing.  Threads that are called
 * like the program's first one have none of their own.
 */
#ifndef HELIO_COLLECTOR_THREAD_NAME_H
#define HELIO_COLLECTOR_THREAD_NAME_H

struct thread;

/* When the recording of a program begins: what its threads are called if nobody names them. */
void thread_name_begin(void);
/* Writes down the name of the calling thread, which ends.  The caller holds its lock. */
void thread_name_end(struct thread *thread);
/* A runtime's longer name for the calling thread, in place of the kernel's; its first 63 bytes. Not
 * in a handler. */
void thread_name_is(const char *name);
/* The calling thread is one of Java, in this group of threads, which is in another. Not in a
 * handler.
 */
void thread_name_group(const char *group, const char *parent);
/* Writes down the names of all living threads. Not in a handler. */
void thread_name_all(void);

#endif
