/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace files: what a thread did at single moments, one record each, in the blocks of
 * format.h with encoding FORMAT_TRACE.  One file per kind of data; all have the same form:
 *
 *   tag u8     bits 0-4 the type, from the kind's list; 5 same stack; 6 all fields; 7 control
 *   dt         varint ns since the previous record's time in this block (at first the block's
 *              base_time, ns); the record's time is that of its end
 *   [stack]    zigzag: id - previous event's id in this block, unless bit 5, or the kind says
 *              that the type has none
 *   fields     the kind's, in order, each a varint of what its encoding says; without bit 6 only
 *              as many as the kind says for the type, and all others are 0
 *
 * Control records: FORMAT_TAG_THREAD: number varint: the events that follow are of that thread, at
 * first of the block's; FORMAT_TAG_CPU as in `profile`; FORMAT_TRACE_TEXT: number varint, length
 * varint, bytes: what a field of encoding FIELD_TEXT means by that number, in this file;
 * FORMAT_TRACE_RELEASE, in synctrace: dt varint as of an event, zigzag: the lock's address as a
 * near value of SYNC_OBJECT: then the thread began to release it while others waited for it.
 */
#ifndef HELIO_FORMAT_TRACE_H
#define HELIO_FORMAT_TRACE_H

#include "format/format.h"

#include <stddef.h>

enum {
	FORMAT_TRACE_TYPE_MASK = 0x1f,
	FORMAT_TRACE_TYPES_MAX = 0x20,
	FORMAT_TRACE_SAME_STACK = 0x20,
	FORMAT_TRACE_ALL_FIELDS = 0x40,
	FORMAT_TRACE_TEXT = 0x85,
	FORMAT_TRACE_RELEASE = 0x86,
};

enum { TRACE_FIELDS_MAX = 6 };

enum trace_encoding {
	FIELD_NUMBER = 1, /* as it is */
	FIELD_NEAR,	  /* zigzag: difference to the field's previous value in this block */
	FIELD_TEXT,	  /* number of a text; 0: none */
};

enum trace_kind { TRACE_HEAP, TRACE_SYNC, TRACE_IO, TRACE_COUNTER, TRACE_KINDS };

/* heaptrace */
#define FORMAT_HEAP_TYPES(X)                                                                       \
	X(MALLOC, "malloc")                                                                        \
	X(CALLOC, "calloc")                                                                        \
	X(REALLOC, "realloc")                                                                      \
	X(ALIGNED, "aligned")                                                                      \
	X(FREE, "free")                                                                            \
	X(MMAP, "mmap")                                                                            \
	X(MUNMAP, "munmap")                                                                        \
	X(MREMAP, "mremap")                                                                        \
	X(BRK, "brk")                                                                              \
	X(LOST, "lost")                                                                            \
	X(SEARCHED, "searched")
/*
 * old: of realloc and mremap, the block before.  A realloc that moves is two events, the free
 * and the realloc.  weight: how many allocations one of a sample stands for; 0: all are recorded.
 * brk: address: the new break, size: by how much it went up, 0: it went down.
 * Of the search for lost blocks at the end of a process: lost: size: enum format_heap_loss;
 * searched: address: live blocks that were looked at, size: lost ones
 */
enum { HEAP_ADDRESS, HEAP_SIZE, HEAP_OLD, HEAP_WEIGHT, HEAP_FIELDS };
/* Pointers to a block that was lost: none; only from lost blocks; only into its middle. */
enum format_heap_loss { HEAP_LOST_DEFINITELY = 1, HEAP_LOST_INDIRECTLY, HEAP_LOST_POSSIBLY };

/*
 * synctrace: from the request (time - waited) to the grant.  object: its address, or of a join the
 * thread's pthread_t; result: 0 or an errno; owner: the id of the thread that held it at the
 * request, or that is joined; 0: not known
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
	X(OTHER, "unknown") /* only from other tools */
enum { SYNC_OBJECT, SYNC_WAITED, SYNC_RESULT, SYNC_OWNER, SYNC_FIELDS };

/*
 * iotrace: descriptor: + 1, 0: none; waited: ns in the call; name: of the file or peer; bytes that
 * were transferred; offset: + 1, the place in the file that the call named, or, of an opening that
 * copies a descriptor, that one; 0: none; of a submit and a wait instead: how many requests it
 * handed to an io_uring; result: errno of a call that failed, else 0
 */
#define FORMAT_IO_TYPES(X)                                                                         \
	X(READ, "read")                                                                            \
	X(WRITE, "write")                                                                          \
	X(OPEN, "open")                                                                            \
	X(CLOSE, "close")                                                                          \
	X(OTHER, "other")                                                                          \
	X(WAIT, "wait")                                                                            \
	X(SUBMIT, "submit")
enum { IO_ERROR_UNKNOWN = 4095 }; /* an errno that other tools did not record */
enum { IO_DESCRIPTOR, IO_WAITED, IO_NAME, IO_BYTES, IO_OFFSET, IO_RESULT, IO_FIELDS };

