/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two passes over each process's events make a list of ends: sends, receives and calls of
 * collective functions; and what completed receives say, which may lie before their begins, of
 * another thread, in the file.  Sorted by what belongs together and by who it is of, and in the
 * order of posting, the n-th of the one side and the n-th of the other are a pair.
 */
#include "analysis/kinds/mpi_match.h"

#include "analysis/kinds/mpi_clocks.h"
#include "analysis/kinds/mpi_events.h"
#include "analysis/kinds/mpi_message.h"
#include "analysis/kinds/mpi_wait_sums.h"
#include "analysis/kinds/mpi_world.h"
#include "analysis/session/scan.h"
#include "base/array.h"
#include "base/compare.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One side of a message: from `begin`, when it was there, to when it was over. */
struct end {
	uint32_t comm; /* 1 + index */
	int32_t from, to;
	uint64_t tag;
	uint64_t order; /* among the ends of its process */
	uint64_t begin_ns, end_ns;
	uint64_t thread, bytes; /* bytes: of a send */
	uint64_t wait_ns; /* when somebody began to wait for it; of a blocking call its begin */
	struct mpi_place place,
		waiting; /* the call that began it, and the one that waited for it */
	bool sends, blocks, is_known;
};

/* A process's part in a collective call. */
struct part {
	uint32_t comm;
	int32_t rank;
	uint64_t order;
	uint64_t begin_ns, end_ns;
	struct mpi_place place;
	bool synchronizes; /* no member leaves before all have come */
};

struct matching {
	const struct mpi_worlds *worlds;
	const struct mpi_clocks *clocks; /* what puts times on one line */
	struct mpi_clocks *bounded; /* NULL, or what is wanted: bounds of these, by own times */
	VEC(struct end) ends;
	VEC(struct part) parts;
	/* of the process in hand */
	const struct mpi_process *process;
	uint32_t process_index;
	struct hash_map receives; /* number of a request → index of the end that it is */
	bool completions;	  /* the second pass */
	uint64_t order;
	uint64_t call_begin_ns; /* of the call whose parts may follow */
	struct mpi_place call;	/* that call */
	struct mpi_place place; /* of the row in hand: that call's */
	struct mpi_wait_sums sums;
	struct mpi_messages *messages; /* NULL: waits are wanted, not messages */
};

/* A time of the process in hand. */
static uint64_t on_line(const struct matching *matching, uint64_t time_ns)
{
	return matching->bounded
		       ? time_ns
		       : mpi_clocks_time(matching->clocks, matching->process_index, time_ns);
}

static uint64_t begin_of(const struct matching *matching, const struct event_run *run, size_t row)
{
	uint64_t time_ns = event_times(run)[row];
	uint64_t duration_ns = event_field(run, MPI_DURATION)[row];

	return on_line(matching, time_ns > duration_ns ? time_ns - duration_ns : 0);
}

static uint64_t end_of(const struct matching *matching, const struct event_run *run, size_t row)
{
	return on_line(matching, event_times(run)[row]);
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
	uint64_t type = event_column(run, ROW_TYPE)[row];
	struct end *end = vec_push(&matching->ends);
	int32_t other = mpi_peer_rank(matching->worlds, matching->process, communicator, peer);
	int32_t own = matching->process->rank;
	bool sends = type == MPI_SEND || type == MPI_SEND_BEGIN || type == MPI_EXCHANGE;
	/* A part of a call began with it. */
	uint64_t begin_ns = event_field(run, MPI_FUNCTION)[row] ? begin_of(matching, run, row)
								: matching->call_begin_ns;

	*end = (struct end){
		.comm = comm_of(matching, communicator),
		.from = sends ? own : other,
		.to = sends ? other : own,
		.tag = event_field(run, MPI_TAG)[row],
		.order = matching->order++, /* of several that began at one moment */
		.begin_ns = begin_ns,
		.wait_ns = begin_ns,
		.end_ns = end_of(matching, run, row),
		.thread = run->thread,
		.bytes = event_field(run, MPI_SENT)[row],
		.place = matching->place,
		.waiting = matching->place,
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
	end->is_known = event_field(run, MPI_PEER)[row] >= MPI_PEER_RANK; /* not of nobody */
	end->end_ns = end_of(matching, run, row);
	end->wait_ns = matching->call_begin_ns;
	end->waiting = matching->place;
	end->blocks = true;
}

/* Of the call in hand; "": its name is not known. */
static const char *call_name(const struct matching *matching)
{
	return matching->call.function ? string_table_text(&matching->worlds->functions,
							   matching->call.function - 1)
				       : "";
}

/* MPI_Ibarrier only begins: it waits for nobody, and tells of nobody. */
static bool only_begins(const struct matching *matching)
{
	return strncmp(call_name(matching), "MPI_I", strlen("MPI_I")) == 0;
}

/* Of the collective functions those in which each member's result is made of what all bring. */
static bool synchronizes(const struct matching *matching, const struct event_run *run, size_t row)
{
	static const char *const names[] = {"MPI_Allreduce",   "MPI_Allgather",	  "MPI_Alltoall",
					    "MPI_Allreduce_c", "MPI_Allgather_c", "MPI_Alltoall_c"};

	if (!matching->bounded)
		return false;
	if (event_column(run, ROW_TYPE)[row] == MPI_BARRIER)
		return true;
	if (!event_field(run, MPI_SENT)[row])
		return false;
	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(call_name(matching), names[i]))
			return true;
	return false;
}

