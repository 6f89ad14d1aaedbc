/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the layers below ask of the wrappers of fork, of namespaces, of ends and the like: the
 * files of wrap/ that are named here define it, and no layer includes a header of one above it.
 */
#ifndef HELIO_COLLECTOR_WRAPPERS_H
#define HELIO_COLLECTOR_WRAPPERS_H

#include <stdbool.h>

struct thread;

/* tracer.c: whether this program traces others. */
bool tracer_is_one(void);

/* seccomp.c: a call that may restrict the program. */
void seccomp_before_syscall(long number, long a, long b, long c);

/* thread.c: the calling thread says when it ends, however it does. */
void thread_watch_end(struct thread *thread);

/* fork.c: once */
void process_install(void);
/* To be called before any clone(2) with these flags. */
void fork_before_clone(unsigned long flags);
/* Whether a child that clone(2) makes with these flags has memory and descriptors of its own. */
bool fork_has_own_memory(unsigned long flags);
/* The system call of that number, which makes such a child. */
long fork_by_number(long number, long a, long b, long c, long d, long e, long f);

/*
 * namespace.c: the experiment's paths are about to mean something else: from here on no directory
 * is held. As namespace_step_aside otherwise.
 */
bool namespace_before_move(void);
/* Of that what needs no thread to step aside: the launcher can be asked for files from then on. */
void namespace_prepare_to_move(void);
/* No thread of ours runs from here on; true: one did, and must come back. errno is kept. */
bool namespace_step_aside(void);
void namespace_come_back(bool aside);
/* In the child of a fork. */
void namespace_forget(void);

/* end.c */
void end_install(void);
/* The process ends now, where no destructor runs. */
void end_before(void);

#endif
