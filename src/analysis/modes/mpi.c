/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call stacks are those of calls of MPI: they have a frame in a library of MPI's.  Frames
 * below it (transport, polling) may be of any library.
 *
 * User mode ends such a stack at the MPI function that the program has called.  A function of the
 * program's that the library calls (a reduction's, an error handler) stands right below that.
 */
#include "analysis/modes/modes.h"
#include "analysis/session/symbols.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* The file of a location's code, or MAP_NONE. */
static uint32_t file_of(const struct process *process, uint32_t location)
{
	const struct stack_location *at = &process->stacks.locations.items[location];
	uint32_t found = at->pc < FORMAT_PC_LIMIT
				 ? MAP_NONE
				 : experiment_map_find(&process->map, at->pc, at->epoch);

	return found == MAP_NONE ? MAP_NONE : process->map.segments.items[found].file;
}

static bool is_in_mpi(const struct process *process, uint32_t location)
{
	uint32_t file = file_of(process, location);

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
	for (uint32_t i = 0; i < stacks->locations.count; i++)
		in_mpi[i] = is_in_mpi(process, i);
	/* a parent stands before its children */
	for (size_t i = 1; i < stacks->nodes.count; i++) {
		const struct stack_node *node = &stacks->nodes.items[i];

		scanned->in_mpi[i] = in_mpi[node->location] || scanned->in_mpi[node->parent];
	}
	free(in_mpi);
}

/* ---- user mode ---- */

/* One process, while its stacks are folded. */
struct folding {
	struct process *process;
	bool *is_entry;	  /* by location: it is in a function of MPI's interface */
	bool *is_own;	  /* by file: its functions are the program's, also below such a call */
	bool *is_inside;  /* by node: it is the library's part of a stack */
	uint32_t *folded; /* by node: what is shown in its place */
};

/* MPI_Send, PMPI_Send, mpi_send_ and MPI::Comm::Send: not MPIR_Send, which is MPICH's own. */
static bool is_of_interface(const char *name)
{
	static const char method[] = "_ZN3MPI", constant_method[] = "_ZNK3MPI";

	if (!strncmp(name, method, sizeof(method) - 1) ||
	    !strncmp(name, constant_method, sizeof(constant_method) - 1))
		return true;
	name += *name == 'P' || *name == 'p';
	return !strncasecmp(name, "mpi_", 4);
}

/* By any of its names: mpi_send_ of Open MPI is ompi_send_f, too. */
static bool is_entry(const struct function *function)
{
	bool found = is_of_interface(function->mangled);

	for (const char *name = function->aliases; name && *name && !found;) {
		found = is_of_interface(name);
		name += strcspn(name, " ");
		name += strspn(name, " ");
	}
	return found;
}

static bool find_entries(struct folding *folding, struct session *session,
			 const struct experiment *experiment)
{
	const struct process *process = folding->process;
	bool found = false;

	for (uint32_t i = 0; i < process->stacks.locations.count; i++) {
		uint32_t object, function;
		uint64_t address;

		if (!is_in_mpi(process, i))
			continue;
		function = symbols_place(session, experiment, process, i, &object, &address);
		folding->is_entry[i] = is_entry(&session->functions.items[function]);
		found |= folding->is_entry[i];
	}
	return found;
}

/* All that is below an entry, for a start. */
static void find_inside(struct folding *folding)
{
	const struct stack_tree *stacks = &folding->process->stacks;

	for (size_t i = 1; i < stacks->nodes.count; i++) {
		const struct stack_node *node = &stacks->nodes.items[i];

		folding->is_inside[i] =
			folding->is_inside[node->parent] || folding->is_entry[node->location];
	}
}

/* Whose functions below a call of MPI are the library's, whoever else calls them. */
static bool is_of_all(const char *path)
{
	static const char *const names[] = {"libstdc++", "libgcc_s", "libgomp", "libomp",
					    "libiomp"};
	const char *name = path_name(path);

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return modes_is_system(path) || is_mpi(path);
}