static void add_part(struct matching *matching, const struct event_run *run, size_t row)
{
	*vec_push(&matching->parts) = (struct part){
		.comm = comm_of(matching, event_field(run, MPI_COMMUNICATOR)[row]),
		.rank = matching->process->rank,
		.order = matching->order++,
		.begin_ns = matching->call_begin_ns,
		.end_ns = end_of(matching, run, row),
		.place = matching->place,
		.synchronizes = synchronizes(matching, run, row),
	};
}

/* A row is a call, or a part of the call before it, which counts as chosen with its call too. */
static void enter_row(struct matching *matching, const struct scan_piece *piece, size_t row)
{
	const struct event_run *run = piece->run;
	uint64_t function = event_field(run, MPI_FUNCTION)[row];
	bool is_chosen = measure_is_chosen(&piece->measuring, row);

	if (function) {
		matching->call_begin_ns = begin_of(matching, run, row);
		matching->call = (struct mpi_place){
			.process = matching->process_index,
			.call = matching->call.call + 1,
			.node = event_stacks(run)[row],
			.function = mpi_function_of(matching->process, function),
			.is_chosen = is_chosen,
		};
	}
	matching->place = matching->call;
	matching->place.is_chosen |= is_chosen;
}

static void take_row(struct matching *matching, const struct scan_piece *piece, size_t row)
{
	const struct event_run *run = piece->run;
	uint64_t type = event_column(run, ROW_TYPE)[row];

	enter_row(matching, piece, row);
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
	} else if (mpi_is_collective(type) && !event_field(run, MPI_REQUEST)[row] &&
		   !only_begins(matching)) {
		add_part(matching, run, row);
	}
}

static void take_piece(const struct scan_piece *piece, void *state)
{
	if (piece->run->kind != (enum event_kind)(EVENTS_TRACE + TRACE_MPI))
		return;
	for (size_t row = 0; row < piece->run->count; row++)
		take_row(state, piece, row);
}

static void take_process(struct matching *matching, const struct tally *tally, uint32_t index)
{
	const struct session_process *process = &tally->session->scanned.items[index];

	matching->process = &matching->worlds->of[index];
	matching->process_index = index;
	if (matching->process->rank == MPI_RANK_UNKNOWN ||
	    !process->process->traces[TRACE_MPI].rows.count)
		return;
	for (int pass = 0; pass < 2; pass++) {
		matching->completions = pass;
		matching->call = (struct mpi_place){.process = index};
		scan_in_order(tally, process, take_piece, matching);
	}
	hash_map_clear(&matching->receives);
}

/* ---- one pair ---- */

