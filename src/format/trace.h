/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace files: what a thread did at single moments, one record each, in the blocks of
 * format.h with encoding FORMAT_TRACE.  One file per kind of data (format/kinds.h); all have the
 * same form:
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

enum {
	FORMAT_TRACE_TYPE_MASK = 0x1f,
	FORMAT_TRACE_TYPES_MAX = 0x20,
	FORMAT_TRACE_SAME_STACK = 0x20,
	FORMAT_TRACE_ALL_FIELDS = 0x40,
	FORMAT_TRACE_TEXT = 0x85,
	FORMAT_TRACE_RELEASE = 0x86,
};

enum { TRACE_FIELDS_MAX = 12 };

enum trace_encoding {
	FIELD_NUMBER = 1, /* as it is */
	FIELD_NEAR,	  /* zigzag: difference to the field's previous value in this block */
	FIELD_TEXT,	  /* number of a text; 0: none */
};

/*
 * The names of a kind's types, by their numbers: of a list as FORMAT_HEAP_TYPES, which takes a
 * macro of two arguments.
 */
#define FORMAT_TYPE_NAME(name, text) text,
#define FORMAT_TYPE_NAMES(list)	     ((const char *const[]){list(FORMAT_TYPE_NAME)})

#endif