/* Load objects that call MPI, be it by way of others. */
static void find_own(struct folding *folding)
{
	const struct experiment_map *map = &folding->process->map;
	const struct stack_tree *stacks = &folding->process->stacks;
	bool *calls = xcalloc(stacks->nodes.count, sizeof(*calls));

	for (size_t i = stacks->nodes.count; --i;) {
		const struct stack_node *node = &stacks->nodes.items[i];
		uint32_t file;

		calls[node->parent] |= calls[i] || folding->is_inside[i];
		if (!calls[i] || folding->is_inside[i])
			continue;
		file = file_of(folding->process, node->location);
		if (file != MAP_NONE)
			folding->is_own[file] = !is_of_all(map->files.items[file].path);
	}
	free(calls);
}

/* Whether the program goes on at a location below a call of MPI. */
static bool is_own(const struct folding *folding, uint32_t location)
{
	uint32_t file = file_of(folding->process, location);

	return file != MAP_NONE && folding->is_own[file];
}

/* Nodes are added where the program goes on: at most one for each node. */
static void fold_nodes(struct folding *folding)
{
	struct stack_tree *stacks = &folding->process->stacks;
	size_t count = stacks->nodes.count;
	struct pair_set added = {0};

	for (uint32_t i = 1; i < count; i++) {
		const struct stack_node node = stacks->nodes.items[i];
		uint32_t parent = folding->folded[node.parent];
		bool inside = folding->is_inside[node.parent];
		uint32_t fresh = (uint32_t)stacks->nodes.count;

		folding->is_inside[i] =
			inside ? !is_own(folding, node.location) : folding->is_entry[node.location];
		folding->folded[i] = i;
		if (inside && folding->is_inside[i])
			folding->folded[i] = parent;
		else if (parent != node.parent)
			folding->folded[i] = pair_set_put(&added, stacks->nodes.items, parent,
							  node.location, fresh);
		if (folding->folded[i] == fresh)
			*vec_push(&stacks->nodes) = (struct stack_node){parent, node.location};
	}
	pair_set_fini(&added);
}

/* Of a mode that shows other stacks than were recorded: nodes that were added are shown as such. */
static void show_added(uint32_t **shown, size_t before, size_t count)
{
	*shown = xrealloc(*shown, count * sizeof(**shown));
	for (size_t i = before; i < count; i++)
		(*shown)[i] = (uint32_t)i;
}

static void keep_folded(struct folding *folding, struct session_process *scanned, size_t before)
{
	uint32_t **user = &scanned->shown[VIEW_USER];
	size_t count = folding->process->stacks.nodes.count;

	if (!*user)
		show_added(user, 0, before);
	for (size_t i = 0; i < before; i++)
		(*user)[i] = folding->folded[(*user)[i]];
	for (int mode = 0; mode < VIEW_MODES; mode++)
		if (scanned->shown[mode])
			show_added(&scanned->shown[mode], before, count);
	modes_grow(scanned, before, count);
}

void modes_fold_mpi(struct session *session, const struct experiment *experiment,
		    struct process *process, struct session_process *scanned)
{
	const struct stack_tree *stacks = &process->stacks;
	size_t nodes = stacks->nodes.count;
	struct folding folding = {.process = process};

	if (!has_mpi(&process->map))
		return;
	folding.is_entry = xcalloc(stacks->locations.count + 1, sizeof(bool));
	folding.is_own = xcalloc(process->map.files.count + 1, sizeof(bool));
	folding.is_inside = xcalloc(nodes, sizeof(bool));
	folding.folded = xcalloc(nodes, sizeof(uint32_t));
	if (find_entries(&folding, session, experiment)) {
		find_inside(&folding);
		find_own(&folding);
		fold_nodes(&folding);
		keep_folded(&folding, scanned, nodes);
		session->has_modes = session->has_expert = true;
	}
	free(folding.is_entry);
	free(folding.is_own);
	free(folding.is_inside);
	free(folding.folded);
}
