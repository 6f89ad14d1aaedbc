/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/map.h"

#include "base/hash.h"
#include "experiment/xml.h"

#include <stdlib.h>
#include <string.h>

/* Code of one file is never longer than this; more is damage. */
#define SEGMENT_SIZE_MAX (1ull << 40)

struct map_reader {
	struct experiment_map *map;
	struct arena *arena;
	struct string_table keys; /* of a file: everything that makes it another one */
	size_t bad_events;
};

static uint32_t intern_file(struct map_reader *reader, const char **attributes, const char *path)
{
	struct experiment_map *map = reader->map;
	const char *build_id = xml_attribute(attributes, "buildid");
	uint64_t mtime = 0, size = 0;

	xml_number(attributes, "mtime", &mtime);
	xml_number(attributes, "filesize", &size);

	char *key = xasprintf("%s\n%s\n%llu\n%llu", path, build_id ? build_id : "",
			      (unsigned long long)mtime, (unsigned long long)size);
	uint32_t id = string_table_add(&reader->keys, key);

	free(key);
	if (id < map->files.count)
		return id;

	struct map_file *file = vec_push(&map->files);

	file->path = arena_strdup(reader->arena, path);
	file->build_id = build_id ? arena_strdup(reader->arena, build_id) : "";
	file->mtime = mtime;
	file->file_size = size;
	return id;
}

static bool add_segment(struct map_reader *reader, const char **attributes)
{
	struct experiment_map *map = reader->map;
	const char *path = xml_attribute(attributes, "name");
	uint64_t start, size, bias, epoch = 0;

	if (!path || !xml_number(attributes, "vaddr", &start) ||
	    !xml_number(attributes, "size", &size) || !xml_number(attributes, "bias", &bias))
		return false;
	xml_number(attributes, "epoch", &epoch);
	if (size > SEGMENT_SIZE_MAX || start + size < start || epoch > UINT32_MAX)
		return false;

	uint32_t file = intern_file(reader, attributes, path);
	struct map_segment *segment = vec_push(&map->segments);

	segment->start = start;
	segment->end = start + size;
	segment->bias = bias;
	segment->first_epoch = (uint32_t)epoch;
	segment->last_epoch = UINT32_MAX;
	segment->file = file;
	segment->order = (uint32_t)map->segments.count;
	return true;
}

/* The latest segment that begins there ends; see experiment_map_find. */
static bool end_segment(struct map_reader *reader, const char **attributes)
{
	struct experiment_map *map = reader->map;
	uint64_t start, epoch = 0;

	if (!xml_number(attributes, "vaddr", &start))
		return false;
	xml_number(attributes, "epoch", &epoch);
	for (size_t i = map->segments.count; i--;) {
		struct map_segment *segment = &map->segments.items[i];

		if (segment->start != start)
			continue;
		if (epoch > segment->first_epoch && epoch < segment->last_epoch)
			segment->last_epoch = (uint32_t)epoch;
		break;
	}
	return true;
}

static void on_map_element(void *data, const char *element, const char **attributes)
{
	struct map_reader *reader = data;
	const char *kind = xml_attribute(attributes, "kind");

	if (strcmp(element, "event") || !kind)
		return;
	if ((!strcmp(kind, "map") && !add_segment(reader, attributes)) ||
	    (!strcmp(kind, "unmap") && !end_segment(reader, attributes)))
		reader->bad_events++;
}

static int compare_segments(const void *a, const void *b)
{
	const struct map_segment *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void sort_segments(struct experiment_map *map)
{
	uint64_t reach = 0;

	if (map->segments.count)
		qsort(map->segments.items, map->segments.count, sizeof(*map->segments.items),
		      compare_segments);
	for (size_t i = 0; i < map->segments.count; i++) {
		if (map->segments.items[i].end > reach)
			reach = map->segments.items[i].end;
		map->segments.items[i].reach = reach;
	}
}

void experiment_map_read(struct experiment_map *map, struct arena *arena,
			 const struct read_context *context)
{
	struct map_reader reader = {.map = map, .arena = arena};
	struct xml_result result;

	*map = (struct experiment_map){0};
	xml_read(context, FORMAT_FILE_MAP, on_map_element, &reader, &result);
	string_table_fini(&reader.keys);
	map->present = result.present;
	map->closed = result.closed;
	map->damaged = result.damaged_lines || result.too_large || reader.bad_events;
	sort_segments(map);
	if (map->damaged)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: map.xml is damaged: %zu of its events could not be read; functions "
			 "of some load objects may show as <Unknown>",
			 context->name, result.damaged_lines + reader.bad_events);
}

void experiment_map_fini(struct experiment_map *map)
{
	vec_fini(&map->files);
	vec_fini(&map->segments);
	*map = (struct experiment_map){0};
}

static bool better(const struct map_segment *a, const struct map_segment *b)
{
	if (a->first_epoch != b->first_epoch)
		return a->first_epoch > b->first_epoch;
	return a->order > b->order;
}

uint32_t experiment_map_find(const struct experiment_map *map, uint64_t pc, uint32_t epoch)
{
	size_t low = 0, high = map->segments.count;
	const struct map_segment *best = NULL;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->segments.items[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- && map->segments.items[low].reach > pc) {
		const struct map_segment *segment = &map->segments.items[low];

		if (segment->end > pc && segment->first_epoch <= epoch &&
		    (!best || better(segment, best)))
			best = segment;
	}
	/* an ended segment still hides what was there before it */
	if (!best || epoch > best->last_epoch)
		return MAP_NONE;
	return (uint32_t)(best - map->segments.items);
}
