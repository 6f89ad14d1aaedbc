/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the kernel lets us measure with perf events, found out by trying. */
#ifndef HELIO_LAUNCH_PROBE_H
#define HELIO_LAUNCH_PROBE_H

#include "base/strbuf.h"

#include <stdbool.h>

/*
 * True if clock and context-switch events can be opened as the collector
 * opens them and their SIGTRAPs arrive; else `reason` says why not and what
 * would help.  Tries in a child of its own: signals and events stay there.
 */
bool probe_perf(struct strbuf *reason);

/*
 * Under strace or gdb each signal stops the program and so switches its context; an event of
 * context switches would raise the next signal then, and the program stand still.
 */
bool probe_is_traced(void);

/* Says why perf_event_open failed with `error`, and what would help. */
void probe_explain(int error, struct strbuf *reason);

#endif