static uint32_t world_of(const struct matching *matching, uint32_t comm)
{
	return matching->worlds->comms.items[comm - 1].world;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void judge_message(struct matching *matching, const struct end *send,
			  const struct end *receive)
{
	struct mpi_found_wait wait = {.of.world = world_of(matching, send->comm)};

	if (receive->blocks && send->begin_ns > receive->wait_ns) {
		wait.of.kind = MPI_LATE_SENDER;
		wait.of.waiter = receive->to;
		wait.of.other = send->from;
		wait.waiter = &receive->waiting;
		wait.other = &send->place;
		wait.ns = least(send->begin_ns, receive->end_ns) - receive->wait_ns;
	} else if (send->blocks && receive->begin_ns > send->begin_ns &&
		   send->end_ns > receive->begin_ns) {
		wait.of.kind = MPI_LATE_RECEIVER;
		wait.of.waiter = send->from;
		wait.of.other = receive->to;
		wait.waiter = &send->place;
		wait.other = &receive->place;
		wait.ns = receive->begin_ns - send->begin_ns;
	} else {
		return;
	}
	mpi_wait_sums_add(&matching->sums, &wait);
}

/* ---- clocks ---- */

/* The message was sent before it was there. */
static void bound_by_message(struct matching *matching, const struct end *send,
			     const struct end *receive)
{
	if (receive->blocks)
		mpi_clocks_note(matching->bounded, send->place.process, send->begin_ns,
				receive->waiting.process, receive->end_ns);
}

/* All members had come before one left: each against the first one's clock is enough. */
static void bound_by_call(struct matching *matching, const struct part *parts, size_t members,
			  size_t calls, size_t number)
{
	const struct part *first = &parts[number];

	for (size_t i = 0; i < members; i++)
		if (!parts[i * calls + number].synchronizes)
			return;
	for (size_t i = 1; i < members; i++) {
		const struct part *part = &parts[i * calls + number];

		mpi_clocks_note(matching->bounded, first->place.process, first->begin_ns,
				part->place.process, part->end_ns);
		mpi_clocks_note(matching->bounded, part->place.process, part->begin_ns,
				first->place.process, first->end_ns);
	}
}

/* ---- messages ---- */

static void add_message(struct matching *matching, const struct end *send,
			const struct end *receive)
{
	const struct session_process *processes = matching->sums.session->scanned.items;

	*vec_push(&matching->messages->list) = (struct mpi_message){
		.world = world_of(matching, send->comm),
		.from = send->from,
		.to = receive->to,
		.from_process = processes[send->place.process].id,
		.to_process = processes[receive->place.process].id,
		.from_thread = send->thread,
		.to_thread = receive->thread,
		.begin_ns = send->begin_ns,
		.end_ns = receive->end_ns > send->begin_ns ? receive->end_ns : send->begin_ns,
		.count = 1,
		.bytes = send->bytes,
	};
}

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

static bool is_chosen(const struct end *end)
{
	return end->place.is_chosen || end->waiting.is_chosen;
}

static uint64_t chosen_ends(const struct end *ends, size_t count)
{
	uint64_t chosen = 0;

	for (size_t i = 0; i < count; i++)
		chosen += is_chosen(&ends[i]);
	return chosen;
}

/* The sends of one way, then its receives. */
static void match_way(struct matching *matching, const struct end *ends, size_t count)
{
	struct mpi_matches *matches = matching->sums.matches;
	const struct end *receives;
	size_t sends = 0;

	while (sends < count && ends[sends].sends)
		sends++;
	receives = ends + sends;
	count -= sends;

	size_t both = sends < count ? sends : count;

	for (size_t i = 0; i < both; i++) {
		bool chosen = is_chosen(&ends[i]) || is_chosen(&receives[i]);

		matches->messages += chosen;
		if (matching->bounded)
			bound_by_message(matching, &ends[i], &receives[i]);
		else if (!matching->messages)
			judge_message(matching, &ends[i], &receives[i]);
		else if (chosen)
			add_message(matching, &ends[i], &receives[i]);
	}
	matches->sends_alone += chosen_ends(ends + both, sends - both);
	matches->receives_alone += chosen_ends(receives + both, count - both);
}

static void match_messages(struct matching *matching)
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
		match_way(matching, ends + first, next - first);
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
static void judge_call(struct matching *matching, const struct part *parts, size_t members,
		       size_t calls, size_t number)
{
	const struct part *last = &parts[number];
	bool is_chosen = false;

	for (size_t i = 1; i < members; i++)
		if (parts[i * calls + number].begin_ns > last->begin_ns)
			last = &parts[i * calls + number];
	for (size_t i = 0; i < members; i++) {
		const struct part *part = &parts[i * calls + number];
		uint64_t until_ns = least(last->begin_ns, part->end_ns);

		is_chosen |= part->place.is_chosen;
		if (part == last || until_ns <= part->begin_ns)
			continue;
		mpi_wait_sums_add(
			&matching->sums,
			&(struct mpi_found_wait){.of = {.kind = MPI_WAIT_AT_COLLECTIVE,
							.world = world_of(matching, part->comm),
							.waiter = part->rank,
							.other = last->rank},
						 .waiter = &part->place,
						 .other = &last->place,
						 .ns = until_ns - part->begin_ns});
	}
	matching->sums.matches->collectives += is_chosen;
}

/* Only where all members' calls are there, and so the n-th of each is the same one. */
static void match_comm(struct matching *matching, const struct part *parts, size_t count)
{
	const struct mpi_comm *comm = &matching->worlds->comms.items[parts->comm - 1];
	size_t members = comm->members.count + comm->peers.count;
	size_t calls = members ? count / members : 0;

	if (!members || count % members || comm->peers.count)
		return;
	for (size_t i = 0; i < count; i++)
		if (parts[i].rank != parts[i / calls * calls].rank ||
		    (i && i % calls == 0 && parts[i].rank == parts[i - 1].rank) ||
		    parts[i].place.function != parts[i % calls].place.function)
			return;
	for (size_t number = 0; number < calls; number++)
		(matching->bounded ? bound_by_call : judge_call)(matching, parts, members, calls,
								 number);
}

static void match_collectives(struct matching *matching)
{
	const struct part *parts = matching->parts.items;
	size_t count = matching->parts.count;

	if (count)
		qsort(matching->parts.items, count, sizeof(*parts), by_comm);
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first; next < count && parts[next].comm == parts[first].comm;)
			next++;
		if (parts[first].comm)
			match_comm(matching, parts + first, next - first);
	}
}

