/* SPDX-License-Identifier: Apache-2.0 */
/* The second part of wait.c: what makes a call in the program's place, and transfers. */
#ifndef HELIO_COLLECTOR_PARTIAL_TRANSFER_H
#define HELIO_COLLECTOR_PARTIAL_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>
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

/*
 * The signals, as a set of bits, that have come as well and are about to meet a handler of the
 * program; without `gated` only those whose handler has no gate.
 */
uint64_t wait_pending_handlers(const ucontext_t *context, bool gated);

/* The thread stands behind `call`: if it is a transfer that a signal cut short, does the rest. */
void transfer_finish(ucontext_t *context, long call);

#endif
