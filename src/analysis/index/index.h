/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index objects: events grouped by the value of an expression, one row per value, exclusive
 * metrics.  Threads, processors, samples and seconds are index objects; so is whatever the
 * user defines.
 */
#ifndef HELIO_ANALYSIS_INDEX_H
#define HELIO_ANALYSIS_INDEX_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct query;
struct session;
struct table;

struct index_info {
	const char *name;
	const char *title; /* of many: "Threads" */
	const char *expression;
	bool predefined;
	bool by_model; /* of the machine: index_define_for_model */
};

/* Objects of one name may be in both. Memory objects are about data addresses: memory_object.h. */
enum index_family { INDEX_OBJECTS, MEMORY_OBJECTS, INDEX_FAMILIES };

/* All of a family, the predefined first; those only without a session. False after the last. */
bool index_at(const struct session *session, enum index_family family, size_t index,
	      struct index_info *info);
/* The number of the one of that name, letters' case aside; SIZE_MAX: there is none. */
size_t index_find(const struct session *session, enum index_family family, const char *name);
/*
 * Defines one, or gives one of the user's another meaning.  The name is of letters, digits and
 * underscores; title NULL: the name.  STATUS_INVALID: diags says what is wrong.  That of a memory
 * object is <Unknown> where there is no such address: VADDR below 256, PADDR 0.  Not while other
 * threads ask.
 */
enum status index_define(struct session *session, enum index_family family, const char *name,
			 const char *expression, const char *title, struct diag_list *diags);
/* The same for a memory object of a machine model, and forgets all that the one before brought. */
enum status index_define_for_model(struct session *session, const char *name,
				   const char *expression, struct diag_list *diags);
void index_forget_model(struct session *session);
/*
 * The rows, <Total> first.  Sorted by a static metric they come in the order of the index
 * itself, as do moments (seconds, samples), sizes and durations where no order was chosen.  Events
 * for which the expression is unknown or -1 are <Unknown>; diags says so where that are all, for
 * lack of data.
 */
void view_index(struct session *session, size_t index, const struct query *query,
		struct table *table, struct diag_list *diags);

/* One row per thread, "Process 1, Thread 2 (tid 123)", with exclusive metrics. */
void view_threads(struct session *session, const struct query *query, struct table *table);

#endif
