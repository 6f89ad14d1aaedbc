/* SPDX-License-Identifier: Apache-2.0 */
/* Views of functions and of what holds them: load objects. */
#ifndef HELIO_ANALYSIS_VIEW_FUNCTIONS_H
#define HELIO_ANALYSIS_VIEW_FUNCTIONS_H

#include "analysis/views/table.h"

/* The function list, <Total> first. */
void view_functions(struct session *session, const struct query *query, struct table *table);
/* Load objects with exclusive and inclusive metrics; <Unknown> holds what belongs to none. */
void view_objects(struct session *session, const struct query *query, struct table *table);
/* Exclusive and inclusive value of a metric for a function, and the totals. */
void view_function_values(struct session *session, const struct query *query, uint32_t function,
			  const struct metric *metric, double *exclusive, double *inclusive,
			  double *total);

#endif
