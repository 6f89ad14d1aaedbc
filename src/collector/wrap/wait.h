/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that our signals interrupt: the program must not notice. */
#ifndef HELIO_COLLECTOR_WAIT_H
#define HELIO_COLLECTOR_WAIT_H

#include <signal.h>
#include <stdbool.h>

/*
 * The last act of a handler of ours, with the context that it got: a call that the
 * signal has ended goes on.  `sent`: the signal came from another thread, at any moment;
 * else from a clock or event of the thread itself, which comes after a call and cannot end one.
 * May itself wait, as long as the call would: the caller holds nothing.
 */
void wait_go_on(void *context, bool sent);

/*
 * A handler of the program for `signal` is about to get this context; or, where the
 * kernel knows our handler only, what the program set for the signal that we got.
 */
void wait_meets_handler(int signal, void *context);
void wait_meets_forwarded(const struct sigaction *program, void *context);

/* Whether the signal may have come because the interrupted call has a mask of its own. */
bool wait_lets_in(const void *context, int signal);

#endif
