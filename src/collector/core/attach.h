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
	/* The recording is to end; false: it is needed for a little longer. */
	bool (*end)(void);
	/* Whether the thread is gone, which ends by itself when the recording is over. */
	bool (*ended)(void);
};
/* By a constructor. */
void attach_set_runtime(const struct attach_runtime *runtime);

#endif
