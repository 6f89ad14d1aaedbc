/* SPDX-License-Identifier: Apache-2.0 */
/* Work that needs more stack than there may be. */
#ifndef HELIO_COLLECTOR_HANDLER_STACK_H
#define HELIO_COLLECTOR_HANDLER_STACK_H

#include <stdbool.h>

/* Calls it with NULL, on a stack of our own where this one is small; by one thread only. */
void run_with_room(void (*work)(void *));
/* Calls work(arg) on the stack that ends there, with all signals blocked. Safe in a handler. */
void run_on_stack(char *top, void (*work)(void *), void *arg);
/* Whether the caller is so near to what the first thread's stack can grow to that a handler has no
 * room there. */
bool room_is_at_end_of_first_stack(void);
/* Where the first thread's stack lies, and how large those of others are. */
void room_find_stacks(void);

#endif
