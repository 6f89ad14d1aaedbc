/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of MPI calls by function, rank and pair of ranks.  A record without a function is a part of
 * the call before it: it has messages and bytes, and is no call.
 */
#include "analysis/kinds/mpi_clocks.h"
#include "analysis/kinds/mpi_events.h"
#include "analysis/kinds/mpi_match.h"
#include "analysis/kinds/mpi_world.h"
#include "analysis/session/scan.h"
#include "analysis/views/mpi_report.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a thread of the scan works on: sums of one process. */
struct counting {
	const struct mpi_worlds *worlds;
	const struct mpi_process *process;
	struct mpi_call_sums *functions; /* by number of a name + 1 */
	struct mpi_call_sums *latest;	 /* of the call whose parts may follow */
	struct mpi_rank_sums rank;
	VEC(struct mpi_pair) pairs; /* of this process, by peer */
	struct hash_map pair_of;    /* peer → its pair */
	uint64_t sizes[MPI_SIZE_CLASSES];
	uint64_t messages;
};

static bool is_send(unsigned type)
{
	return type == MPI_SEND || type == MPI_SEND_BEGIN || type == MPI_EXCHANGE;
}

static unsigned size_class(uint64_t bytes)
{
	unsigned class = 0;

	for (; bytes; bytes >>= 1)
		class ++;
	return class < MPI_SIZE_CLASSES ? class : MPI_SIZE_CLASSES - 1;
}

static void count_message(struct counting *counting, uint64_t communicator, uint64_t peer,
			  uint64_t bytes)
{
	int32_t to = mpi_peer_rank(counting->worlds, counting->process, communicator, peer);

	if (peer < MPI_PEER_RANK)
		return;
	counting->messages++;
	counting->sizes[size_class(bytes)]++;
	uint32_t number = hash_map_get(&counting->pair_of, (uint64_t)(int64_t)to);

	if (number == HASH_NONE) {
		number = (uint32_t)counting->pairs.count;
		hash_map_put(&counting->pair_of, (uint64_t)(int64_t)to, number);
		*vec_push(&counting->pairs) = (struct mpi_pair){.world = counting->process->world,
								.from = counting->process->rank,
								.to = to};
	}
	counting->pairs.items[number].messages++;
	counting->pairs.items[number].bytes += bytes;
}

static void add_call(struct mpi_call_sums *sums, const struct mpi_call_sums *call)
{
	sums->calls += call->calls;
	sums->total_ns += call->total_ns;
	if (call->longest_ns > sums->longest_ns)
		sums->longest_ns = call->longest_ns;
	sums->sends += call->sends;
	sums->sent += call->sent;
	sums->receives += call->receives;
	sums->received += call->received;
	sums->arrived += call->arrived;
	sums->errors += call->errors;
}

static void count_row(struct counting *counting, const struct event_run *run, size_t row)
{
	unsigned type = (unsigned)event_column(run, ROW_TYPE)[row];
	uint64_t function = event_field(run, MPI_FUNCTION)[row];
	uint64_t duration = event_field(run, MPI_DURATION)[row];
	struct mpi_call_sums call = {
		.calls = function != 0,
		.total_ns = duration,
		.longest_ns = duration,
		.sends = mpi_sends(run, row),
		.receives = mpi_receives(run, row),
		.errors = event_field(run, MPI_ERROR)[row] != 0,
	};

	if (mpi_has_messages(type)) {
		call.sent = event_field(run, MPI_SENT)[row];
		call.received = event_field(run, MPI_RECEIVED_BYTES)[row];
		call.arrived = event_field(run, MPI_ARRIVED)[row];
	}
	add_call(counting->latest, &call);
	add_call(&counting->rank.sums, &call);
	if (mpi_waits(type))
		counting->rank.wait_ns += duration;
	if (mpi_is_collective(type))
		counting->rank.collective_ns += duration;
	if (is_send(type))
		count_message(counting, event_field(run, MPI_COMMUNICATOR)[row],
			      event_field(run, MPI_PEER)[row], call.sent);
}

/* Parts of a call follow it in the file, in one thread's rows, so this goes in their order. */
static void count_piece(const struct scan_piece *piece, void *state)
{
	const struct event_run *run = piece->run;
	struct counting *counting = state;

	if (run->kind != (enum event_kind)(EVENTS_TRACE + TRACE_MPI))
		return;
	for (size_t row = 0; row < run->count; row++) {
		uint64_t function = event_field(run, MPI_FUNCTION)[row];

		/* Its parts may be chosen where it is not. */
		if (function)
			counting->latest =
				&counting->functions[mpi_function_of(counting->process, function)];
		if (measure_is_chosen(&piece->measuring, row))
			count_row(counting, run, row);
	}
}

static uint64_t run_ns(const struct session *session, const struct session_process *process)
{
	return session->processes.items[process->id - 1].recorded_ns;
}

