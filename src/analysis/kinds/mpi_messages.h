/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of MPI in time, from the begin of the send to the end of the receive: one by one where
 * there are few, else sums of those from one thread to another that began in one range of time.
 */
#ifndef HELIO_ANALYSIS_MPI_MESSAGES_H
#define HELIO_ANALYSIS_MPI_MESSAGES_H

#include "analysis/kinds/mpi_message.h"

#include <stddef.h>

struct query;
struct session;

/*
 * The messages that overlap a range, as at most so many rows.  end_ns 0: all of the time.  Filters
 * choose messages by either end.
 */
void view_mpi_messages(struct session *session, const struct query *query, uint64_t begin_ns,
		       uint64_t end_ns, size_t most, struct mpi_messages *messages);
void mpi_messages_fini(struct mpi_messages *messages);

#endif
