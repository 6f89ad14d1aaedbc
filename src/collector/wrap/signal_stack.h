/* SPDX-License-Identifier: Apache-2.0 */
/* Which stack our handlers run on. */
#ifndef HELIO_COLLECTOR_SIGNAL_STACK_H
#define HELIO_COLLECTOR_SIGNAL_STACK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* The thread's alternate one, where it has one. */
bool signal_stack_is_alternate(void);

/* Before our handlers are installed: what the program has installed so far.  Takes the loader's
 * lock.  Returns the set of signals that have handlers. */
uint64_t signal_stack_look(void);

/* The program has set this action; NULL: it has only asked. */
void signal_stack_note(int number, const struct sigaction *action);

#endif
