/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two passes over each process's events make a list of ends: sends, receives and calls of
 * collective functions; and what completed receives say, which may lie before their begins, of
 * another thread, in the file.  Sorted by what belongs together and by who it is of, and in the
 * order of posting, the n-th of the one side and the n-th of the other are a pair.
 */
#include "analysis/kinds/mpi_match.h"

#include "analysis/kinds/mpi_events.h"
#include "analysis/kinds/mpi_world.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* One side of a message: from `begin`, when it was there, to when it was over. */
struct end {
	uint32_t comm; /* 1 + index */
	int32_t from, to;
	uint64_t tag;
	uint64_t order; /* among the ends of its process */
	uint64_t begin_ns, end_ns;
	uint64_t wait_ns; /* when somebody began to wait for it; of a blocking call its begin */
	uint32_t function;
	bool sends, blocks, is_known;
};

/* A process's part in a collective call. */
struct part {
	uint32_t comm;
	int32_t rank;
	uint64_t order;
	uint64_t begin_ns, end_ns;
	uint32_t function;
};

struct matching {
	const struct mpi_worlds *worlds;
	VEC(struct end) ends;
	VEC(struct part) parts;
	/* of the process in hand */
	const struct mpi_process *process;
	struct hash_map receives; /* number of a request → index of the end that it is */
	bool completions;	  /* the second pass */
	uint64_t order;
	uint64_t call_begin_ns; /* of the call whose parts may follow */
	uint32_t call_function;
	struct hash_map waits; /* hash of kind, ranks and functions → index of a row */
};

static uint64_t begin_of(uint64_t time_ns, uint64_t duration_ns)
{
	return time_ns > duration_ns ? time_ns - duration_ns : 0;
}

/* ---- one process ---- */

/* 1 + index, the same for both groups of an inter-communicator; 0: none. */
static uint32_t comm_of(const struct matching *matching, uint64_t communicator)
{
	uint32_t number = mpi_comm_of(matching->process, communicator);

	return number ? matching->worlds->comms.items[number - 1].both + 1 : 0;
}

static struct end *add_end(struct matching *matching, const struct event_run *run, size_t row)
{
	uint64_t communicator = event_field(run, MPI_COMMUNICATOR)[row];
	uint64_t peer = event_field(run, MPI_PEER)[row];
	uint64_t type = event_column(run, ROW_TYPE)[row], time_ns = event_times(run)[row];
	struct end *end = vec_push(&matching->ends);
	int32_t other = mpi_peer_rank(matching->worlds, matching->process, communicator, peer);
	int32_t own = matching->process->rank;
	bool sends = type == MPI_SEND || type == MPI_SEND_BEGIN || type == MPI_EXCHANGE;
	/* A part of a call began with it. */
	uint64_t begin_ns = event_field(run, MPI_FUNCTION)[row]
				    ? begin_of(time_ns, event_field(run, MPI_DURATION)[row])
				    : matching->call_begin_ns;

	*end = (struct end){
		.comm = comm_of(matching, communicator),
		.from = sends ? own : other,
		.to = sends ? other : own,
		.tag = event_field(run, MPI_TAG)[row],
		.order = matching->order++, /* of several that began at one moment */
		.begin_ns = begin_ns,
		.wait_ns = begin_ns,
		.end_ns = time_ns,
		.function = matching->call_function,
		.sends = sends,
		.blocks = type != MPI_SEND_BEGIN && type != MPI_RECEIVE_BEGIN,
		.is_known = peer >= MPI_PEER_RANK,
	};
	return end;
}

/* A receive that was begun has its message, and the sender and tag that it has indeed. */
static void complete(struct matching *matching, const struct event_run *run, size_t row)
{
	uint64_t request = event_field(run, MPI_REQUEST)[row];
	uint32_t number = hash_map_get(&matching->receives, request);

	if (number == HASH_NONE)
		return;
	struct end *end = &matching->ends.items[number];

	end->from = mpi_peer_rank(matching->worlds, matching->process,
				  event_field(run, MPI_COMMUNICATOR)[row],
				  event_field(run, MPI_PEER)[row]);
	end->tag = event_field(run, MPI_TAG)[row];
	end->is_known = true;
	end->end_ns = event_times(run)[row];
	end->wait_ns = matching->call_begin_ns;
	end->function = matching->call_function;
	end->blocks = true;
}

static void add_part(struct matching *matching, const struct event_run *run, size_t row)
{
	*vec_push(&matching->parts) = (struct part){
		.comm = comm_of(matching, event_field(run, MPI_COMMUNICATOR)[row]),
		.rank = matching->process->rank,
		.order = matching->order++,
		.begin_ns = matching->call_begin_ns,
		.end_ns = event_times(run)[row],
		.function = matching->call_function,
	};
}

