/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks one by one. */
#ifndef HELIO_ANALYSIS_VIEW_STACKS_H
#define HELIO_ANALYSIS_VIEW_STACKS_H

#include "analysis/tree/frame_list.h"
#include "analysis/views/table.h"

/*
 * The call stacks of the chosen events, each once, of whichever processes: the same functions at
 * the same addresses.  The columns are exclusive: rows and the rest add up to <Total>.
 */
struct stack_list {
	struct table table;	  /* <Total>, then a row for each, by the name of its leaf */
	struct frame_list frames; /* its stacks by row; <Total> has no frames */
	size_t rest_count;	  /* stacks that the query's limit leaves out … */
	double *rest;		  /* … and their values, by column */
	bool callers_first;
};
void view_stacks(struct session *session, const struct query *query, struct stack_list *list);
void stack_list_fini(struct stack_list *list);

#endif
