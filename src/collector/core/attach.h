/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that began when the program ran already (`helio attach`). */
#ifndef HELIO_COLLECTOR_ATTACH_H
#define HELIO_COLLECTOR_ATTACH_H

#include <stdbool.h>

/* The process that attached to this one is gone without having ended the recording. */
bool attach_is_abandoned(void);

/* A runtime that is followed by a thread of its own where the program ran already. */
struct attach_runtime {
	/* Before threads are announced, in the thread that is stopped: must not wait. */
	void (*begin)(void);
	/* Asks it to end; false: it has not yet. */
	bool (*end)(void);
};
/* By a constructor. */
void attach_set_runtime(const struct attach_runtime *runtime);

#endif
