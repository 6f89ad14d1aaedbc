/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that the kernel would continue. */
#ifndef HELIO_COLLECTOR_WAIT_RESTART_H
#define HELIO_COLLECTOR_WAIT_RESTART_H

#include <stdbool.h>
#include <ucontext.h>

/* The interrupted call goes on, in our handler. Its result. */
long wait_restart(ucontext_t *context, long call);

/*
 * False: the context is not that of such a wait.  True: it is, and is over; else does not return,
 * but goes on with it.
 */
bool wait_goes_on_again(ucontext_t *context);

/* Where the program was: not in the context of a handler of ours that is on top of another. */
const void *wait_program_context(const void *context);

#endif
