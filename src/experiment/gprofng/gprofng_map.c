/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.xml of gprofng.  It tells where in its file a segment begins, not what
 * its addresses are in ELF: that is in the program headers (gprofng_object.c).
 */
#include "experiment/gprofng/gprofng.h"

#include "base/hash.h"
#include "experiment/xml.h"

#include <stdlib.h>
#include <string.h>

enum { MODE_EXECUTE = 4 };

#define SEGMENT_SIZE_MAX (1ull << 40)

enum change_kind { CHANGE_MAP, CHANGE_UNMAP, CHANGE_FUNCTION };

/* A line of the file. */
struct change {
	enum change_kind kind;
	uint64_t time_ns, address, size, offset;
	const char *name;
	size_t order;
};

struct map_reader {
	struct experiment_map *map;
	struct arena *arena;
	uint64_t start_ns;
	const struct experiment *experiment;
	VEC(struct change) changes;
	struct string_table paths;
	VEC(struct gprofng_object) objects; /* of the map's files */
	size_t bad;
};

/* ---- what the file says ---- */

static void on_event(struct map_reader *reader, const char **attributes, enum change_kind kind,
		     const char *name)
{
	struct change change = {.kind = kind, .order = reader->changes.count};
	const char *offset = xml_attribute(attributes, "foffset"),
		   *time = xml_attribute(attributes, "tstamp");

	if (!xml_number(attributes, "vaddr", &change.address) ||
	    (kind != CHANGE_UNMAP && (!name || !xml_number(attributes, "size", &change.size))) ||
	    change.size > SEGMENT_SIZE_MAX || change.address + change.size < change.address) {
		reader->bad++;
		return;
	}
	/* what has no time, or is the kernel's, was always there */
	if (time && !(name && name[0] == '['))
		change.time_ns = reader->start_ns + gprofng_seconds(time);
	change.offset = offset ? strtoull(offset, NULL, 16) : 0;
	change.name = name ? arena_strdup(reader->arena, name) : NULL;
	*vec_push(&reader->changes) = change;
}

static void on_element(void *data, const char *element, const char **attributes)
{
	struct map_reader *reader = data;
	const char *kind = xml_attribute(attributes, "kind"),
		   *object = xml_attribute(attributes, "object"),
		   *name = xml_attribute(attributes, "name");
	uint64_t modes = 0;

	if (strcmp(element, "event") != 0 || !kind)
		return;
	if (!strcmp(kind, "unmap")) {
		on_event(reader, attributes, CHANGE_UNMAP, NULL);
	} else if (!strcmp(kind, "map") && object) {
		xml_number(attributes, "modes", &modes);
		if (!strcmp(object, "segment") && modes & MODE_EXECUTE)
			on_event(reader, attributes, CHANGE_MAP, name);
		else if (!strcmp(object, "function"))
			on_event(reader, attributes, CHANGE_FUNCTION, name);
		else if (!strcmp(object, "dynfunc"))
			on_event(reader, attributes, CHANGE_FUNCTION,
				 xml_attribute(attributes, "funcname"));
	}
}

/* By time; of one moment the larger first, so that a function within another is the later one. */
static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->kind == CHANGE_FUNCTION && y->kind == CHANGE_FUNCTION && x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* ---- segments ---- */

static uint32_t add_file(struct map_reader *reader, const char *path)
{
	struct experiment_map *map = reader->map;
	uint32_t id = string_table_add(&reader->paths, path);

	if (id < map->files.count)
		return id;

	struct map_file *file = vec_push(&map->files);

	file->path = path;
	file->copy = gprofng_object_copy(reader->experiment, path, reader->arena);
	gprofng_object_read(vec_push(&reader->objects), file->copy ? file->copy : path);
	file->build_id = arena_strdup(reader->arena, reader->objects.items[id].build_id);
	return id;
}

