/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that take signals by hand (sigwait), in a program that was attached to. */
#ifndef HELIO_COLLECTOR_CLOCK_SIGWAIT_H
#define HELIO_COLLECTOR_CLOCK_SIGWAIT_H

struct clock_remote;
struct thread;

/*
 * Where none of our wrappers stands between (`helio attach`) sigwait would hand out ours: what
 * blocks them, and waits so, gets none.  Such a thread hardly does anything else; what it does has
 * no call stack, and not the one of its last tick.
 */
void sigwait_note(struct thread *thread, const struct clock_remote *remote);
/* Warns in the log, once, that such a thread has computed for long without a tick. */
void sigwait_warn(const struct thread *thread, const struct clock_remote *remote);
void sigwait_forget(void);

#endif