/*
 * Experiments that are named one by one are programs to be compared.  Where each of them has no
 * more than one rank, they may be meant as ranks of one.
 */
static uint64_t parted_worlds(const struct mpi_worlds *worlds)
{
	size_t ranks = 0;

	for (size_t i = 0; i < worlds->processes; i++)
		ranks += worlds->of[i].rank != MPI_RANK_UNKNOWN;
	return worlds->worlds.count > 1 && ranks == worlds->worlds.count ? ranks : 0;
}

/* Of two hosts' times both may be off. */
static void tell_of_clocks(const struct mpi_clocks *clocks, uint32_t group,
			   struct mpi_matches *matches)
{
	double greatest = 0, second = 0;

	for (size_t i = 0; i < clocks->clocks.count; i++) {
		const struct mpi_clock *clock = &clocks->clocks.items[i];
		double error_ns = clock->line.error_ns;

		if ((group && group != clock->group) ||
		    !mpi_clocks_are_several(clocks, clock->group))
			continue;
		matches->clocks++;
		matches->unknown_clocks += !clock->is_known;
		second = fmax(second, fmin(greatest, error_ns));
		greatest = fmax(greatest, error_ns);
	}
	matches->clock_error_s = (greatest + second) / 1e9;
}

/* Reads the ends of all processes, and puts those of messages together. */
static void find_messages(struct matching *matching, const struct query *query)
{
	struct session *session = matching->sums.session;
	struct tally *tally = tally_of(session, query);

	matching->worlds = mpi_worlds_of(session);
	matching->clocks = matching->bounded ? NULL : mpi_clocks_of(session);
	for (uint32_t i = 0; i < session->scanned.count; i++)
		take_process(matching, tally, i);
	match_messages(matching);
	if (matching->sums.matches->sends_alone + matching->sums.matches->receives_alone)
		matching->sums.matches->parted = parted_worlds(matching->worlds);
	if (matching->clocks)
		tell_of_clocks(matching->clocks, tally->group, matching->sums.matches);
	tally_release(tally);
}

static void matching_fini(struct matching *matching)
{
	vec_fini(&matching->ends);
	vec_fini(&matching->parts);
	hash_map_fini(&matching->receives);
}

/* Of one clock there is nothing to be found out. */
static void find_bounds(struct session *session, struct mpi_clocks *clocks)
{
	const struct query all = {0};
	struct mpi_matches unused = {0};
	struct matching matching = {.sums = {.session = session, .matches = &unused},
				    .bounded = clocks};

	find_messages(&matching, &all);
	match_collectives(&matching);
	matching_fini(&matching);
}

static bool is_cancelled(const struct session *session)
{
	return session->watch && session->watch->cancelled;
}

const struct mpi_clocks *mpi_clocks_of(struct session *session)
{
	struct mpi_worlds *worlds;
	struct mpi_clocks *clocks;

	session_enter(session);
	worlds = mpi_worlds_of(session);
	clocks = worlds->clocks;
	if (!clocks || (clocks->is_partial && !is_cancelled(session))) {
		clocks = mpi_clocks_new(session, worlds);
		if (clocks->are_several)
			find_bounds(session, clocks);
		clocks->is_partial = is_cancelled(session);
		mpi_clocks_fit(clocks, session);
		clocks->before = worlds->clocks;
		worlds->clocks = clocks;
		worlds->free_clocks = mpi_clocks_free;
	}
	session_leave(session);
	return clocks;
}

void mpi_match(struct session *session, const struct query *query, enum mpi_waits_by by,
	       struct mpi_matches *matches)
{
	struct matching matching = {
		.sums = {.session = session,
			 .by = by,
			 .matches = matches,
			 .paths = {.session = session,
				   .style = query->name_style,
				   .mode = query->mode}},
	};

	*matches = (struct mpi_matches){0};
	session_enter(session); /* paths name places, which the session keeps */
	find_messages(&matching, query);
	match_collectives(&matching);
	mpi_wait_sums_end(&matching.sums);
	matching_fini(&matching);
	session_leave(session);
}

void mpi_match_messages(struct session *session, const struct query *query,
			struct mpi_messages *messages)
{
	struct mpi_matches unused = {0};
	struct matching matching = {.sums = {.session = session, .matches = &unused},
				    .messages = messages};

	session_enter(session);
	find_messages(&matching, query);
	matching_fini(&matching);
	session_leave(session);
}

void mpi_matches_fini(struct mpi_matches *matches)
{
	vec_fini(&matches->waits);
	vec_fini(&matches->paths);
	arena_fini(&matches->arena);
}
