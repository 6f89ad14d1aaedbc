/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory objects: what the memory system consists of, addresses, cache lines and pages.  They are
 * index objects over the data addresses of events (VADDR), and show the counters that have
 * such.
 */
#ifndef HELIO_ANALYSIS_MEMORY_OBJECT_H
#define HELIO_ANALYSIS_MEMORY_OBJECT_H

#include "analysis/index.h"

/* As index_at, index_find and index_define.  An expression over VADDR or PADDR is <Unknown> where
 * there is no such address: VADDR below 256, PADDR 0. */
bool memory_at(const struct session *session, size_t index, struct index_info *info);
size_t memory_find(const struct session *session, const char *name);
enum status memory_define(struct session *session, const char *name, const char *expression,
			  struct diag_list *diags);

/* The same for a machine model, and forgets all that the one before brought. */
enum status memory_define_for_model(struct session *session, const char *name,
				    const char *expression, struct diag_list *diags);
void memory_forget_model(struct session *session);

/*
 * As view_index, with those of the query's metrics that are of counters with data addresses; if
 * there are none, with all such.  STATUS_NOTFOUND: the experiments hold none; diags says so.
 */
enum status view_memory(struct session *session, size_t index, const struct query *query,
			struct table *table, struct diag_list *diags);

#endif
