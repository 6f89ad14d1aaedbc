/* SPDX-License-Identifier: Apache-2.0 */
/* The views of data objects: data/data_object.h. */
#ifndef HELIO_ANALYSIS_VIEW_DATA_H
#define HELIO_ANALYSIS_VIEW_DATA_H

#include "analysis/data/data_object.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct diag_list;
struct function_match;
struct query;
struct session;
struct table;

/*
 * <Total>, then all data objects that any event touched, in the order of the query; exclusive
 * metrics, of counters with data addresses only.  STATUS_NOTFOUND: the experiments hold none; diags
 * says so.  The table has `resolved`.
 */
enum status view_data_objects(struct session *session, const struct query *query,
			      struct table *table, struct diag_list *diags);

/*
 * The aggregates in that order, each followed by its elements by offset, those too that no event
 * touched.  Names of elements tell offset and size, and how they lie in blocks of 32
 * bytes; a row without values is where a line of the cache (64 bytes) begins.
 */
enum status view_data_layout(struct session *session, const struct query *query,
			     struct table *table, struct diag_list *diags);

/* One data object, for `data_single`. Strings live as long as the session. */
struct data_object_info {
	const char *name;
	enum data_object_kind kind;
	const char *scope;	 /* function, source file or load object; "": all */
	const char *load_object; /* path, or NULL */
	uint64_t address;	 /* of a variable, in the load object; 0: none */
	uint64_t size;		 /* bytes; 0: not known */
	const char *description; /* of a reason, or NULL */
	/* of a block: who allocated it, innermost first */
	const char *const *frames;
	size_t depth;
};
/*
 * Data objects by name: exact; else those whose variable, member or type has the name, "i" for
 * "{structure:foo_t}.{int i}", "foo_t" for "{structure:foo_t}"; or all of it without the braces.  A
 * match's `function` is the object's number; the caller frees *out.
 */
size_t session_find_data(struct session *session, const char *name, struct function_match **out);
void session_data_object(struct session *session, uint32_t object, struct data_object_info *info);
/* The values of the query's metrics: a table of one row. */
enum status view_data_object(struct session *session, const struct query *query, uint32_t object,
			     struct table *table, struct diag_list *diags);

#endif