static void take_row(struct matching *matching, const struct event_run *run, size_t row)
{
	uint64_t type = event_column(run, ROW_TYPE)[row];
	uint64_t function = event_field(run, MPI_FUNCTION)[row];

	if (function) {
		matching->call_begin_ns =
			begin_of(event_times(run)[row], event_field(run, MPI_DURATION)[row]);
		matching->call_function = mpi_function_of(matching->process, function);
	}
	if (event_field(run, MPI_ERROR)[row])
		return;
	if (matching->completions) {
		if (type == MPI_RECEIVED)
			complete(matching, run, row);
	} else if (type == MPI_RECEIVE_BEGIN) {
		hash_map_put(&matching->receives, event_field(run, MPI_REQUEST)[row],
			     (uint32_t)matching->ends.count);
		add_end(matching, run, row)->is_known = false;
	} else if (type == MPI_SEND || type == MPI_SEND_BEGIN || type == MPI_EXCHANGE ||
		   type == MPI_RECEIVE) {
		add_end(matching, run, row);
	} else if (mpi_is_collective(type) && !event_field(run, MPI_REQUEST)[row]) {
		add_part(matching, run, row);
	}
}

static void take_piece(const struct event_run *piece, void *state)
{
	for (size_t row = 0; row < piece->count; row++)
		take_row(state, piece, row);
}

/* ---- sums ---- */

static bool same_wait(const struct mpi_wait *x, const struct mpi_wait *y)
{
	return x->kind == y->kind && x->world == y->world && x->waiter == y->waiter &&
	       x->other == y->other && x->function == y->function &&
	       x->other_function == y->other_function;
}

/* Names are those of one table: as many pointers as names. */
static uint64_t hash_of(const struct mpi_wait *wait)
{
	const uint64_t words[] = {wait->kind, wait->world,
				  (uint64_t)wait->waiter << 32 | (uint32_t)wait->other,
				  (uintptr_t)wait->function, (uintptr_t)wait->other_function};

	return hash_text(words, sizeof(words));
}

static struct mpi_wait *row_of(struct matching *matching, struct mpi_matches *matches,
			       const struct mpi_wait *wait)
{
	uint64_t hash = hash_of(wait);

	for (;; hash++) { /* another wait may have that hash */
		uint32_t fresh = (uint32_t)matches->waits.count;
		uint32_t number = hash_map_put(&matching->waits, hash, fresh);

		if (number == fresh)
			*vec_push(&matches->waits) = *wait;
		if (same_wait(&matches->waits.items[number], wait))
			return &matches->waits.items[number];
	}
}

static void add_wait(struct matching *matching, struct mpi_matches *matches,
		     const struct mpi_wait *wait, uint64_t ns)
{
	struct mpi_wait *row = row_of(matching, matches, wait);

	row->count++;
	row->total_ns += ns;
	row->longest_ns = ns > row->longest_ns ? ns : row->longest_ns;
}

static const char *name_of(const struct matching *matching, uint32_t function)
{
	return function ? string_table_text(&matching->worlds->functions, function - 1) : "";
}

static uint32_t world_of(const struct matching *matching, uint32_t comm)
{
	return matching->worlds->comms.items[comm - 1].world;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void judge_message(struct matching *matching, struct mpi_matches *matches,
			  const struct end *send, const struct end *receive)
{
	struct mpi_wait wait = {.world = world_of(matching, send->comm)};

	if (receive->blocks && send->begin_ns > receive->wait_ns) {
		wait.kind = MPI_LATE_SENDER;
		wait.waiter = receive->to;
		wait.other = send->from;
		wait.function = name_of(matching, receive->function);
		wait.other_function = name_of(matching, send->function);
		add_wait(matching, matches, &wait,
			 least(send->begin_ns, receive->end_ns) - receive->wait_ns);
	} else if (send->blocks && receive->begin_ns > send->begin_ns &&
		   send->end_ns > receive->begin_ns) {
		wait.kind = MPI_LATE_RECEIVER;
		wait.waiter = send->from;
		wait.other = receive->to;
		wait.function = name_of(matching, send->function);
		wait.other_function = name_of(matching, receive->function);
		add_wait(matching, matches, &wait, receive->begin_ns - send->begin_ns);
	}
}

/* ---- messages ---- */

#define COMPARE(x, y)                                                                              \
	do {                                                                                       \
		if ((x) != (y))                                                                    \
			return (x) < (y) ? -1 : 1;                                                 \
	} while (0)

static int same_way(const struct end *x, const struct end *y)
{
	COMPARE(x->comm, y->comm);
	COMPARE(x->from, y->from);
	COMPARE(x->to, y->to);
	COMPARE(x->tag, y->tag);
	return 0;
}

static int by_way(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	int way = same_way(x, y);

	if (way)
		return way;
	COMPARE(y->sends, x->sends);
	COMPARE(x->begin_ns, y->begin_ns);
	COMPARE(x->order, y->order);
	return 0;
}

/* The sends of one way, then its receives. */
static void match_way(struct matching *matching, struct mpi_matches *matches,
		      const struct end *ends, size_t count)
{
	size_t sends = 0;

	while (sends < count && ends[sends].sends)
		sends++;
	size_t receives = count - sends, both = sends < receives ? sends : receives;

	for (size_t i = 0; i < both; i++)
		judge_message(matching, matches, &ends[i], &ends[sends + i]);
	matches->messages += both;
	matches->sends_alone += sends - both;
	matches->receives_alone += receives - both;
}

static void match_messages(struct matching *matching, struct mpi_matches *matches)
{
	struct end *ends = matching->ends.items;
	size_t count = 0;

	for (size_t i = 0; i < matching->ends.count; i++)
		if (ends[i].is_known && ends[i].comm)
			ends[count++] = ends[i];
	if (count)
		qsort(ends, count, sizeof(*ends), by_way);
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first; next < count && !same_way(&ends[first], &ends[next]);)
			next++;
		match_way(matching, matches, ends + first, next - first);
	}
}

