/* SPDX-License-Identifier: Apache-2.0 */
/* I/O tracing: calls that read, write, open, close or wait.  A row of format/kinds.h. */
#ifndef HELIO_FORMAT_KIND_IO_H
#define HELIO_FORMAT_KIND_IO_H

#include "format/trace.h"

#define FORMAT_FILE_IO "iotrace"

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

#define X(name, text) IO_##name,
enum format_io_type { FORMAT_IO_TYPES(X) IO_TYPES };
#undef X

/* Its parameter: on,NAMESPACE: the number of the mount namespace that `mounts` is of. */
#define FORMAT_KIND_IO                                                                             \
	{                                                                                          \
		.subject = "I/O", .title = "I/O Tracing", .option = "-i on", .is_wrapped = true,   \
		.needs_mounts = true, .duration = IO_WAITED + 1, .file = FORMAT_FILE_IO,           \
		.name = "io", .key = 'i',                                                          \
		.fields_text = "descriptor+1 waited-ns name bytes offset+1 errno",                 \
		.types = IO_TYPES, .fields = IO_FIELDS,                                            \
		.brief = {[IO_READ] = 4,  [IO_WRITE] = 4, [IO_OPEN] = 3,  [IO_CLOSE] = 3,          \
			  [IO_OTHER] = 3, [IO_WAIT] = 3,  [IO_SUBMIT] = 5},                        \
		.encoding = {FIELD_NUMBER, FIELD_NUMBER, FIELD_TEXT,                               \
			     FIELD_NUMBER, FIELD_NEAR,	 FIELD_NUMBER},                            \
		.type_names = FORMAT_TYPE_NAMES(FORMAT_IO_TYPES), .named_types = IO_TYPES          \
	}

#endif
