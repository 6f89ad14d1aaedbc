/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call stacks are those of calls of MPI: they have a frame in a library of MPI's.  Frames
 * below it (transport, polling) may be of any library.
 */
#include "analysis/modes/modes.h"
#include "base/memory.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

/* Open MPI's, MPICH's and Intel's, for C and Fortran; libmpir computes with large numbers. */
static bool is_mpi(const char *path)
{
	static const char prefix[] = "libmpi";
	const char *name = path_name(path);

	return !strncmp(name, prefix, sizeof(prefix) - 1) && name[sizeof(prefix) - 1] != 'r';
}

static bool has_mpi(const struct experiment_map *map)
{
	for (size_t i = 0; i < map->files.count; i++)
		if (is_mpi(map->files.items[i].path))
			return true;
	return false;
}

static bool is_in_mpi(const struct process *process, const struct stack_location *at)
{
	uint32_t found = at->pc < FORMAT_PC_LIMIT
				 ? MAP_NONE
				 : experiment_map_find(&process->map, at->pc, at->epoch);
	uint32_t file = found == MAP_NONE ? MAP_NONE : process->map.segments.items[found].file;

	return file != MAP_NONE && is_mpi(process->map.files.items[file].path);
}

void modes_find_mpi(const struct process *process, struct session_process *scanned)
{
	const struct stack_tree *stacks = &process->stacks;
	bool *in_mpi;

	if (!has_mpi(&process->map))
		return;
	in_mpi = xcalloc(stacks->locations.count + 1, sizeof(*in_mpi));
	scanned->in_mpi = xcalloc(stacks->nodes.count, sizeof(*scanned->in_mpi));
	for (size_t i = 0; i < stacks->locations.count; i++)
		in_mpi[i] = is_in_mpi(process, &stacks->locations.items[i]);
	/* a parent stands before its children */
	for (size_t i = 1; i < stacks->nodes.count; i++) {
		const struct stack_node *node = &stacks->nodes.items[i];

		scanned->in_mpi[i] = in_mpi[node->location] || scanned->in_mpi[node->parent];
	}
	free(in_mpi);
}
