/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of one experiment, or of a group of experiments, are one world each rank of which
 * occurs once: what is started later, by MPI_Comm_spawn, has ranks that are taken, and is another.
 */
#include "analysis/kinds/mpi_world.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 1 << 24 };

/* ---- ranks ---- */

static bool has_events(const struct process *process)
{
	return process->traces[TRACE_MPI].rows.count;
}

/* The first world of its group in which nobody has the rank. */
static uint32_t world_for(struct mpi_worlds *worlds, uint32_t group, int32_t rank)
{
	uint32_t number = 0;

	for (; number < worlds->worlds.count; number++) {
		uint64_t key = (uint64_t)number << 32 | (uint32_t)rank;

		if (worlds->worlds.items[number].group == group &&
		    hash_map_get(&worlds->taken, key) == HASH_NONE)
			return number;
	}
	*vec_push(&worlds->worlds) = (struct mpi_world){.group = group};
	return number;
}

static void add_rank(struct mpi_worlds *worlds, const struct session_process *process,
		     uint32_t group)
{
	struct mpi_process *of = &worlds->of[process->id - 1];

	of->rank = experiment_rank(process->process);
	if (of->rank < 0 || of->rank >= RANKS_MAX)
		of->rank = MPI_RANK_UNKNOWN;
	if (of->rank == MPI_RANK_UNKNOWN)
		return;
	of->world = world_for(worlds, group, of->rank);
	hash_map_put(&worlds->taken, (uint64_t)of->world << 32 | (uint32_t)of->rank, process->id);
}

/* ---- communicators ---- */

static void add_range(struct mpi_ranks *ranks, unsigned long first, unsigned long last,
		      unsigned long step)
{
	struct mpi_range range = {.first = (int32_t)first,
				  .step = (int32_t)step,
				  .before = ranks->count,
				  .count = last < first ? 0 : (last - first) / step + 1};

	*vec_push(&ranks->ranges) = range;
	ranks->count += range.count;
}

static int32_t rank_at(const struct mpi_ranks *ranks, uint64_t index)
{
	size_t low = 0, high = ranks->ranges.count;

	if (index >= ranks->count)
		return MPI_RANK_UNKNOWN;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (ranks->ranges.items[middle].before <= index)
			low = middle;
		else
			high = middle;
	}
	const struct mpi_range *range = &ranks->ranges.items[low];

	return range->first + (int32_t)(index - range->before) * range->step;
}

/* Reads "a-b+s,c": up to another character. */
static const char *read_ranks(const char *text, struct mpi_ranks *ranks)
{
	while (*text >= '0' && *text <= '9') {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first, step = 1;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (*end == '+')
			step = strtoul(end + 1, &end, 10);
		if (first >= RANKS_MAX || last >= RANKS_MAX || !step || step >= RANKS_MAX)
			return end;
		add_range(ranks, first, last, step);
		text = *end == ',' ? end + 1 : end;
	}
	/* communicators may be very many, of one range each */
	if (ranks->ranges.count)
		ranks->ranges.items = xrealloc(ranks->ranges.items,
					       ranks->ranges.count * sizeof(*ranks->ranges.items));
	ranks->ranges.capacity = ranks->ranges.count;
	return text;
}

/* An inter-communicator, "N:RANKS|OTHERS", which is "N:OTHERS|RANKS" to the others. */
static void join_groups(struct mpi_worlds *worlds, uint32_t number, const char *identity,
			const char *colon, const char *bar)
{
	char *other = xasprintf("%" PRIu32 " %.*s:%s|%.*s", worlds->comms.items[number].world,
				(int)(colon - identity), identity, bar + 1, (int)(bar - colon - 1),
				colon + 1);
	uint32_t found = string_table_find(&worlds->identities, other);

	if (found != HASH_NONE)
		worlds->comms.items[number].both = worlds->comms.items[found].both;
	free(other);
}

