/* SPDX-License-Identifier: Apache-2.0 */
/* Records of time: what a thread's account has pending, at a call stack. */
#ifndef HELIO_COLLECTOR_CLOCK_RECORD_H
#define HELIO_COLLECTOR_CLOCK_RECORD_H

#include "format/format.h"

#include <stdint.h>

struct runtime_context;
struct thread;

/*
 * Charges `*pending_ns` to a stack in whole microseconds, and leaves the rest.  `then`: the context
 * when the stack was taken; NULL: it is the one of now.
 */
void clock_record(struct thread *thread, enum format_state state, int64_t *pending_ns,
		  uint32_t stack, const struct runtime_context *then);

#endif
