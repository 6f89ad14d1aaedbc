/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data of load objects.  map.xml says where their code is and by how much they were moved; whether
 * an address is in their data is found in their files.  Where two could have it, the one that was
 * mapped last does.
 */
#include "analysis/data/data_address.h"

#include "analysis/session/symbols.h"

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

void place_spans_read(struct session *session, const struct experiment *experiment,
		      const struct process *process, struct place_spans *spans)
{
	const struct experiment_map *map = &process->map;

	for (size_t i = 0; i < map->segments.count; i++) {
		const struct map_segment *segment = &map->segments.items[i];
		struct place_span span = {.bias = segment->bias};

		if (segment->file == MAP_NONE)
			continue;
		span.object =
			symbols_place_object(session, experiment, &map->files.items[segment->file]);
		if (!object_data_span(symbols_object(session, span.object), &span.start,
				      &span.end)) {
			symbols_close_unused(session, span.object);
			continue;
		}
		span.start += span.bias;
		span.end += span.bias;
		*vec_push(spans) = span;
	}
}

bool place_spans_find(struct session *session, const struct place_spans *spans, uint64_t address,
		      uint32_t *object, uint64_t *out)
{
	for (size_t i = spans->count; i--;) {
		const struct place_span *span = &spans->items[i];
		struct object_data data;

		if (address < span->start || address >= span->end ||
		    !object_data_at(session->objects.items[span->object].object,
				    address - span->bias, &data))
			continue;
		*object = span->object;
		*out = address - span->bias;
		return true;
	}
	return false;
}

bool place_of_data(struct session *session, const struct experiment *experiment,
		   const struct process *process, uint64_t address, struct place *out)
{
	struct place_spans spans = {0};
	struct object_data data;
	bool found;

	place_spans_read(session, experiment, process, &spans);
	found = place_spans_find(session, &spans, address, &out->object, &out->address);
	if (found) {
		struct load_object *object = &session->objects.items[out->object];

		object_data_at(object->object, out->address, &data);
		out->name = data_name(session, object, &data, out->address);
	}
	vec_fini(&spans);
	return found;
}
