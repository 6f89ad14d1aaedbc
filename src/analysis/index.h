/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index objects: events grouped by the value of an expression, one row per value, exclusive
 * metrics.  Threads, processors, samples and seconds are index objects; so is whatever the
 * user defines.
 */
#ifndef HELIO_ANALYSIS_INDEX_H
#define HELIO_ANALYSIS_INDEX_H

#include "analysis/view.h"

struct index_info {
	const char *name;
	const char *title; /* of many: "Threads" */
	const char *expression;
	bool predefined;
};

/* All of them, the predefined first; those only without a session. False after the last. */
bool index_at(const struct session *session, size_t index, struct index_info *info);
/* The number of the one of that name, letters' case aside; SIZE_MAX: there is none. */
size_t index_find(const struct session *session, const char *name);
/*
 * Defines one, or gives one of the user's another meaning.  The name is of letters, digits and
 * underscores; title NULL: the name.  STATUS_INVALID: diags says what is wrong.
 */
enum status index_define(struct session *session, const char *name, const char *expression,
			 const char *title, struct diag_list *diags);
/*
 * The rows, <Total> first.  Sorted by a static metric they come in the order of the index
 * itself.  Events for which the expression is unknown or -1 are <Unknown>.
 */
void view_index(struct session *session, size_t index, const struct query *query,
		struct table *table);

#endif
