/* SPDX-License-Identifier: Apache-2.0 */
/* MPI tracing: its measures, MEASURE_MPI_…: a row of analysis/kinds/kinds.h.  The last two are of
 * clock events.  Private to this module. */
#ifndef HELIO_ANALYSIS_MEASURES_MPI_H
#define HELIO_ANALYSIS_MEASURES_MPI_H

#define MEASURES_MPI(X)                                                                            \
	X(MPI_NS)                                                                                  \
	X(MPI_SENDS)                                                                               \
	X(MPI_BYTES_SENT)                                                                          \
	X(MPI_RECEIVES)                                                                            \
	X(MPI_BYTES_RECEIVED)                                                                      \
	X(MPI_BYTES_ARRIVED)                                                                       \
	X(MPI_OTHERS)                                                                              \
	X(MPI_WAIT_NS)                                                                             \
	X(MPI_COLLECTIVE_NS)                                                                       \
	X(MPI_FILE_BYTES)                                                                          \
	X(MPI_WORK)                                                                                \
	X(MPI_WAIT)

struct event_run;
struct measuring;

/* kind_mpi.c: what clock events count for beside their states. */
void mpi_measure_clock(const struct event_run *run, const struct measuring *measuring);

#endif
