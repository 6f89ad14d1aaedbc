/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns beside columns: experiments compared, and how far a sampled value may be off.
 * Private to this module.
 *
 * A view fills a table from the weights of a tally.  To compare, it is run again with that of the
 * events of one experiment at a time, and for standard errors with that of the squares of the
 * events' values; the rows are then found again in these tables.  So no view has to know of either.
 */
#ifndef HELIO_ANALYSIS_COMPARE_H
#define HELIO_ANALYSIS_COMPARE_H

#include "analysis/tree/tally.h"

/* By what a row is known to be the same in another table of the view. */
enum row_identity {
	ROWS_BY_ID,
	ROWS_BY_NAME, /* their ids are of one table only */
	ROWS_BY_PATH, /* the same in a tree: the names from the root */
};

/* What tables of differences, which have an order of their own, may do with the rows. */
enum row_order {
	ORDER_FIXED, /* nothing */
	ORDER_LIST,  /* <Total>, then rows in the order of the sort metric */
	ORDER_TREE,  /* rows directly behind the one they lie below, by depth; siblings in order */
};

struct view {
	void (*fill)(struct tally *tally, const struct query *query, const void *arg,
		     struct table *table);
	const void *arg;
	const void *whole; /* arg of the tables that rows are looked up in: leaves nothing out */
	enum row_identity identity;
	enum row_order order;
};

void view_run(struct session *session, const struct query *query, const struct view *view,
	      struct table *table);

/*
 * compare_order.c: puts rows in the order of their changes, siblings in a tree.  change: by row, of
 * which there is one at least.
 */
void compare_order_list(struct table *table, const double *change, const struct query *query);
void compare_order_tree(struct table *table, const double *change, const struct query *query);

#endif
