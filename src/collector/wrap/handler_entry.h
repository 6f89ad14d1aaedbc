/* SPDX-License-Identifier: Apache-2.0 */
/* The program's signal handlers, entered through a wrapper of ours. */
#ifndef HELIO_COLLECTOR_HANDLER_ENTRY_H
#define HELIO_COLLECTOR_HANDLER_ENTRY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* sigaction(2) and the older calls, for signals that are not ours; `next` is the call itself. */
int handler_entry_sigaction(int number, const struct sigaction *action, struct sigaction *old);
__sighandler_t handler_entry_signal(int number, __sighandler_t handler,
				    __sighandler_t (*next)(int, __sighandler_t));

/* The program's handler of a signal that has the wrapper; NULL: none so far. */
const void *handler_entry_handler(int number);

/*
 * A signal of ours is taken (open), or the program has a handler for it: handlers that block it
 * are entered with it open, or blocked again.
 */
void handler_entry_follow(int ours, bool open);

/* Handlers, of this set, that were installed before we could see it. Before ours are installed. */
void handler_entry_all(uint64_t handled);

#endif
