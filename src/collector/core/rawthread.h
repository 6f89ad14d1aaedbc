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

/*
 * Whether one that lives long may begin: under a low limit on the user's processes, which a thread
 * counts as, the program would find no room for its own.
 */
bool rawthread_may_stay(void);

/* None begins while this is on: rawthread_start says -EAGAIN. May be nested. */
void rawthread_forbid(bool on);

/* Whether there is one, or one that has not quite ended; of that number. */
bool rawthread_any(void);
bool rawthread_is(int tid);
/* Until those that have called rawthread_exit are gone, from /proc too. */
void rawthread_wait_gone(void);
/* In the child of a fork, which has none. */
void rawthread_forget_all(void);

/*
 * Whether all threads of the process but ours have ended: by system calls of their own, without an
 * exit of the process, which is over only with ours.  `dir` is from tasks_open_alone.  A thread
 * may be missed that begins meanwhile: only two such answers in a row count.
 */
bool rawthread_only_ours_are_left(int dir);

/* Clears *flag and ends the thread without touching its stack again. */
_Noreturn void rawthread_exit(_Atomic unsigned *flag);

/* The calling thread, one that lives long, says now and then what it has used. */
void rawthread_note_use(void);

/* CPU time of those that have ended, in ns, but for what the kernel took to end them; and how many
 * there were. */
uint64_t rawthread_ended_cpu_ns(void);
uint64_t rawthread_ended_count(void);

#endif
