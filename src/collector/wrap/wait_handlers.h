/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of the program that interrupted calls meet, as the kernel has them. */
#ifndef HELIO_COLLECTOR_WAIT_HANDLERS_H
#define HELIO_COLLECTOR_WAIT_HANDLERS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

struct kernel_action wait_action_of(int signal);
/* What has come and waits: in our handler all signals are blocked. */
uint64_t wait_pending_signals(void);
/* Those of a set that the program handles; without `wrapped` only where the handler has no wrapper.
 */
uint64_t wait_handled_signals(uint64_t set, bool wrapped);
/*
 * The signals, as a set of bits, that have come as well and are about to meet a handler of the
 * program; without `wrapped` only those whose handler has no wrapper.
 */
uint64_t wait_pending_handlers(const ucontext_t *context, bool wrapped);

#endif
