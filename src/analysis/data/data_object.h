/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data objects: what in the program's source an event's data address is, named by descriptors,
 * "{int i}", "{structure:foo_t}.{int i}".  An event counts for one data object, for the aggregates
 * that contain it, and for <Total>.
 */
#ifndef HELIO_ANALYSIS_DATA_OBJECT_H
#define HELIO_ANALYSIS_DATA_OBJECT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct function_match;
struct query;
struct session;
struct table;

/*
 * Why no data object is known: the elements of <Unknown>, some with elements of their own.  One
 * without a parent has itself in that place.
 */
#define DATA_REASONS_LIST(X)                                                                       \
	X(UNASCERTAINABLE, UNASCERTAINABLE, "(Unascertainable)",                                   \
	  "nothing can be known: no data address, or no debug information")                        \
	X(NO_ADDRESS, UNASCERTAINABLE, "(Unascertainable).(no data address)",                      \
	  "the event was recorded without a data address")                                         \
	X(NO_DEBUG, UNASCERTAINABLE, "(Unascertainable).(no debug information)",                   \
	  "the code, or the load object with the data, has no debug information")                  \
	X(UNVERIFIABLE, UNVERIFIABLE, "(Unverifiable)",                                            \
	  "the instruction is not known, or does not access the address that was recorded")        \
	X(UNRESOLVABLE, UNRESOLVABLE, "(Unresolvable)",                                            \
	  "the event came behind a call or jump, which hides what was accessed")                   \
	X(UNSPECIFIED, UNSPECIFIED, "(Unspecified)",                                               \
	  "the instruction names no memory, or only the stack that calls use")                     \
	X(FETCH, UNSPECIFIED, "(Unspecified).(instruction fetch)",                                 \
	  "what was accessed is the instruction itself")                                           \
	X(SYSTEM_CALL, UNSPECIFIED, "(Unspecified).(system call)",                                 \
	  "the kernel accessed it for a call of the program")                                      \
	X(UNIDENTIFIED, UNIDENTIFIED, "(Unidentified)",                                            \
	  "the pointer's type does not tell what it points to (void, a declaration)")              \
	X(UNDETERMINED, UNDETERMINED, "(Undetermined)",                                            \
	  "no variable or type follows from the debug information")                                \
	X(NO_VARIABLE, UNDETERMINED, "(Undetermined).(no variable)",                               \
	  "no variable leads to the register or the address that the instruction uses")            \
	X(OUTSIDE, UNDETERMINED, "(Undetermined).(outside the type)",                              \
	  "the offset is outside what the variable or pointer is declared as, or not known")       \
	X(PADDING, PADDING, "(Anon)", "padding between the members of an aggregate")

#define X(name, parent, text, description) DATA_##name,
enum data_reason { DATA_REASONS_LIST(X) DATA_REASONS };
#undef X

enum data_object_kind {
	DATA_OBJECT_TOTAL,
	DATA_OBJECT_SCALARS,
	DATA_OBJECT_UNKNOWN,
	DATA_OBJECT_REASON,
	DATA_OBJECT_SCALAR,
	DATA_OBJECT_AGGREGATE, /* a type */
	DATA_OBJECT_ELEMENT,   /* of an aggregate */
	DATA_OBJECT_VARIABLE,  /* one that is an aggregate or array, or of unknown type */
	DATA_OBJECT_BLOCK,     /* allocated memory, by the call stack that made it */
};
const char *data_object_kind_name(enum data_object_kind kind);

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
