/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MPI tracing: what calls are worth, and its metrics.
 *
 * The first six metrics are those of the seeds, by their accounting (collector/runtimes/
 * mpi_bytes.c); the others tell what they leave out.
 */
#include "analysis/kinds/kinds.h"
#include "analysis/kinds/mpi_events.h"
#include "base/array.h"

/* A call that neither sends nor receives. */
static bool is_other(uint64_t type)
{
	switch (type) {
	case MPI_PREPARE:
	case MPI_START:
	case MPI_WAIT:
	case MPI_TEST:
	case MPI_BARRIER:
	case MPI_FILE:
	case MPI_MANAGE:
		return true;
	default:
		return false;
	}
}

static void add_bytes(struct measure_sums *sums, const struct event_run *run, size_t row,
		      uint32_t node)
{
	measure_add(sums, MEASURE_MPI_SENDS, node, mpi_sends(run, row));
	measure_add(sums, MEASURE_MPI_RECEIVES, node, mpi_receives(run, row));
	measure_add(sums, MEASURE_MPI_BYTES_SENT, node, event_field(run, MPI_SENT)[row]);
	measure_add(sums, MEASURE_MPI_BYTES_RECEIVED, node,
		    event_field(run, MPI_RECEIVED_BYTES)[row]);
	measure_add(sums, MEASURE_MPI_BYTES_ARRIVED, node, event_field(run, MPI_ARRIVED)[row]);
}

static void add_mpi(struct measure_sums *sums, const struct event_run *run, size_t row,
		    uint32_t node)
{
	uint64_t type = event_column(run, ROW_TYPE)[row];
	uint64_t duration = event_field(run, MPI_DURATION)[row];

	measure_add(sums, MEASURE_MPI_NS, node, duration);
	measure_add(sums, MEASURE_MPI_OTHERS, node, is_other(type));
	if (mpi_waits(type))
		measure_add(sums, MEASURE_MPI_WAIT_NS, node, duration);
	if (mpi_is_collective(type))
		measure_add(sums, MEASURE_MPI_COLLECTIVE_NS, node, duration);
	if (type == MPI_FILE)
		measure_add(sums, MEASURE_MPI_FILE_BYTES, node,
			    event_field(run, MPI_SENT)[row] +
				    event_field(run, MPI_RECEIVED_BYTES)[row]);
	if (mpi_has_messages(type))
		add_bytes(sums, run, row, node);
}

static void measure_mpi(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *nodes = measure_places(run, measuring);

	for (size_t row = 0; row < run->count; row++)
		if (measure_is_chosen(measuring, row))
			add_mpi(measuring->sums, run, row, nodes[row]);
}

void mpi_measure_clock(const struct event_run *run, const struct measuring *measuring)
{
	const uint32_t *stacks = event_stacks(run), *places = measure_places(run, measuring);
	const uint64_t *states = event_column(run, ROW_TYPE);
	const uint64_t *weights = event_field(run, PROFILE_WEIGHT);

	for (size_t row = 0; row < run->count; row++)
		if (measure_is_chosen(measuring, row) && measuring->in_mpi[stacks[row]])
			measure_add(measuring->sums,
				    CLOCK_CPU_STATES >> states[row] & 1 ? MEASURE_MPI_WORK
									: MEASURE_MPI_WAIT,
				    places[row], weights[row] * 1000);
}

static const struct metric metrics[] = {
	{.command = "mpitime",
	 .title = "MPI Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_MPI_NS,
	 .description = "time in calls of MPI functions",
	 .if_data = true},
	{.command = "mpisend",
	 .title = "MPI Sends",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_MPI_SENDS,
	 .description = "messages that were sent; in a collective function one to each process",
	 .if_data = true},
	{.command = "mpibytessent",
	 .title = "MPI Bytes Sent",
	 .unit = UNIT_BYTES,
	 .measure = MEASURE_MPI_BYTES_SENT,
	 .description = "bytes that were sent; in a collective function those to each process",
	 .if_data = true},
	{.command = "mpireceive",
	 .title = "MPI Receives",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_MPI_RECEIVES,
	 .description =
		 "messages that were received; in a collective function one from each process",
	 .if_data = true},
	{.command = "mpibytesrecv",
	 .title = "MPI Bytes Received",
	 .unit = UNIT_BYTES,
	 .measure = MEASURE_MPI_BYTES_RECEIVED,
	 .description = "bytes of the buffers that calls received into; in a collective function "
			"those from each process",
	 .if_data = true},
	{.command = "mpiother",
	 .title = "Other MPI Calls",
	 .unit = UNIT_COUNT,
	 .measure = MEASURE_MPI_OTHERS,
	 .description = "calls of MPI functions that neither send nor receive",
	 .if_data = true},
	{.command = "mpibytesarrived",
	 .title = "MPI Bytes Arrived",
	 .unit = UNIT_BYTES,
	 .measure = MEASURE_MPI_BYTES_ARRIVED,
	 .description = "bytes that came indeed: of messages as they were, of collective functions "
			"what they put into the receive buffer",
	 .if_data = true},
	{.command = "mpiwaittime",
	 .title = "MPI Wait Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_MPI_WAIT_NS,
	 .description = "the part of MPI Time in calls that wait for requests or ask for messages",
	 .if_data = true},
	{.command = "mpicollectivetime",
	 .title = "MPI Collective Time",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_MPI_COLLECTIVE_NS,
	 .description = "the part of MPI Time in collective functions and barriers",
	 .if_data = true},
	{.command = "mpifilebytes",
	 .title = "MPI File Bytes",
	 .unit = UNIT_BYTES,
	 .measure = MEASURE_MPI_FILE_BYTES,
	 .description = "bytes that calls of MPI I/O were asked to read or write",
	 .if_data = true},
	{.command = "mpiwork",
	 .title = "MPI Work",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_MPI_WORK,
	 .description = "by the clock, without tracing: time on a processor in calls of MPI "
			"functions; most implementations poll while they wait",
	 .if_data = true},
	{.command = "mpiwait",
	 .title = "MPI Wait",
	 .unit = UNIT_SECONDS,
	 .measure = MEASURE_MPI_WAIT,
	 .description = "by the clock, without tracing: time off the processor in calls of MPI "
			"functions",
	 .if_data = true},
};

const struct kind mpi_kind = {
	.measure = measure_mpi, .metrics = metrics, .metric_count = COUNT(metrics)};
