/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two ends of messages, and what waits for what.
 *
 * On one communicator the messages with one sender, receiver and tag are received in the order in
 * which they were sent: the n-th send belongs to the n-th receive that has had, by its status, that
 * sender and tag.  Receives count in the order of their posting.
 *
 * late sender: a receive, or a wait for one, was there before the send began: the time up to that.
 * late receiver: a blocking send was there before the receive began, and was over only after that.
 * wait at a collective: from a member's begin to that of the last one.
 *
 * Times are those of one line for all hosts (mpi_clocks.h).
 */
#ifndef HELIO_ANALYSIS_MPI_MATCH_H
#define HELIO_ANALYSIS_MPI_MATCH_H

#include "analysis/kinds/mpi_waits.h"

struct mpi_clocks;
struct mpi_messages;
struct query;
struct session;

/*
 * Ends are matched over all events, whatever filters choose, for both are needed.  Waits count
 * where the call that waited is chosen; messages and collective calls where one of their ends is.
 */
void mpi_match(struct session *session, const struct query *query, enum mpi_waits_by by,
	       struct mpi_matches *matches);
void mpi_matches_fini(struct mpi_matches *matches);
/* Adds each message both of whose ends are known, in no particular order. */
void mpi_match_messages(struct session *session, const struct query *query,
			struct mpi_messages *messages);
/* The clocks of all processes, by all messages, whatever filters choose.  Lives as long as the
 * session. */
const struct mpi_clocks *mpi_clocks_of(struct session *session);

#endif
