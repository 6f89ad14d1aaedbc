/* SPDX-License-Identifier: Apache-2.0 */
/* What events of MPI tracing say by their type.  Private to this module. */
#ifndef HELIO_ANALYSIS_MPI_EVENTS_H
#define HELIO_ANALYSIS_MPI_EVENTS_H

#include "analysis/session/events.h"

/* How many messages an event sends or receives: types of one say it themselves. */
static inline uint64_t mpi_sends(const struct event_run *run, size_t row)
{
	uint64_t type = event_column(run, ROW_TYPE)[row];

	if (type == MPI_COLLECTIVE || type == MPI_ONE_SIDED)
		return event_field(run, MPI_SENDS)[row];
	return type == MPI_SEND || type == MPI_SEND_BEGIN || type == MPI_EXCHANGE;
}

static inline uint64_t mpi_receives(const struct event_run *run, size_t row)
{
	uint64_t type = event_column(run, ROW_TYPE)[row];

	if (type == MPI_COLLECTIVE || type == MPI_ONE_SIDED)
		return event_field(run, MPI_RECEIVES)[row];
	return type == MPI_RECEIVE || type == MPI_RECEIVE_BEGIN;
}

/* What a persistent request will do, and a file, are no messages. */
static inline bool mpi_has_messages(uint64_t type)
{
	return type != MPI_PREPARE && type != MPI_FILE;
}

static inline bool mpi_waits(uint64_t type)
{
	return type == MPI_WAIT || type == MPI_TEST;
}

static inline bool mpi_is_collective(uint64_t type)
{
	return type == MPI_BARRIER || type == MPI_COLLECTIVE;
}

#endif
