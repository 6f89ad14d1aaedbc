/* SPDX-License-Identifier: Apache-2.0 */
/* The classes of sampled objects of Java: of one name there is one in a session, in whatever
 * process.  Private to this module. */
#ifndef HELIO_ANALYSIS_JAVA_CLASSES_H
#define HELIO_ANALYSIS_JAVA_CLASSES_H

#include "analysis/session/query.h"
#include "analysis/session/session_state.h"
#include "base/hash.h"

struct java_classes {
	struct string_table names; /* 0: not known */
	uint32_t **of_text;	   /* by process of the session, then by number of the text */
	size_t processes;
};

/* Made when it is first asked for; lives as long as the session. */
const struct java_classes *java_classes_of(struct session *session);
/* Of a text of a process's trace. */
uint32_t java_class_number(const struct java_classes *classes,
			   const struct session_process *process, uint64_t text);
/*
 * The query with the metrics of the Java heap where nobody has chosen any, sorted by one of them,
 * bytes allocated unless it says another: no other event has a class.  The caller frees its list
 * of metrics.
 */
struct query java_classes_query(const struct session *session, const struct query *query);
void java_classes_free(struct java_classes *classes);

#endif