/* ---- collective functions ---- */

static int by_comm(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	COMPARE(x->comm, y->comm);
	COMPARE(x->rank, y->rank);
	COMPARE(x->begin_ns, y->begin_ns);
	COMPARE(x->order, y->order);
	return 0;
}

/* The n-th calls of all members of a communicator, each member's at one place in `parts`. */
static void judge_call(struct matching *matching, struct mpi_matches *matches,
		       const struct part *parts, size_t members, size_t calls, size_t number)
{
	const struct part *last = &parts[number];

	for (size_t i = 1; i < members; i++)
		if (parts[i * calls + number].begin_ns > last->begin_ns)
			last = &parts[i * calls + number];
	for (size_t i = 0; i < members; i++) {
		const struct part *part = &parts[i * calls + number];
		uint64_t until_ns = least(last->begin_ns, part->end_ns);

		if (part == last || until_ns <= part->begin_ns)
			continue;
		add_wait(matching, matches,
			 &(struct mpi_wait){.kind = MPI_WAIT_AT_COLLECTIVE,
					    .world = world_of(matching, part->comm),
					    .waiter = part->rank,
					    .other = last->rank,
					    .function = name_of(matching, part->function),
					    .other_function = name_of(matching, last->function)},
			 until_ns - part->begin_ns);
	}
	matches->collectives++;
}

/* Only where all members' calls are there, and so the n-th of each is the same one. */
static void match_comm(struct matching *matching, struct mpi_matches *matches,
		       const struct part *parts, size_t count)
{
	const struct mpi_comm *comm = &matching->worlds->comms.items[parts->comm - 1];
	size_t members = comm->members.count + comm->peers.count;
	size_t calls = members ? count / members : 0;

	if (!members || count % members || comm->peers.count)
		return;
	for (size_t i = 0; i < count; i++)
		if (parts[i].rank != parts[i / calls * calls].rank ||
		    (i && i % calls == 0 && parts[i].rank == parts[i - 1].rank) ||
		    parts[i].function != parts[i % calls].function)
			return;
	for (size_t number = 0; number < calls; number++)
		judge_call(matching, matches, parts, members, calls, number);
}

static void match_collectives(struct matching *matching, struct mpi_matches *matches)
{
	const struct part *parts = matching->parts.items;
	size_t count = matching->parts.count;

	if (count)
		qsort(matching->parts.items, count, sizeof(*parts), by_comm);
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first; next < count && parts[next].comm == parts[first].comm;)
			next++;
		if (parts[first].comm)
			match_comm(matching, matches, parts + first, next - first);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct mpi_wait *x = a, *y = b;

	COMPARE(y->total_ns, x->total_ns);
	COMPARE(x->kind, y->kind);
	COMPARE(x->world, y->world);
	COMPARE(x->waiter, y->waiter);
	COMPARE(x->other, y->other);
	return strcmp(x->function, y->function);
}

void mpi_match(struct session *session, struct mpi_matches *matches)
{
	session_enter(session);
	struct matching matching = {.worlds = mpi_worlds_of(session)};

	*matches = (struct mpi_matches){0};
	for (size_t i = 0; i < session->scanned.count; i++) {
		matching.process = &matching.worlds->of[i];
		if (matching.process->rank == MPI_RANK_UNKNOWN)
			continue;
		for (int pass = 0; pass < 2; pass++) {
			matching.completions = pass;
			events_for_each_piece(session->scanned.items[i].process,
					      (enum event_kind)(EVENTS_TRACE + TRACE_MPI),
					      take_piece, &matching);
		}
		hash_map_clear(&matching.receives);
	}
	match_messages(&matching, matches);
	match_collectives(&matching, matches);
	if (matches->waits.count)
		qsort(matches->waits.items, matches->waits.count, sizeof(*matches->waits.items),
		      by_time);
	vec_fini(&matching.ends);
	vec_fini(&matching.parts);
	hash_map_fini(&matching.receives);
	hash_map_fini(&matching.waits);
	session_leave(session);
}

void mpi_matches_fini(struct mpi_matches *matches)
{
	vec_fini(&matches->waits);
}
