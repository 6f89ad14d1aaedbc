/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that the C library does not know of.
 *
 * A pthread would make libc believe that the program is threaded, and its
 * malloc and stdio slower for good.  A raw thread costs nothing but must not
 * use libc, thread-local variables, or signals: all are blocked in it.
 */
#ifndef HELIO_COLLECTOR_RAWTHREAD_H
#define HELIO_COLLECTOR_RAWTHREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Starts `run` on the given stack; it ends by rawthread_exit and never returns.
 * own_files: the thread gets its own copy of the descriptor table, out of the
 * program's sight.  Returns the thread id, or a negative errno. Safe in a handler.
 */
int rawthread_start(void (*run)(void), void *stack, size_t size, bool own_files);

/* Clears *flag and ends the thread without touching its stack again. */
_Noreturn void rawthread_exit(_Atomic unsigned *flag);

/* CPU time of those that have ended, in ns. */
uint64_t rawthread_ended_cpu_ns(void);

#endif
