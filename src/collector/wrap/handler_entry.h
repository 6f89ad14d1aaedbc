/* SPDX-License-Identifier: Apache-2.0 */
/* The program's signal handlers, entered through a gate of ours. */
#ifndef HELIO_COLLECTOR_HANDLER_ENTRY_H
#define HELIO_COLLECTOR_HANDLER_ENTRY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* sigaction(2) and the older calls, for signals that are not ours; `next` is the call itself. */
int handler_entry_sigaction(int number, const struct sigaction *action, struct sigaction *old);
__sighandler_t handler_entry_signal(int number, __sighandler_t handler,
				    __sighandler_t (*next)(int, __sighandler_t));

/* Whether there is room for a signal of ours on the alternate stack, if that is where we are. */
bool handler_entry_has_room(const ucontext_t *context);

/* Whether the kernel's handler of a signal is the gate. Safe in a handler. */
bool handler_entry_is(const void *handler);

/* The program's handler of a signal that has the gate; NULL: none so far. */
const void *handler_entry_handler(int number);

/*
 * A signal of ours is taken (open), or the program has a handler for it: handlers that block it
 * are entered with it open, or blocked again.
 */
void handler_entry_follow(int ours, bool open);

/* Handlers, of this set, that were installed before we could see it. Before ours are installed. */
void handler_entry_all(uint64_t handled);

#endif