/*
 * hwcounters: number: of the counter in log.xml; address: of the data, 0: unknown.  The types
 * after the first come once at the end of a process, their stacks are stand-ins.
 */
#define FORMAT_COUNTER_TYPES(X)                                                                    \
	X(OVERFLOW, "overflow")                                                                    \
	X(RECORDING, "recording")                                                                  \
	X(FINAL, "final")                                                                          \
	X(LOST, "lost")                                                                            \
	X(FROZEN, "frozen")
enum { COUNTER_NUMBER, COUNTER_VALUE, COUNTER_ADDRESS, COUNTER_FIELDS };

#define X(name, text) HEAP_##name,
enum format_heap_type { FORMAT_HEAP_TYPES(X) HEAP_TYPES };
#undef X
#define X(name, text) SYNC_##name,
enum format_sync_type { FORMAT_SYNC_TYPES(X) SYNC_TYPES };
#undef X
#define X(name, text) IO_##name,
enum format_io_type { FORMAT_IO_TYPES(X) IO_TYPES };
#undef X
#define X(name, text) COUNTER_##name,
enum format_counter_type { FORMAT_COUNTER_TYPES(X) COUNTER_TYPES };
#undef X

/* What reader and writer need to know of a kind. */
struct format_trace {
	const char *file;
	const char *setting;	 /* its name among the settings in log.xml */
	char key;		 /* in the collector's parameters */
	const char *fields_text; /* for people, in the file's header */
	unsigned types;
	unsigned fields;
	uint8_t brief[FORMAT_TRACE_TYPES_MAX]; /* by type: fields of a record without bit 6 */
	uint32_t stackless;		       /* a bit for each type without a call stack */
	enum trace_encoding encoding[TRACE_FIELDS_MAX];
};

static const struct format_trace format_traces[TRACE_KINDS] = {
	[TRACE_HEAP] = {.file = FORMAT_FILE_HEAPTRACE,
			.setting = "heap",
			.key = 'H',
			.fields_text = "address size old-address weight",
			.types = HEAP_TYPES,
			.fields = HEAP_FIELDS,
			.brief = {[HEAP_MALLOC] = 2,
				  [HEAP_CALLOC] = 2,
				  [HEAP_REALLOC] = 3,
				  [HEAP_ALIGNED] = 2,
				  [HEAP_FREE] = 1,
				  [HEAP_MMAP] = 2,
				  [HEAP_MUNMAP] = 2,
				  [HEAP_MREMAP] = 3,
				  [HEAP_BRK] = 2,
				  [HEAP_LOST] = 2,
				  [HEAP_SEARCHED] = 2},
			.stackless = 1u << HEAP_FREE | 1u << HEAP_LOST | 1u << HEAP_SEARCHED,
			.encoding = {FIELD_NEAR, FIELD_NUMBER, FIELD_NEAR, FIELD_NUMBER}},
	[TRACE_SYNC] = {.file = FORMAT_FILE_SYNCTRACE,
			.setting = "sync",
			.key = 'S',
			.fields_text = "object waited-ns errno owner",
			.types = SYNC_OTHER, /* in our own files */
			.fields = SYNC_FIELDS,
			.brief = {2, 2, 2, 2, 2, 2, 2, 2, 2},
			.encoding = {FIELD_NEAR, FIELD_NUMBER, FIELD_NUMBER, FIELD_NEAR}},
	[TRACE_IO] = {.file = FORMAT_FILE_IOTRACE,
		      .setting = "io",
		      .key = 'i',
		      .fields_text = "descriptor+1 waited-ns name bytes offset+1 errno",
		      .types = IO_TYPES,
		      .fields = IO_FIELDS,
		      .brief = {[IO_READ] = 4,
				[IO_WRITE] = 4,
				[IO_OPEN] = 3,
				[IO_CLOSE] = 3,
				[IO_OTHER] = 3,
				[IO_WAIT] = 3,
				[IO_SUBMIT] = 5},
		      .encoding = {FIELD_NUMBER, FIELD_NUMBER, FIELD_TEXT, FIELD_NUMBER, FIELD_NEAR,
				   FIELD_NUMBER}},
	[TRACE_COUNTER] = {.file = FORMAT_FILE_HWCOUNTERS,
			   .setting = "counters",
			   .key = 'h',
			   .fields_text = "counter value data-address",
			   .types = COUNTER_TYPES,
			   .fields = COUNTER_FIELDS,
			   .brief = {[COUNTER_OVERFLOW] = 2,
				     [COUNTER_RECORDING] = 2,
				     [COUNTER_FINAL] = 2,
				     [COUNTER_LOST] = 2,
				     [COUNTER_FROZEN] = 2},
			   .encoding = {FIELD_NUMBER, FIELD_NUMBER, FIELD_NEAR}},
};

#endif
