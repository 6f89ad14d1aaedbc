/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of threads that have ended.  The C library keeps them mapped, with all that the thread
 * left there, for the next threads: no frame and no variable of a thread is in them any more.
 */
#ifndef HELIO_COLLECTOR_ENDED_STACK_H
#define HELIO_COLLECTOR_ENDED_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct ended_stack {
	uint64_t low;	     /* up to `descriptor` is what the thread used, its static TLS too */
	uint64_t descriptor; /* the C library's, up to `high` */
	uint64_t high;
	bool joined; /* … with nothing in it that anybody may ask for */
};

/* The calling thread begins, or is about to end.  size: as it was asked for; 0: the stack is the
 * program's own, or nothing is known of it. */
void ended_stack_forget(void);
void ended_stack_note(uint64_t size);
/* Those that are still the C library's, as far as can be told. */
void ended_stack_for_each(void (*visit)(const struct ended_stack *stack, void *arg), void *arg);

#endif
