/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory objects: what the memory system consists of, addresses, cache lines and pages.  They are
 * index objects over the data addresses of events (VADDR), and show the counters that have
 * such.
 */
#ifndef HELIO_ANALYSIS_MEMORY_OBJECT_H
#define HELIO_ANALYSIS_MEMORY_OBJECT_H

#include "analysis/index/index.h"
#include "base/status.h"

#include <stddef.h>

struct query;
struct session;
struct table;

/*
 * A query with those of another's metrics that are of counters with data addresses; if there are
 * none, with all such.  Its list is the caller's to free.  STATUS_NOTFOUND: as below.
 */
enum status memory_query(const struct session *session, const struct query *from, struct query *to,
			 struct diag_list *diags);

/*
 * As view_index, with those of the query's metrics that are of counters with data addresses; if
 * there are none, with all such.  STATUS_NOTFOUND: the experiments hold none; diags says so.
 */
enum status view_memory(struct session *session, size_t index, const struct query *query,
			struct table *table, struct diag_list *diags);

#endif
