/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank of MPI may run on another machine than its launcher, whose CLOCK_MONOTONIC shows something
 * else.  Its times then count from where time 0 of the recording was by both machines' wall clocks,
 * and its log says which clock they are of, by which readers place them exactly.
 */
#ifndef HELIO_COLLECTOR_OTHER_CLOCK_H
#define HELIO_COLLECTOR_OTHER_CLOCK_H

#include <stdbool.h>

struct text;

/* PARAMS_MACHINE, read behind PARAMS_START. */
void other_clock_read_param(const char *value);
bool other_clock_is_so(void);
/* For the log: attributes of its root, and what machine this is; nothing on the launcher's. */
void other_clock_put(struct text *line);
void other_clock_put_system(struct text *line);

#endif
