/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP: constructs, and what their executions took.  A row of format/kinds.h. */
#ifndef HELIO_FORMAT_KIND_OMP_H
#define HELIO_FORMAT_KIND_OMP_H

#include "format/trace.h"

#define FORMAT_FILE_OMP "omptrace"

/*
 * omptrace.  A *construct* is a directive as it was reached: by one call stack, in one other
 * construct.  It is recorded once, when a thread first encounters it, with that thread's call
 * stack: CONSTRUCT, with its number, kind, the construct that it is in (0: none), and the address
 * of the function that its code was made into (0: not known).
 *
 * REGION: executions of a parallel region, by the thread that encountered it, one or several that
 * followed each other: duration (ns, from the first one's begin to the last one's end, less what
 * lay between), how many, threads of the largest team, work (ns, of all threads together in the
 * region's code, less what they waited there, and less the duration of regions that they
 * encountered there), longest (ns, of the thread of each that had most).  Threads 0: one that had
 * not ended when the recording, or its thread, did; what its threads worked is not known.
 * TASKS: the same of explicit tasks, by the thread that executed them: duration, less that of tasks
 * that it executed meanwhile; how many; threads: 0; work: from their creation to their begin;
 * longest of that.
 *
 * CRITICAL, LOCK: waits of a thread for a critical section or a lock, by one call stack: its
 * address (that of the variable which has the section's name; 0: the section without a name),
 * duration (of all), how many, the id of the thread that had it (0: not known), the longest.
 * ATOMIC, ORDERED: the same of an atomic construct that the runtime has a lock for, and of an
 * ordered section, whose address is one of the runtime's that tells it from others.
 */
#define FORMAT_OMP_TYPES(X)                                                                        \
	X(CONSTRUCT, "construct")                                                                  \
	X(REGION, "region")                                                                        \
	X(TASKS, "tasks")                                                                          \
	X(CRITICAL, "critical section")                                                            \
	X(LOCK, "lock")                                                                            \
	X(ATOMIC, "atomic")                                                                        \
	X(ORDERED, "ordered section")

enum { OMP_NUMBER, OMP_DURATION, OMP_CALLS, OMP_THREADS, OMP_WORKED, OMP_LONGEST, OMP_FIELDS };
/* … of CONSTRUCT */
enum { OMP_KIND = OMP_CALLS, OMP_PARENT = OMP_THREADS, OMP_FUNCTION = OMP_WORKED };
/* … of CRITICAL, LOCK, ATOMIC and ORDERED */
enum { OMP_OBJECT = OMP_NUMBER, OMP_OWNER = OMP_THREADS, OMP_LONGEST_WAIT = OMP_WORKED };

#define X(name, text) OMP_##name,
enum format_omp_type { FORMAT_OMP_TYPES(X) OMP_TYPES };
#undef X

enum format_omp_construct { OMP_PARALLEL, OMP_TASK, OMP_TEAMS };

#define FORMAT_KIND_OMP                                                                            \
	{                                                                                          \
		.subject = "OpenMP", .title = "OpenMP", .option = "--openmp on",                   \
		.file = FORMAT_FILE_OMP, .name = "openmp", .key = 'O',                             \
		.duration = OMP_DURATION + 1,                                                      \
		.fields_text = "construct|object duration-ns|0 calls|kind threads|parent|owner "   \
			       "work-ns|function|longest-ns longest-ns",                           \
		.types = OMP_TYPES, .fields = OMP_FIELDS, .brief = {5, 6, 6, 5, 5, 5, 5},          \
		.encoding = {FIELD_NUMBER, FIELD_NUMBER, FIELD_NUMBER,                             \
			     FIELD_NUMBER, FIELD_NUMBER, FIELD_NUMBER},                            \
		.type_names = FORMAT_TYPE_NAMES(FORMAT_OMP_TYPES), .named_types = OMP_TYPES        \
	}

#endif
