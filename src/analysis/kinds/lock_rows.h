/* SPDX-License-Identifier: Apache-2.0 */
/* The name of the lock that each wait was for. Private to this module. */
#ifndef HELIO_ANALYSIS_LOCK_ROWS_H
#define HELIO_ANALYSIS_LOCK_ROWS_H

#include "analysis/session/session_state.h"
#include "base/hash.h"

/* No wait for a lock; one for what is known by its address only. */
enum { LOCK_ROW_NONE, LOCK_ROW_UNNAMED };

struct lock_rows {
	struct string_table names; /* as in the list of locks, without the kinds of waits */
	/* by process of the session, then by row; NULL: it has none */
	uint32_t **of_sync, **of_omp;
	size_t processes;
};

/* Made when it is first asked for; lives as long as the session. */
const struct lock_rows *lock_rows_of(struct session *session);
void lock_rows_free(struct lock_rows *rows);

#endif
