/* SPDX-License-Identifier: Apache-2.0 */
#include "manage/objects.h"

#include <inttypes.h>
#include <stdlib.h>

static struct load_file *intern_file(struct object_list *list, const struct map_file *map)
{
	char *key = xasprintf("%s\n%s\n%" PRIu64 "\n%" PRIu64, map->path, map->build_id, map->mtime,
			      map->file_size);
	uint32_t id = string_table_add(&list->keys, key);

	free(key);
	if (id == list->files.count)
		vec_push(&list->files)->map = map;
	return &list->files.items[id];
}

static void note_use(struct object_list *list, const struct process *process,
		     const struct stack_location *location, bool with_addresses)
{
	uint32_t found = experiment_map_find(&process->map, location->pc, location->epoch);

	if (found == MAP_NONE)
		return;
	const struct map_segment *segment = &process->map.segments.items[found];

	if (segment->file == MAP_NONE)
		return;
	struct load_file *file = intern_file(list, &process->map.files.items[segment->file]);

	file->used = true;
	if (with_addresses)
		*vec_push(&file->addresses) = location->pc - segment->bias;
}

void objects_add(struct object_list *list, const struct process *process, bool with_addresses)
{
	for (size_t i = 0; i < process->map.files.count; i++)
		intern_file(list, &process->map.files.items[i]);
	for (size_t i = 0; i < process->stacks.locations.count; i++)
		note_use(list, process, &process->stacks.locations.items[i], with_addresses);
}

void objects_fini(struct object_list *list)
{
	for (size_t i = 0; i < list->files.count; i++)
		vec_fini(&list->files.items[i].addresses);
	vec_fini(&list->files);
	string_table_fini(&list->keys);
}
