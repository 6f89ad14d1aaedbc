/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of this process (ulimit) that leave no room for a recording. */
#ifndef HELIO_LAUNCH_SCARCITY_H
#define HELIO_LAUNCH_SCARCITY_H

#include <stdbool.h>

/* Whether the program might not load with the collector: see format/params.h. */
bool scarce_memory(void);
/*
 * Why the program would not run beside this process, or no experiment can be written; NULL where
 * nothing stands against it.
 */
const char *scarce_room(void);

#endif
