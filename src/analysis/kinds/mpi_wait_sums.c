/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/mpi_wait_sums.h"

#include "analysis/kinds/mpi_world.h"
#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

static bool same_wait(const struct mpi_wait *x, const struct mpi_wait *y)
{
	return x->kind == y->kind && x->world == y->world && x->waiter == y->waiter &&
	       x->other == y->other && x->path == y->path && x->other_path == y->other_path &&
	       x->function == y->function && x->other_function == y->other_function;
}

/* Names are those of one table: as many pointers as names. */
static uint64_t hash_of(const struct mpi_wait *wait)
{
	const uint64_t words[] = {wait->kind,
				  wait->world,
				  (uint64_t)wait->waiter << 32 | (uint32_t)wait->other,
				  (uint64_t)wait->path << 32 | wait->other_path,
				  (uintptr_t)wait->function,
				  (uintptr_t)wait->other_function};

	return hash_text(words, sizeof(words));
}

static struct mpi_wait *row_of(struct mpi_wait_sums *sums, const struct mpi_wait *wait)
{
	struct mpi_matches *matches = sums->matches;
	uint64_t hash = hash_of(wait);

	for (;; hash++) { /* another wait may have that hash */
		uint32_t fresh = (uint32_t)matches->waits.count;
		uint32_t number = hash_map_put(&sums->rows, hash, fresh);

		if (number == fresh)
			*vec_push(&matches->waits) = *wait;
		if (same_wait(&matches->waits.items[number], wait))
			return &matches->waits.items[number];
	}
}

static const char *name_of(const struct mpi_wait_sums *sums, const struct mpi_place *place)
{
	const struct mpi_worlds *worlds = mpi_worlds_of(sums->session);

	return place->function ? string_table_text(&worlds->functions, place->function - 1) : "";
}

static uint32_t path_of(struct mpi_wait_sums *sums, const struct mpi_place *place)
{
	const struct session *session = sums->session;
	const struct session_process *process = &session->scanned.items[place->process];

	return stack_set_add(&sums->paths, session->experiments.items[process->experiment],
			     process->process, place->node);
}

void mpi_wait_sums_add(struct mpi_wait_sums *sums, const struct mpi_found_wait *wait)
{
	if (wait->waiter->is_chosen)
		*vec_push(&sums->found) = *wait;
}

static void add_row(struct mpi_wait_sums *sums, const struct mpi_found_wait *found)
{
	struct mpi_wait wait = {
		.kind = found->of.kind,
		.function = name_of(sums, found->waiter),
		.other_function = name_of(sums, found->other),
	};

	if (sums->by == MPI_BY_PATHS) {
		wait.path = path_of(sums, found->waiter);
		wait.other_path = path_of(sums, found->other);
	} else {
		wait.world = found->of.world;
		wait.waiter = found->of.waiter;
		wait.other = found->of.other;
	}

	struct mpi_wait *row = row_of(sums, &wait);

	row->count++;
	row->total_ns += found->ns;
	row->longest_ns = found->ns > row->longest_ns ? found->ns : row->longest_ns;
}

static int by_time(const void *a, const void *b)
{
	const struct mpi_wait *x = a, *y = b;

	COMPARE(y->total_ns, x->total_ns);
	COMPARE(x->kind, y->kind);
	COMPARE(x->world, y->world);
	COMPARE(x->waiter, y->waiter);
	COMPARE(x->other, y->other);
	COMPARE(x->path, y->path);
	COMPARE(x->other_path, y->other_path);
	return strcmp(x->function, y->function);
}

static int by_call(const void *a, const void *b)
{
	const struct mpi_found_wait *x = a, *y = b;

	COMPARE(x->waiter->process, y->waiter->process);
	COMPARE(x->waiter->call, y->waiter->call);
	COMPARE(y->ns, x->ns);
	COMPARE(x->of.kind, y->of.kind);
	COMPARE(x->of.other, y->of.other);
	return 0;
}

static bool is_of_call(const struct mpi_found_wait *wait, const struct mpi_found_wait *before)
{
	return wait->waiter->process == before->waiter->process &&
	       wait->waiter->call == before->waiter->call;
}

static void sum_up(struct mpi_wait_sums *sums)
{
	const struct mpi_found_wait *found = sums->found.items;

	if (sums->found.count)
		qsort(sums->found.items, sums->found.count, sizeof(*found), by_call);
	for (size_t i = 0; i < sums->found.count; i++)
		if (!i || !is_of_call(&found[i], &found[i - 1]))
			add_row(sums, &found[i]);
	vec_fini(&sums->found);
}

static void write_paths(struct mpi_wait_sums *sums)
{
	struct mpi_matches *matches = sums->matches;

	for (uint32_t i = 0; i < sums->paths.rows.count; i++) {
		struct mpi_path *path = vec_push(&matches->paths);

		path->frames = stack_set_frames(&sums->paths, i, &matches->arena, &path->depth);
	}
}

void mpi_wait_sums_end(struct mpi_wait_sums *sums)
{
	struct mpi_matches *matches = sums->matches;

	sum_up(sums);
	if (matches->waits.count)
		qsort(matches->waits.items, matches->waits.count, sizeof(*matches->waits.items),
		      by_time);
	if (sums->by == MPI_BY_PATHS)
		write_paths(sums);
	stack_set_fini(&sums->paths);
	hash_map_fini(&sums->rows);
}
