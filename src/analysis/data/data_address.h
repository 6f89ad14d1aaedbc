/* SPDX-License-Identifier: Apache-2.0 */
/* What addresses of a process are to people. Private to this module. */
#ifndef HELIO_ANALYSIS_DATA_ADDRESS_H
#define HELIO_ANALYSIS_DATA_ADDRESS_H

#include "analysis/session/session_state.h"

/* Where the load objects of a process have their data. Zero-initialised is empty. */
struct place_span {
	uint64_t start, end; /* in the process */
	uint64_t bias;
	uint32_t object;
};
struct place_spans {
	struct place_span *items; /* as they were mapped, the last one counts */
	size_t count, capacity;
};
void place_spans_read(struct session *session, const struct experiment *experiment,
		      const struct process *process, struct place_spans *spans);
/* The load object with data at an address, and the address in it; false: there is none. */
bool place_spans_find(struct session *session, const struct place_spans *spans, uint64_t address,
		      uint32_t *object, uint64_t *out);

/* Data of a load object. */
struct place {
	uint32_t object;
	uint64_t address; /* in the object */
	const char *name; /* "queue", "table + 0x40"; "<libx.so> + 0x4010" where no symbol is */
};
/* False: the address is in no load object's data. */
bool place_of_data(struct session *session, const struct experiment *experiment,
		   const struct process *process, uint64_t address, struct place *out);

#endif
