/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/session/omp_names.h"

#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "base/array.h"

#include <string.h>

const struct omp_construct *omp_construct_of(const struct session_process *process, uint64_t number)
{
	return number < process->omp_construct_count && process->omp_constructs[number].key
		       ? &process->omp_constructs[number]
		       : NULL;
}

uint64_t omp_nearest(const struct session_process *process, uint64_t number, bool task)
{
	enum { DEEP = 256 }; /* more is damage */

	for (int depth = 0; depth < DEEP && number < process->omp_construct_count; depth++) {
		const struct omp_construct *construct = &process->omp_constructs[number];
		bool is_task = construct->kind == OMP_TASK;

		if (!number || is_task == task)
			return number;
		if (!is_task && depth) /* threads of a region are in no task around it */
			return 0;
		number = construct->parent;
	}
	return 0;
}

static bool is_nameless(const char *name)
{
	const char made_up[] = "<static>@";

	return !strncmp(name, made_up, sizeof(made_up) - 1);
}

/*
 * The function that encounters it, or the first one with a name around that, as far as they are of
 * the same load object: others call it as what it is called.  NULL: none has a name.
 */
static const char *named_around(struct session *session, const struct session_process *process,
				const struct omp_construct *construct, enum name_style style)
{
	const struct experiment *experiment = session->experiments.items[process->experiment];
	const struct stack_node *nodes = process->process->stacks.nodes.items;

	for (uint32_t node = construct->node; node != STACK_ROOT; node = nodes[node].parent) {
		uint32_t object;
		uint64_t address;
		uint32_t function = symbols_place(session, experiment, process->process,
						  nodes[node].location, &object, &address);
		const char *name;

		if (function < FUNCTION_FIRST_REAL ||
		    object != session->functions.items[construct->function].object)
			return NULL;
		name = symbols_name(session, function, style);
		if (!is_nameless(name))
			return name;
	}
	return NULL;
}

const char *omp_construct_name(struct session *session, const struct session_process *process,
			       uint64_t number, enum name_style style)
{
	static const char *const kinds[] = {
		[OMP_PARALLEL] = "parallel region", [OMP_TASK] = "task", [OMP_TEAMS] = "teams"};
	const struct omp_construct *construct = omp_construct_of(process, number);
	const char *kind, *name, *around;

	if (!construct)
		return arena_printf(&session->arena, "Construct %llu of process %u",
				    (unsigned long long)number, process->id);
	kind = construct->kind < COUNT(kinds) ? kinds[construct->kind] : "construct";
	if (construct->function == FUNCTION_UNKNOWN)
		return arena_printf(&session->arena, "%s -- OMP %s",
				    place_of_code(session,
						  session->experiments.items[process->experiment],
						  process->process, construct->site, style),
				    kind);
	name = symbols_name(session, construct->function, style);
	around = is_nameless(name) ? named_around(session, process, construct, style) : NULL;
	return around ? arena_printf(&session->arena, "%s -- OMP %s [%s]", around, kind, name)
		      : name;
}