static void merge(struct mpi_report *report, struct mpi_call_sums *functions, size_t count,
		  struct counting *counting)
{
	for (size_t i = 0; i < count; i++)
		add_call(&functions[i], &counting->functions[i]);
	for (size_t i = 0; i < counting->pairs.count; i++)
		*vec_push(&report->pairs) = counting->pairs.items[i];
	for (int i = 0; i < MPI_SIZE_CLASSES; i++)
		report->sizes[i] += counting->sizes[i];
	report->messages += counting->messages;
	if (counting->rank.sums.calls || counting->rank.sums.arrived)
		*vec_push(&report->ranks) = counting->rank;
}

static void count_process(struct mpi_report *report, const struct tally *tally,
			  const struct mpi_worlds *worlds, const struct session_process *process,
			  struct mpi_call_sums *functions)
{
	const struct mpi_process *of = &worlds->of[process->id - 1];
	size_t count = worlds->functions.count + 1;
	struct counting counting = {
		.worlds = worlds,
		.process = of,
		.functions = xcalloc(count, sizeof(*counting.functions)),
		.rank = {.process = process->id,
			 .world = of->world,
			 .rank = of->rank,
			 .run_ns = run_ns(tally->session, process)},
	};

	counting.latest = counting.functions;
	scan_in_order(tally, process, count_piece, &counting);
	merge(report, functions, count, &counting);
	free(counting.functions);
	vec_fini(&counting.pairs);
	hash_map_fini(&counting.pair_of);
}

static int by_time(const void *a, const void *b)
{
	const struct mpi_function_sums *x = a, *y = b;

	if (x->sums.total_ns != y->sums.total_ns)
		return x->sums.total_ns > y->sums.total_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_rank(const void *a, const void *b)
{
	const struct mpi_rank_sums *x = a, *y = b;

	if (x->world != y->world)
		return x->world < y->world ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static int by_ranks(const void *a, const void *b)
{
	const struct mpi_pair *x = a, *y = b;

	if (x->world != y->world)
		return x->world < y->world ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void add_functions(struct mpi_report *report, const struct mpi_worlds *worlds,
			  const struct mpi_call_sums *functions)
{
	for (uint32_t i = 0; i < worlds->functions.count; i++)
		if (functions[i + 1].calls || functions[i + 1].sends || functions[i + 1].receives ||
		    functions[i + 1].arrived)
			*vec_push(&report->functions) = (struct mpi_function_sums){
				.name = string_table_text(&worlds->functions, i),
				.sums = functions[i + 1]};
}

static void add_clocks(struct mpi_report *report, const struct tally *tally)
{
	const struct mpi_clocks *clocks = mpi_clocks_of(tally->session);

	for (uint32_t i = 0; i < clocks->clocks.count; i++) {
		uint32_t group = clocks->clocks.items[i].group;

		if ((!tally->group || tally->group == group) &&
		    mpi_clocks_are_several(clocks, group))
			*vec_push(&report->clocks) = mpi_clocks_info(clocks, i);
	}
}

#define SORT(vec, compare)                                                                         \
	do {                                                                                       \
		if ((vec).count)                                                                   \
			qsort((vec).items, (vec).count, sizeof(*(vec).items), (compare));          \
	} while (0)

void view_mpi_report(struct session *session, const struct query *query, struct mpi_report *report)
{
	struct tally *tally = tally_of(session, query);
	const struct mpi_worlds *worlds = mpi_worlds_of(session);
	struct mpi_call_sums *functions = xcalloc(worlds->functions.count + 1, sizeof(*functions));

	*report = (struct mpi_report){0};
	for (size_t i = 0; i < session->scanned.count; i++)
		if (session->scanned.items[i].process->traces[TRACE_MPI].rows.count)
			count_process(report, tally, worlds, &session->scanned.items[i], functions);
	add_functions(report, worlds, functions);
	add_clocks(report, tally);
	SORT(report->functions, by_time);
	SORT(report->ranks, by_rank);
	SORT(report->pairs, by_ranks);
	free(functions);
	tally_release(tally);
}

bool view_mpi_comm(struct session *session, size_t index, struct mpi_comm_info *info)
{
	session_enter(session);
	const struct mpi_worlds *worlds = mpi_worlds_of(session);
	bool is_there = index < worlds->comms.count;

	if (is_there) {
		const struct mpi_comm *comm = &worlds->comms.items[index];

		*info = (struct mpi_comm_info){.number = (uint32_t)index + 1,
					       .world = comm->world,
					       .name = comm->name,
					       .identity = comm->identity,
					       .size = comm->members.count + comm->peers.count};
	}
	session_leave(session);
	return is_there;
}

void mpi_report_fini(struct mpi_report *report)
{
	vec_fini(&report->functions);
	vec_fini(&report->ranks);
	vec_fini(&report->pairs);
	vec_fini(&report->clocks);
}
