/* SPDX-License-Identifier: Apache-2.0 */
/* What makes a call in the program's place. */
#ifndef HELIO_COLLECTOR_WAIT_CALL_H
#define HELIO_COLLECTOR_WAIT_CALL_H

#include <ucontext.h>

struct request {
	long call, a, b, c, d, e, f;
};

/*
 * A system call made for the program, in our handler with the mask of the interrupted
 * code: what would interrupt it there does so here.  Our own signals wait.  `call` is
 * what the program had called.
 */
long wait_make_call(const ucontext_t *context, long call, const struct request *request);

/* The same without a note of what the program had called. */
long wait_call_closed(const ucontext_t *context, const struct request *request);

#endif
