/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process gets only those functions of its parent that its own call stacks go through, or those
 * of its descendants: a program with many functions may fork many children, each of which would
 * have a copy of all.
 */
#include "experiment/inherit.h"

#include "format/lineage.h"

#include <stdlib.h>

static int compare_pcs(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void sort_pcs(struct map_pcs *pcs)
{
	size_t kept = 0;

	if (pcs->count)
		qsort(pcs->items, pcs->count, sizeof(*pcs->items), compare_pcs);
	for (size_t i = 0; i < pcs->count; i++)
		if (!i || pcs->items[i] != pcs->items[kept - 1])
			pcs->items[kept++] = pcs->items[i];
	pcs->count = kept;
}

static const struct process *parent_of(const struct experiment *experiment, const char *lineage)
{
	size_t length;

	return lineage_step(lineage, &length) ? experiment_find_lineage(experiment, lineage, length)
					      : NULL;
}

/* The pcs of a process that inherits, with those that its children have put there. */
static void find_pcs(const struct experiment *experiment, const struct process *process,
		     struct map_pcs *pcs)
{
	const struct process *parent = parent_of(experiment, process->lineage);
	struct map_pcs *own = &pcs[process - experiment->processes.items];

	for (size_t i = 0; i < process->stacks.locations.count; i++)
		*vec_push(own) = process->stacks.locations.items[i].pc;
	sort_pcs(own);
	if (!parent || !parent->map.inherits)
		return;

	struct map_pcs *parents = &pcs[parent - experiment->processes.items];

	for (size_t i = 0; i < own->count; i++)
		*vec_push(parents) = own->items[i];
}

/* "_f1_x2" inherits from "_f1", and that from the founder, "": their maps are read for this. */
static void inherit_from_unread(struct experiment *experiment, struct experiment_map *map,
				const char *lineage, const struct map_pcs *pcs,
				struct diag_list *warnings)
{
	struct read_context above = {experiment->family, "", experiment->name, warnings, NULL};
	struct experiment_map temporary;
	size_t length;

	if (!map->inherits || !lineage_step(lineage, &length))
		return;

	char *rest = arena_strndup(&experiment->arena, lineage, length);

	if (length)
		above.directory = arena_printf(&experiment->arena, "%s.er", rest);
	experiment_map_read(&temporary, &experiment->arena, &above);
	inherit_from_unread(experiment, &temporary, rest, pcs, warnings);
	experiment_map_inherit(map, &temporary, pcs);
	experiment_map_fini(&temporary);
}

/* An experiment that was opened at a descendant has that one process alone. */
static void inherit_functions(struct experiment *experiment, struct process *process,
			      const struct map_pcs *pcs, struct diag_list *warnings)
{
	const struct process *parent = parent_of(experiment, process->lineage);

	if (!process->map.inherits)
		return;
	if (parent)
		experiment_map_inherit(&process->map, &parent->map, pcs);
	else if (process == experiment->processes.items)
		inherit_from_unread(experiment, &process->map, process->lineage, pcs, warnings);
}

/* Parents come before their children. */
void experiment_inherit(struct experiment *experiment, struct diag_list *warnings)
{
	size_t count = experiment->processes.count;
	struct map_pcs *pcs = xcalloc(count + 1, sizeof(*pcs));

	for (size_t i = count; i--;)
		if (experiment->processes.items[i].map.inherits)
			find_pcs(experiment, &experiment->processes.items[i], pcs);
	for (size_t i = 0; i < count; i++) {
		struct process *process = &experiment->processes.items[i];

		inherit_functions(experiment, process, &pcs[i], warnings);
		vec_fini(&pcs[i]);
	}
	free(pcs);
}
