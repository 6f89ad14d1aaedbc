/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data objects: what in the program's source an event's data address is, named by descriptors,
 * "{int i}", "{structure:foo_t}.{int i}".  An event counts for one data object, for the aggregates
 * that contain it, and for <Total>.
 */
#ifndef HELIO_ANALYSIS_DATA_OBJECT_H
#define HELIO_ANALYSIS_DATA_OBJECT_H

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

#endif
