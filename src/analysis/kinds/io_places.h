/* SPDX-License-Identifier: Apache-2.0 */
/* What file system each event of I/O was on. Private to this module. */
#ifndef HELIO_ANALYSIS_IO_PLACES_H
#define HELIO_ANALYSIS_IO_PLACES_H

#include "analysis/session/session_state.h"
#include "base/hash.h"

enum { IO_PLACE_UNKNOWN = 24 };

struct io_places {
	/* Types by number: the old tools' for those that they knew, then as they come. */
	struct string_table types;
	uint32_t **of; /* by process of the session, then by the number of a name in its trace */
	size_t processes;
};

/* Made when it is first asked for; lives as long as the session. */
const struct io_places *io_places_of(struct session *session);
void io_places_free(struct io_places *places);

#endif
