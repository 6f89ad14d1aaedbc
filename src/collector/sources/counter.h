/* SPDX-License-Identifier: Apache-2.0 */
/* Counter overflow profiling, as the rest of the collector sees it. */
#ifndef HELIO_COLLECTOR_COUNTER_H
#define HELIO_COLLECTOR_COUNTER_H

#include "collector/core/core.h"

/*
 * An overflow of a counter, in the handler of SIGTRAP, which says where the data was that the
 * event was about (0: unknown), and whether it had to wait for the end of a handler.
 * `thread` is locked; NULL: its state could not be had.
 */
void counter_overflow(struct thread *thread, uint64_t number, uint64_t address, bool waited,
		      const struct unwind_regs *regs);

/* Before exec: nothing may be pending; … when the exec failed. */
void counter_pause(void);
void counter_resume(void);
/* In the child of a fork, whose events these are not; and at the end of a recording. */
void counter_forget(void);

#endif
