/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of MPI in time: see mpi_messages.h. */
#ifndef HELIO_ANALYSIS_MPI_MESSAGE_H
#define HELIO_ANALYSIS_MPI_MESSAGE_H

#include "base/memory.h"

#include <stdint.h>

/* A message, or several between the same two threads: from the first one's begin to the last end.
 */
struct mpi_message {
	uint32_t world;
	int32_t from, to;		   /* ranks */
	uint32_t from_process, to_process; /* ids */
	uint64_t from_thread, to_thread;   /* numbers */
	uint64_t begin_ns, end_ns;
	uint64_t count, bytes;
};

struct mpi_messages {
	VEC(struct mpi_message) list; /* by begin */
	uint64_t count;		      /* of messages that overlap the range */
	uint64_t left_out; /* of them, where more pairs have messages than rows are wanted */
};

#endif
