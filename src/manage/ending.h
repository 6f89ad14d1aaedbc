/* SPDX-License-Identifier: Apache-2.0 */
/* What the last line of a recording says besides what the launcher has counted. */
#ifndef HELIO_MANAGE_ENDING_H
#define HELIO_MANAGE_ENDING_H

#include "format/kinds.h"

#include <stdint.h>

struct manage_ending {
	uint64_t archive_bytes;
	char *unrecorded; /* "static 0.800 s of CPU time, …"; NULL: all was recorded */
	char *failed; /* "the experiment could not grow: …", as helio print has it; NULL: nothing */
	uint64_t uncounted; /* clock events of processes that could not count them at their end */
	uint64_t uncounted_us;			/* of CPU time in them */
	uint64_t uncounted_own_us;		/* that measuring took in them, as far as known */
	uint64_t uncounted_traced[TRACE_KINDS]; /* their events of each kind of trace */
};

/* Of an experiment whose directory is open, a folder of base/folder.h; path: for messages. */
void manage_ending_read(int folder, const char *path, struct manage_ending *ending);
void manage_ending_fini(struct manage_ending *ending);

#endif
