/* SPDX-License-Identifier: Apache-2.0 */
/* What became of each sampled object of Java: rows of jheaptrace, matched up by their numbers. */
#ifndef HELIO_EXPERIMENT_OBJECTS_H
#define HELIO_EXPERIMENT_OBJECTS_H

#include "experiment/trace.h"

struct collections;

/* Of an allocation.  From OBJECT_NEW on it was not found dead up to the end. */
enum object_fate {
	OBJECT_NONE, /* the row is no allocation */
	OBJECT_COLLECTED,
	OBJECT_NEW,  /* no collection began after it */
	OBJECT_KEPT, /* some did */
};

struct experiment_objects {
	uint8_t *fate;	    /* by row of the trace: enum object_fate; NULL: there are no rows */
	uint64_t unmatched; /* that died and are not known */
};

void experiment_objects_match(struct experiment_objects *objects,
			      const struct experiment_trace *trace,
			      const struct collections *collections);
void experiment_objects_fini(struct experiment_objects *objects);

#endif
