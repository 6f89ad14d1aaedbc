/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data of load objects.  map.xml says where their code is, and by how much they were moved:
 * whether an address lies in the data of one of them its file tells.  The last one that
 * was mapped counts.
 */
#include "analysis/place.h"

#include <stdlib.h>

static const char *data_name(struct session *session, const struct load_object *object,
			     const struct object_data *data, uint64_t address)
{
	if (!data->mangled)
		return arena_printf(&session->arena, "<%s> + 0x%llx", object->name,
				    (unsigned long long)address);

	char *name = object_demangle(data->mangled, NAME_LONG);
	const char *text = address == data->address
				   ? arena_strdup(&session->arena, name)
				   : arena_printf(&session->arena, "%s + 0x%llx", name,
						  (unsigned long long)(address - data->address));

	free(name);
	return text;
}

bool place_of_data(struct session *session, const struct experiment *experiment,
		   const struct process *process, uint64_t address, struct place *out)
{
	const struct experiment_map *map = &process->map;

	for (size_t i = map->segments.count; i--;) {
		const struct map_segment *segment = &map->segments.items[i];
		struct object_data data;

		if (segment->file == MAP_NONE || address < segment->bias)
			continue;

		uint32_t id = place_object(session, experiment, &map->files.items[segment->file]);
		struct load_object *object = &session->objects.items[id];

		if (!object_data_at(object->object, address - segment->bias, &data))
			continue;
		out->object = id;
		out->address = address - segment->bias;
		out->name = data_name(session, object, &data, out->address);
		return true;
	}
	return false;
}