/* What was added to the file's addresses in ELF. */
static uint64_t bias_of(const struct gprofng_object *object, const struct change *change)
{
	for (size_t i = 0; i < object->loads.count; i++) {
		const struct gprofng_load *load = &object->loads.items[i];

		/* a segment begins at a page, before the first byte of its code */
		if (load->offset < change->offset + change->size &&
		    change->offset < load->offset + load->size)
			return change->address - (load->address - load->offset + change->offset);
	}
	return change->address - change->offset;
}

static struct map_segment *add_segment(struct map_reader *reader, const struct change *change,
				       uint32_t epoch)
{
	struct map_segment *segment = vec_push(&reader->map->segments);

	*segment = (struct map_segment){
		.start = change->address,
		.end = change->address + change->size,
		.first_epoch = epoch,
		.last_epoch = UINT32_MAX,
		.file = MAP_NONE,
		.function = MAP_NONE,
		.order = (uint32_t)reader->map->segments.count,
	};
	return segment;
}

static void add_function(struct map_reader *reader, const struct change *change, uint32_t epoch)
{
	struct map_segment *segment = add_segment(reader, change, epoch);
	struct map_function *function = vec_push(&reader->map->functions);

	segment->function = (uint32_t)reader->map->functions.count - 1;
	*function = (struct map_function){
		.name = change->name,
		.alias = "",
		.source = "",
		.address = change->address,
		.size = change->size,
		.directory = "",
		.unloaded = UINT64_MAX,
	};
}

/* The latest segment that begins there is gone from this epoch on. */
static void end_segment(struct map_reader *reader, const struct change *change, uint32_t epoch)
{
	for (size_t i = reader->map->segments.count; i--;) {
		struct map_segment *segment = &reader->map->segments.items[i];

		if (segment->start != change->address)
			continue;
		if (segment->last_epoch == UINT32_MAX && epoch > 0)
			segment->last_epoch = epoch - 1;
		return;
	}
}

static void apply(struct map_reader *reader, struct gprofng_changes *moments)
{
	for (size_t i = 0; i < reader->changes.count; i++) {
		const struct change *change = &reader->changes.items[i];
		uint32_t file;

		if (change->time_ns &&
		    (!moments->count || moments->items[moments->count - 1] != change->time_ns))
			*vec_push(moments) = change->time_ns;

		uint32_t epoch = change->time_ns ? (uint32_t)moments->count : 0;

		if (change->kind == CHANGE_UNMAP) {
			end_segment(reader, change, epoch);
		} else if (change->kind == CHANGE_FUNCTION) {
			add_function(reader, change, epoch);
		} else {
			struct map_segment *segment = add_segment(reader, change, epoch);

			file = add_file(reader, change->name);
			segment->file = file;
			segment->bias = bias_of(&reader->objects.items[file], change);
		}
	}
}

uint32_t gprofng_epoch(const struct gprofng_changes *changes, uint64_t time_ns)
{
	size_t low = 0, high = changes->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (changes->items[middle] <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

void gprofng_map_read(struct process *process, const struct gprofng_log *log,
		      struct experiment *experiment, struct gprofng_changes *changes,
		      const struct read_context *context)
{
	struct map_reader reader = {
		.map = &process->map,
		.arena = &experiment->arena,
		.start_ns = log->run_ns - log->base_ns,
		.experiment = experiment,
	};
	struct xml_result result;

	process->map = (struct experiment_map){0};
	xml_read(context, FORMAT_FILE_MAP, on_element, &reader, &result);
	if (reader.changes.count)
		qsort(reader.changes.items, reader.changes.count, sizeof(*reader.changes.items),
		      compare_changes);
	apply(&reader, changes);
	process->map.present = result.present;
	process->map.closed = true;
	process->map.damaged = result.damaged_lines || result.too_large || reader.bad;
	experiment_map_sort(&process->map);
	if (process->map.damaged)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: map.xml is damaged: %zu of its events could not be read; functions "
			 "of some load objects may show as <Unknown>",
			 context->name, result.damaged_lines + reader.bad);
	for (size_t i = 0; i < reader.objects.count; i++)
		gprofng_object_fini(&reader.objects.items[i]);
	vec_fini(&reader.objects);
	vec_fini(&reader.changes);
	string_table_fini(&reader.paths);
}
