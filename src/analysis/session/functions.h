/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a session: which a name means, and what is known of one. */
#ifndef HELIO_ANALYSIS_FUNCTIONS_H
#define HELIO_ANALYSIS_FUNCTIONS_H

#include "base/status.h"
#include "format/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query;
struct session;

/* Ids of the functions that stand for something else than code: FUNCTION_UNKNOWN, … */
enum {
	FUNCTION_TOTAL,
#define X(number, name, text) FUNCTION_##name,
	FORMAT_PSEUDO_PCS(X)
#undef X
		FUNCTION_FIRST_REAL,
};

#define CODE_NONE UINT32_MAX /* no function, no file */

/*
 * Functions that a name means: all that have it as long, short or mangled name
 * or as an alias, with or without " [object]".  If there are none, those whose long name
 * goes on after it where a word ends: "f" for "f(int)" and "f.part.0"; if there are none of those
 * either, those that are called so in a namespace or class: "f" for "m::f(int)".
 */
struct function_match {
	uint32_t function;
	const char *name;   /* long */
	const char *object; /* load object path */
	uint64_t address, size;
	uint32_t object_id, file; /* of view_find_code(), for a listing_request */
};
/* The caller frees *out. Count 0: none. */
size_t view_find_functions(struct session *session, const struct query *query, const char *name,
			   struct function_match **out);

#endif
