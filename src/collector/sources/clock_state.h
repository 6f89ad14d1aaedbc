/* SPDX-License-Identifier: Apache-2.0 */
/* In which state a thread spent the time before an event, by where it is then. */
#ifndef HELIO_COLLECTOR_CLOCK_STATE_H
#define HELIO_COLLECTOR_CLOCK_STATE_H

#include "format/format.h"

#include <stdbool.h>

struct clock_account;
struct thread;
struct unwind_regs;

/* What a tick, or the end of a wait, at these registers stands for. */
enum format_state clock_cpu_state(struct thread *thread, const struct unwind_regs *regs);
enum format_state clock_wait_state(const struct clock_account *clock,
				   const struct unwind_regs *regs);
/* Whether a signal has met the calling thread in a system call. */
bool clock_is_in_call(const struct unwind_regs *regs);

#endif
