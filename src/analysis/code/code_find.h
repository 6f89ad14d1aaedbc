/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and source files that are known, whether events touched them or not. */
#ifndef HELIO_ANALYSIS_CODE_FIND_H
#define HELIO_ANALYSIS_CODE_FIND_H

#include "analysis/session/functions.h"

/*
 * As view_find_functions(), those too that no event touched; or, if there are none, source files
 * whose path ends so, with function CODE_NONE; "FUNCTION'FILE'" is a file that the function has
 * code from.
 */
size_t view_find_code(struct session *session, const struct query *query, const char *name,
		      struct function_match **out);
/* The source files that known functions begin in; the caller frees *out. */
size_t session_files(struct session *session, struct function_match **out);
/* All known functions of load objects; the caller frees *out. */
size_t session_functions(struct session *session, struct function_match **out);
/* The known functions of a source file in the order in which they were met; to be freed. */
size_t session_functions_of_file(struct session *session, uint32_t object, uint32_t file,
				 uint32_t **out);

/* Everything `fsingle` and `fsummary` print of one function. Strings live as long as the session.
 */
struct function_summary {
	const char *name;
	const char *mangled;
	const char *aliases; /* or NULL */
	const char *load_object;
	const char *source_file; /* or NULL */
	const char *object_file; /* or NULL */
	uint64_t size;
	uint64_t address;
	uint32_t segment; /* number of the load object, for SEGMENT:0xADDR */
};
void session_function_summary(struct session *session, uint32_t function,
			      struct function_summary *summary);

#endif
