/* SPDX-License-Identifier: Apache-2.0 */
/* Who calls whom. */
#ifndef HELIO_ANALYSIS_VIEW_CALLERS_H
#define HELIO_ANALYSIS_VIEW_CALLERS_H

#include "analysis/views/table.h"

/*
 * One block per function, callers above, callees below; flavour attributed, the
 * centre's values exclusive.  With recursion an event counts for the innermost
 * occurrence of the function on its stack, so that for every function the
 * callers' values and the centre's with the callees' both add up to the
 * inclusive metric.  The block of <Total> has callees only.  A limit is one of blocks.
 */
void view_callers_callees(struct session *session, const struct query *query, struct table *table);
/*
 * The callers and callees of a stack fragment: functions of which each calls the next.  An
 * event counts for the innermost place where the whole fragment is on its stack.  One block;
 * the fragment's functions are its centre, the last of them with what it did itself, so that
 * the callers' values and the centre's with the callees' both add up to the base.  A fragment
 * of one function gives the same as its block above.
 */
void view_callers_callees_of(struct session *session, const struct query *query,
			     const uint32_t *fragment, size_t count, struct table *table);

#endif
