/* SPDX-License-Identifier: Apache-2.0 */
/* MPI tracing: calls of MPI functions, and the messages that they complete.  A row of
 * format/kinds.h. */
#ifndef HELIO_FORMAT_KIND_MPI_H
#define HELIO_FORMAT_KIND_MPI_H

#include "format/trace.h"

#define FORMAT_FILE_MPI "mpitrace"

/*
 * mpitrace: a record for each call of the program, at its end, and for what such a call begins or
 * completes beside itself: those come behind the call's record, with its time and call stack, no
 * duration and no function.
 *
 * duration: ns in the call; function: its name; communicator: as below; peer: MPI_PEER_NONE, …, or
 * MPI_PEER_RANK + the rank in the communicator of who sends or receives, or of a collective's root;
 * tag: MPI_TAG_NONE, MPI_TAG_ANY or MPI_TAG + the message's; sent, received: bytes by the
 * accounting of the seeds (a receive counts its buffer); request: the number of a receive that
 * was begun, or of a persistent request, 0: none; arrived:
 * bytes that came indeed; sends, receives: how many, of types that may be several; error: what the
 * call returned
 *
 * The text of a communicator or window is NAME#N:RANKS, or NAME#N:RANKS|RANKS of an
 * inter-communicator: the members' ranks in MPI_COMM_WORLD, in order, as numbers, ranges "a-b" and
 * ranges with a step "a-b+s"; behind | those of the other group.  N tells apart those with the same
 * members: all members give a communicator the same one, in the order in which they were made.
 * MPI_COMM_WORLD of four is "MPI_COMM_WORLD#0:0-3".
 */
#define FORMAT_MPI_TYPES(X)                                                                        \
	X(SEND, "send")                                                                            \
	X(SEND_BEGIN, "begin of a send")                                                           \
	X(RECEIVE, "receive")                                                                      \
	X(RECEIVE_BEGIN, "begin of a receive")                                                     \
	X(RECEIVED, "received")		/* a receive that was begun has got its message */         \
	X(EXCHANGE, "send and receive") /* its receive has a record of its own */                  \
	X(PREPARE, "persistent request")                                                           \
	X(START, "start")                                                                          \
	X(WAIT, "wait")                                                                            \
	X(TEST, "test")                                                                            \
	X(BARRIER, "barrier")                                                                      \
	X(COLLECTIVE, "collective")                                                                \
	X(ONE_SIDED, "one-sided")                                                                  \
	X(FILE, "file")                                                                            \
	X(MANAGE, "administration")
enum {
	MPI_DURATION,
	MPI_FUNCTION,
	MPI_COMMUNICATOR,
	MPI_PEER,
	MPI_TAG,
	MPI_SENT,
	MPI_RECEIVED_BYTES,
	MPI_REQUEST,
	MPI_ARRIVED,
	MPI_SENDS,
	MPI_RECEIVES,
	MPI_ERROR,
	MPI_FIELDS
};
enum { MPI_PEER_NONE, MPI_PEER_ANY, MPI_PEER_NOBODY, MPI_PEER_RANK };
enum { MPI_TAG_NONE, MPI_TAG_ANY, MPI_TAG_FIRST };

#define X(name, text) MPI_##name,
enum format_mpi_type { FORMAT_MPI_TYPES(X) MPI_TYPES };
#undef X

/* Its parameter: on. */
#define FORMAT_KIND_MPI                                                                            \
	{                                                                                          \
		.subject = "MPI", .title = "MPI Tracing", .option = "-m on", .is_wrapped = true,   \
		.duration = MPI_DURATION + 1, .file = FORMAT_FILE_MPI, .name = "mpi", .key = 'm',  \
		.fields_text = "duration-ns function communicator peer tag sent received request " \
			       "arrived sends receives error",                                     \
		.types = MPI_TYPES, .fields = MPI_FIELDS,                                          \
		.brief = {[MPI_SEND] = 6,	   [MPI_SEND_BEGIN] = 8, [MPI_RECEIVE] = 9,        \
			  [MPI_RECEIVE_BEGIN] = 8, [MPI_RECEIVED] = 9,	 [MPI_EXCHANGE] = 6,       \
			  [MPI_PREPARE] = 8,	   [MPI_START] = 2,	 [MPI_WAIT] = 8,           \
			  [MPI_TEST] = 2,	   [MPI_BARRIER] = 3,	 [MPI_COLLECTIVE] = 11,    \
			  [MPI_ONE_SIDED] = 9,	   [MPI_FILE] = 9,	 [MPI_MANAGE] = 3},        \
		.encoding = {FIELD_NUMBER, FIELD_TEXT,	 FIELD_TEXT,   FIELD_NUMBER,               \
			     FIELD_NUMBER, FIELD_NUMBER, FIELD_NUMBER, FIELD_NEAR,                 \
			     FIELD_NUMBER, FIELD_NUMBER, FIELD_NUMBER, FIELD_NUMBER},              \
		.type_names = FORMAT_TYPE_NAMES(FORMAT_MPI_TYPES), .named_types = MPI_TYPES        \
	}

#endif
