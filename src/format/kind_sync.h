/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronization tracing: waits for locks and the like.  A row of format/kinds.h. */
#ifndef HELIO_FORMAT_KIND_SYNC_H
#define HELIO_FORMAT_KIND_SYNC_H

#include "format/trace.h"

#define FORMAT_FILE_SYNC "synctrace"

/*
 * synctrace: from the request (time - waited) to the grant.  object: its address, or of a join the
 * thread's pthread_t; result: 0 or an errno; owner: the id of the thread that held it at the
 * request, or that is joined; 0: not known.  Of a monitor object is the number of
 * a text, the class.
 */
#define FORMAT_SYNC_TYPES(X)                                                                       \
	X(MUTEX, "mutex")                                                                          \
	X(CONDITION, "condition")                                                                  \
	X(READ_LOCK, "read lock")                                                                  \
	X(WRITE_LOCK, "write lock")                                                                \
	X(SEMAPHORE, "semaphore")                                                                  \
	X(BARRIER, "barrier")                                                                      \
	X(JOIN, "join")                                                                            \
	X(SPIN, "spin lock")                                                                       \
	X(FUTEX, "futex")                                                                          \
	X(MONITOR, "monitor")		/* of Java: a contended enter; object: text, its class */  \
	X(MONITOR_WAIT, "monitor wait") /* Object.wait */                                          \
	X(OTHER, "unknown")		/* only from other tools */
enum { SYNC_OBJECT, SYNC_WAITED, SYNC_RESULT, SYNC_OWNER, SYNC_FIELDS };

#define X(name, text) SYNC_##name,
enum format_sync_type { FORMAT_SYNC_TYPES(X) SYNC_TYPES };
#undef X

/*
 * SYNC_OTHER is only in other tools' files.  Its parameter: a threshold in ns; calibrate: to be
 * found at the start; all: also calls that need not wait; with ",n" behind it none of Java's
 * monitors, with ",j" these alone.
 */
#define FORMAT_KIND_SYNC                                                                           \
	{                                                                                          \
		.subject = "synchronization", .title = "Synchronization Tracing",                  \
		.option = "-s on", .is_wrapped = true, .duration = SYNC_WAITED + 1,                \
		.file = FORMAT_FILE_SYNC, .name = "sync", .key = 'S',                              \
		.fields_text = "object waited-ns errno owner", .types = SYNC_OTHER,                \
		.fields = SYNC_FIELDS, .brief = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},                 \
		.encoding = {FIELD_NEAR, FIELD_NUMBER, FIELD_NUMBER, FIELD_NEAR},                  \
		.type_names = FORMAT_TYPE_NAMES(FORMAT_SYNC_TYPES), .named_types = SYNC_TYPES      \
	}

#endif
