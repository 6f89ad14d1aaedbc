/* SPDX-License-Identifier: Apache-2.0 */
/* MPI tracing: the properties of its events, and the rank that all events of a process have. */
#include "analysis/filter/filter_property.h"
#include "analysis/kinds/mpi_world.h"

static void prepare(struct session *session)
{
	mpi_worlds_of(session);
}

static const struct mpi_process *process_of(const struct filter_rows *rows)
{
	return &rows->session->mpi_worlds->of[rows->process->id - 1];
}

static void load_rank(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_fill(slot, rows->run->count, (uint64_t)(int64_t)process_of(rows)->rank);
	filter_forget(slot, rows->run->count, (uint64_t)(int64_t)MPI_RANK_UNKNOWN);
}

static void load_peer(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint64_t *peers = event_field(rows->run, MPI_PEER);
	const uint64_t *communicators = event_field(rows->run, MPI_COMMUNICATOR);
	const struct mpi_process *process = process_of(rows);

	EACH_ROW slot->value[i] = (uint64_t)(int64_t)mpi_peer_rank(
		rows->session->mpi_worlds, process, communicators[i], peers[i]);
	filter_forget(slot, rows->run->count, (uint64_t)(int64_t)MPI_RANK_UNKNOWN);
}

static void load_communicator(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint64_t *communicators = event_field(rows->run, MPI_COMMUNICATOR);

	EACH_ROW slot->value[i] = mpi_comm_of(process_of(rows), communicators[i]);
	filter_forget(slot, rows->run->count, 0);
}

/* The run that a row is in: they are in the order of their rows. */
static size_t run_of(const struct experiment_trace *trace, size_t row)
{
	size_t low = 0, high = trace->runs.count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (trace->runs.items[middle].first <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * The number of the function whose parts a run's rows go on with; 0: it is not known.  They may
 * have begun in another block, and are no more than requests of one call.
 */
static uint64_t function_before(const struct event_run *run)
{
	enum { PARTS_MOST = 1 << 14 };
	const struct experiment_trace *trace = &run->process->traces[TRACE_MPI];
	size_t row = run->first, looked_at = 0;
	uint64_t function = 0;

	for (size_t i = run_of(trace, row) + 1; !function && i > 0 && looked_at < PARTS_MOST; i--) {
		const struct trace_run *of = &trace->runs.items[i - 1];

		looked_at++;
		if (of->thread != run->thread)
			continue;
		row = of->first + of->count < row ? of->first + of->count : row;
		for (; !function && row > of->first && looked_at < PARTS_MOST; looked_at++)
			function = rows_get(run->rows, ROW_FIELD + MPI_FUNCTION, --row);
	}
	return function;
}

/* Parts of a call are behind it, and have no name of their own. */
static void load_function(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint64_t *functions = event_field(rows->run, MPI_FUNCTION);
	const struct mpi_process *process = process_of(rows);
	uint64_t latest = rows->run->count && !functions[0] ? function_before(rows->run) : 0;

	EACH_ROW
	{
		latest = functions[i] ? functions[i] : latest;
		slot->value[i] = mpi_function_of(process, latest);
	}
	filter_forget(slot, rows->run->count, 0);
}

/* Of what is sent and received at once the larger one. */
static void load_size(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint64_t *sent = event_field(rows->run, MPI_SENT);
	const uint64_t *arrived = event_field(rows->run, MPI_ARRIVED);

	EACH_ROW slot->value[i] = sent[i] > arrived[i] ? sent[i] : arrived[i];
}

/* Recorded as two more. */
static void load_tag(const struct filter_rows *rows, struct filter_slot *slot)
{
	const uint64_t *tags = event_field(rows->run, MPI_TAG);

	EACH_ROW slot->value[i] = tags[i] < MPI_TAG_FIRST ? UINT64_MAX : tags[i] - MPI_TAG_FIRST;
	filter_forget(slot, rows->run->count, UINT64_MAX);
}

static void load_sent(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, MPI_SENT);
}

static void load_received(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, MPI_RECEIVED_BYTES);
}

static void load_arrived(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, MPI_ARRIVED);
}

static void load_request(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, MPI_REQUEST);
	filter_forget(slot, rows->run->count, 0);
}

static void load_error(const struct filter_rows *rows, struct filter_slot *slot)
{
	filter_load_field(rows, slot, MPI_ERROR);
}

static const struct filter_property properties[] = {
	FILTER_PROPERTY("MPIRANK", "rank of the process in MPI_COMM_WORLD", "all", FILTER_ALL,
			load_rank, .prepare = prepare),
	FILTER_PROPERTY(
		"MPITYPE",
		"0 send, 1 its begin, 2 receive, 3 its begin, 4 a message that came, 5 send and "
		"receive, 6 persistent request, 7 start, 8 wait, 9 test, 10 barrier, 11 "
		"collective, "
		"12 one-sided, 13 file, 14 other",
		"mpi", FILTER_MPI, filter_load_type),
	FILTER_PROPERTY("MPIPEER",
			"rank in MPI_COMM_WORLD of who sends, receives, or is a collective's root",
			"mpi", FILTER_MPI, load_peer, .prepare = prepare),
	FILTER_PROPERTY("MPICOMM", "number of the communicator, as in mpicomms", "mpi", FILTER_MPI,
			load_communicator, .prepare = prepare),
	FILTER_PROPERTY("MPIFUNCTION", "number of the function that was called", "mpi", FILTER_MPI,
			load_function, .prepare = prepare),
	FILTER_PROPERTY("MPISIZE", "bytes sent, or bytes that came", "mpi", FILTER_MPI, load_size),
	FILTER_PROPERTY("MPITAG", "tag of the message", "mpi", FILTER_MPI, load_tag),
	FILTER_PROPERTY("MPISENT", "bytes sent", "mpi", FILTER_MPI, load_sent),
	FILTER_PROPERTY("MPIRECEIVED", "bytes of the buffer that is received into", "mpi",
			FILTER_MPI, load_received),
	FILTER_PROPERTY("MPIARRIVED", "bytes that came", "mpi", FILTER_MPI, load_arrived),
	FILTER_PROPERTY("MPIREQUEST", "number of the request", "mpi", FILTER_MPI, load_request),
	FILTER_PROPERTY("MPIERROR", "what a call that failed returned, or 0", "mpi", FILTER_MPI,
			load_error),
	FILTER_PROPERTY("MPIRQST", "when the call began, ns", "mpi", FILTER_MPI, filter_load_begin),
};

const struct filter_properties mpi_properties = FILTER_PROPERTIES(properties);
