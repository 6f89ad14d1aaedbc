/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns beside columns: experiments compared, and how far a sampled value may be off.
 * Private to this room.
 *
 * A view fills a table from the session's weights.  To compare, it is run again with the
 * events of one experiment at a time, and for standard errors with the squares of the events'
 * values; the rows are then found again in these tables.  So no view has to know of either.
 */
#ifndef HELIO_ANALYSIS_COMPARE_H
#define HELIO_ANALYSIS_COMPARE_H

#include "analysis/session.h"

/* By what a row is known to be the same in another table of the view. */
enum row_identity {
	ROWS_BY_ID,
	ROWS_BY_NAME, /* their ids are of one table only */
	ROWS_BY_PATH, /* the same in a tree: the names from the root */
};

struct view {
	void (*fill)(struct session *session, const struct query *query, const void *arg,
		     struct table *table);
	const void *arg;
	const void *whole; /* arg of the tables that rows are looked up in: leaves nothing out */
	enum row_identity identity;
	bool is_list; /* <Total>, then rows in the order of the sort metric */
};

void view_run(struct session *session, const struct query *query, const struct view *view,
	      struct table *table);

#endif