static uint32_t add_comm(struct mpi_worlds *worlds, uint32_t world, const char *text)
{
	const char *sign = strrchr(text, '#'), *ranks = sign ? strchr(sign, ':') : NULL;

	if (!ranks)
		return 0;
	char *key = xasprintf("%" PRIu32 " %s", world, sign + 1);
	uint32_t number = string_table_add(&worlds->identities, key);

	free(key);
	if (number == worlds->comms.count) {
		struct mpi_comm *comm = vec_push(&worlds->comms);

		*comm = (struct mpi_comm){.world = world,
					  .name = "",
					  .identity = arena_strdup(&worlds->arena, sign + 1)};
		comm->both = number;
		const char *bar = read_ranks(ranks + 1, &comm->members);

		if (*bar == '|') {
			read_ranks(bar + 1, &comm->peers);
			join_groups(worlds, number, sign + 1, ranks, bar);
		}
	}
	struct mpi_comm *comm = &worlds->comms.items[number];

	if (sign > text) /* the last name that it had */
		comm->name = arena_strndup(&worlds->arena, text, (size_t)(sign - text));
	return number + 1;
}

static void read_texts(struct mpi_worlds *worlds, const struct session_process *process)
{
	const struct experiment_trace *trace = &process->process->traces[TRACE_MPI];
	struct mpi_process *of = &worlds->of[process->id - 1];
	size_t count = trace->texts.count;

	of->texts = count;
	of->comms = xcalloc(count + 1, sizeof(*of->comms));
	of->functions = xcalloc(count + 1, sizeof(*of->functions));
	for (size_t i = 0; i < count; i++) {
		const char *text = trace->texts.items[i];

		if (text && strchr(text, '#'))
			of->comms[i] = add_comm(worlds, of->world, text);
		else if (text)
			of->functions[i] = string_table_add(&worlds->functions, text) + 1;
	}
}

static void free_worlds(struct mpi_worlds *worlds)
{
	for (size_t i = 0; i < worlds->processes; i++) {
		free(worlds->of[i].comms);
		free(worlds->of[i].functions);
	}
	for (size_t i = 0; i < worlds->comms.count; i++) {
		vec_fini(&worlds->comms.items[i].members.ranges);
		vec_fini(&worlds->comms.items[i].peers.ranges);
	}
	if (worlds->clocks)
		worlds->free_clocks(worlds->clocks);
	free(worlds->of);
	vec_fini(&worlds->worlds);
	hash_map_fini(&worlds->taken);
	vec_fini(&worlds->comms);
	string_table_fini(&worlds->identities);
	string_table_fini(&worlds->functions);
	arena_fini(&worlds->arena);
	free(worlds);
}

struct mpi_worlds *mpi_worlds_of(struct session *session)
{
	struct mpi_worlds *worlds = session->mpi_worlds;
	size_t count = session->scanned.count;

	if (worlds)
		return worlds;
	session->mpi_worlds = worlds = xcalloc(1, sizeof(*worlds));
	session->free_mpi_worlds = free_worlds;
	worlds->of = xcalloc(count + 1, sizeof(*worlds->of));
	worlds->processes = count;
	for (size_t i = 0; i < count; i++)
		worlds->of[i].rank = MPI_RANK_UNKNOWN;
	/* Those that were ranks indeed before scripts that have their names. */
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < count; i++)
			if (has_events(session->scanned.items[i].process) == !turn)
				add_rank(worlds, &session->scanned.items[i],
					 session->scanned.items[i].group);
	for (size_t i = 0; i < count; i++)
		read_texts(worlds, &session->scanned.items[i]);
	return worlds;
}

/* ---- events ---- */

uint32_t mpi_comm_of(const struct mpi_process *process, uint64_t text)
{
	return text < process->texts ? process->comms[text] : 0;
}

uint32_t mpi_function_of(const struct mpi_process *process, uint64_t text)
{
	return text < process->texts ? process->functions[text] : 0;
}

int32_t mpi_peer_rank(const struct mpi_worlds *worlds, const struct mpi_process *process,
		      uint64_t communicator, uint64_t peer)
{
	uint32_t number = mpi_comm_of(process, communicator);

	if (!number || peer < MPI_PEER_RANK)
		return MPI_RANK_UNKNOWN;
	const struct mpi_comm *comm = &worlds->comms.items[number - 1];

	return rank_at(comm->peers.count ? &comm->peers : &comm->members, peer - MPI_PEER_RANK);
}
