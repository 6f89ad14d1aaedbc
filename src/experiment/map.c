/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/map.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/search.h"
#include "experiment/xml.h"

#include <stdlib.h>
#include <string.h>

/* The segments that began at one address last, or MAP_NONE. */
struct latest {
	uint32_t of_file;
	uint32_t of_function;
};

struct map_reader {
	struct experiment_map *map;
	struct arena *arena;
	const struct read_context *context;
	struct string_table keys; /* of a file: everything that makes it another one */
	struct hash_map places;	  /* start of a segment → index in `latest` */
	VEC(struct latest) latest;
	struct xml_result result;
	size_t bad_events;
};

/*
 * A file and a function take memory for themselves, some of it once they are met in a stack.  There
 * are no more than lines as the collector writes them would have room for: shorter ones make a map
 * that needs many times its size.
 */
enum { FILE_BYTES = 160, FUNCTION_BYTES = 80, ALWAYS = 10000 };

static bool is_too_many(const struct map_reader *reader, size_t count, size_t bytes)
{
	return count > ALWAYS + reader->result.size / bytes;
}

static struct latest *latest_at(struct map_reader *reader, uint64_t start)
{
	uint32_t place = hash_map_put(&reader->places, start, reader->latest.count);

	if (place == reader->latest.count)
		*vec_push(&reader->latest) = (struct latest){MAP_NONE, MAP_NONE};
	return &reader->latest.items[place];
}

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

/* A new segment where the event says, or NULL. */
static struct map_segment *place_segment(struct map_reader *reader, const char **attributes)
{
	struct experiment_map *map = reader->map;
	uint64_t start, size, epoch = 0;

	if (!xml_number(attributes, "vaddr", &start) || !xml_number(attributes, "size", &size))
		return NULL;
	xml_number(attributes, "epoch", &epoch);
	if (size > FORMAT_SEGMENT_SIZE_MAX || start + size < start || epoch > UINT32_MAX)
		return NULL;

	struct map_segment *segment = vec_push(&map->segments);

	segment->start = start;
	segment->end = start + size;
	segment->first_epoch = (uint32_t)epoch;
	segment->last_epoch = UINT32_MAX;
	segment->file = MAP_NONE;
	segment->function = MAP_NONE;
	segment->order = (uint32_t)map->segments.count;
	return segment;
}

static bool add_segment(struct map_reader *reader, const char **attributes)
{
	const char *path = xml_attribute(attributes, "name");
	uint64_t bias;
	struct map_segment *segment;

	if (!path || !xml_number(attributes, "bias", &bias) ||
	    is_too_many(reader, reader->map->files.count, FILE_BYTES))
		return false;
	segment = place_segment(reader, attributes);
	if (!segment)
		return false;
	segment->bias = bias;
	segment->file = intern_file(reader, attributes, path);
	latest_at(reader, segment->start)->of_file = (uint32_t)reader->map->segments.count - 1;
	return true;
}

static const char *text_of(struct map_reader *reader, const char **attributes, const char *name)
{
	const char *text = xml_attribute(attributes, name);

	return text ? arena_strdup(reader->arena, text) : "";
}

static bool add_function(struct map_reader *reader, const char **attributes)
{
	struct experiment_map *map = reader->map;
	struct map_segment *segment = is_too_many(reader, map->functions.count, FUNCTION_BYTES)
					      ? NULL
					      : place_segment(reader, attributes);

	if (!segment)
		return false;
	segment->function = (uint32_t)map->functions.count;

	struct map_function *function = vec_push(&map->functions);

	function->name = text_of(reader, attributes, "name");
	function->alias = text_of(reader, attributes, "alias");
	function->source = text_of(reader, attributes, "source");
	function->address = segment->start;
	function->size = segment->end - segment->start;
	function->folder = reader->context->folder;
	function->directory = reader->context->directory;
	function->loaded = ++map->events;
	function->unloaded = UINT64_MAX;
	xml_number(attributes, "text", &function->text);
	xml_number(attributes, "constants", &function->constants);
	latest_at(reader, segment->start)->of_function = (uint32_t)map->segments.count - 1;
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

	uint32_t latest = latest_at(reader, start)->of_file;
	struct map_segment *segment = latest == MAP_NONE ? NULL : &map->segments.items[latest];

	if (segment && epoch > segment->first_epoch && epoch < segment->last_epoch)
		segment->last_epoch = (uint32_t)epoch;
	return true;
}

/*
 * From the end of this epoch on, the function is not there.  If that is before it came, no
 * stack was recorded while it was.
 */
static void withdraw(struct experiment_map *map, struct map_segment *segment,
		     const struct map_unload *unload)
{
	map->functions.items[segment->function].unloaded = unload->number;
	segment->last_epoch = unload->epoch;
}

/* The function that was loaded there last is withdrawn. */
static bool end_function(struct map_reader *reader, const char **attributes)
{
	struct experiment_map *map = reader->map;
	struct map_unload unload = {.number = ++map->events};
	uint64_t epoch = 0;

	if (!xml_number(attributes, "vaddr", &unload.address))
		return false;
	xml_number(attributes, "epoch", &epoch);
	unload.epoch = epoch < UINT32_MAX ? (uint32_t)epoch : UINT32_MAX;

	uint32_t latest = latest_at(reader, unload.address)->of_function;
	struct map_segment *segment = latest == MAP_NONE ? NULL : &map->segments.items[latest];

	if (segment && map->functions.items[segment->function].unloaded == UINT64_MAX)
		withdraw(map, segment, &unload);
	else
		*vec_push(&map->inherited_unloads) = unload;
	return true;
}

static bool note_inheritance(struct map_reader *reader, const char **attributes)
{
	reader->map->events++;
	reader->map->inherits = xml_number(attributes, "events", &reader->map->inherited_events);
	return reader->map->inherits;
}

static void on_map_element(void *data, const char *element, const char **attributes)
{
	static const struct {
		const char *name;
		bool (*apply)(struct map_reader *reader, const char **attributes);
	} kinds[] = {
		{"map", add_segment},	  {"unmap", end_segment},	 {"load", add_function},
		{"unload", end_function}, {"inherit", note_inheritance},
	};
	struct map_reader *reader = data;
	const char *name = xml_attribute(attributes, "kind");

	if (strcmp(element, "event") || !name)
		return;
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (!strcmp(kinds[i].name, name) && !kinds[i].apply(reader, attributes))
			reader->bad_events++;
}

static int compare_segments(const void *a, const void *b)
{
	const struct map_segment *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Whether so many segments overlap somewhere that a search, going through them, would be slow. */
static bool overlap_much(const struct experiment_map *map)
{
	enum { WALK_MAX = 64 };
	const struct map_segment *items = map->segments.items;

	for (size_t i = 0, first = 0; i < map->segments.count; i++) {
		while (first < i && items[first].reach <= items[i].start)
			first++;
		if (i - first > WALK_MAX)
			return true;
	}
	return false;
}

void experiment_map_sort(struct experiment_map *map)
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
	map_index_free(map->index);
	map->index = overlap_much(map) ? map_index_new(&map->segments) : NULL;
}

void experiment_map_read(struct experiment_map *map, struct arena *arena,
			 const struct read_context *context)
{
	struct map_reader reader = {.map = map, .arena = arena, .context = context};
	const struct xml_result *result = &reader.result;

	*map = (struct experiment_map){0};
	xml_read(context, FORMAT_FILE_MAP, on_map_element, &reader, &reader.result);
	string_table_fini(&reader.keys);
	hash_map_fini(&reader.places);
	vec_fini(&reader.latest);
	map->present = result->present;
	map->closed = result->closed;
	map->damaged = result->damaged_lines || result->too_large || reader.bad_events;
	experiment_map_sort(map);
	if (map->damaged)
		diag_add(context->diags, DIAG_WARNING,
			 "%s: map.xml is damaged: %zu of its events could not be read; functions "
			 "of some load objects may show as <Unknown>",
			 context->name, result->damaged_lines + reader.bad_events);
}

void experiment_map_fini(struct experiment_map *map)
{
	vec_fini(&map->files);
	vec_fini(&map->functions);
	vec_fini(&map->inherited_unloads);
	vec_fini(&map->segments);
	map_index_free(map->index);
	*map = (struct experiment_map){0};
}

/* A copy of a function that was there in the parent, in its place; withdrawn if the child did so.
 */
static void inherit_segment(struct experiment_map *map, const struct experiment_map *parent,
			    const struct map_segment *from, const struct hash_map *unloads)
{
	struct map_segment *segment = vec_push(&map->segments);
	struct map_function *function = vec_push(&map->functions);

	*segment = *from;
	segment->last_epoch = UINT32_MAX;
	segment->order = 0; /* before all of its own */
	segment->function = (uint32_t)map->functions.count - 1;
	*function = parent->functions.items[from->function];
	function->loaded = 0;
	function->unloaded = UINT64_MAX;
	uint32_t unload = hash_map_get(unloads, segment->start);

	if (unload != HASH_NONE)
		withdraw(map, segment, &map->inherited_unloads.items[unload]);
}

/* Its end counts, too: a return address may be there. */
static bool has_pc(const struct map_segment *segment, const struct map_pcs *pcs)
{
	size_t low = 0, high = pcs->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pcs->items[middle] < segment->start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < pcs->count && pcs->items[low] <= segment->end;
}

void experiment_map_inherit(struct experiment_map *map, const struct experiment_map *parent,
			    const struct map_pcs *pcs)
{
	struct hash_map unloads = {0}; /* the first one of each address */

	for (size_t i = 0; i < map->inherited_unloads.count; i++)
		hash_map_put(&unloads, map->inherited_unloads.items[i].address, (uint32_t)i);
	for (size_t i = 0; pcs->count && i < parent->segments.count; i++) {
		const struct map_segment *segment = &parent->segments.items[i];

		if (segment->function == MAP_NONE || !has_pc(segment, pcs))
			continue;

		const struct map_function *function = &parent->functions.items[segment->function];

		if (function->loaded <= map->inherited_events &&
		    function->unloaded > map->inherited_events)
			inherit_segment(map, parent, segment, &unloads);
	}
	hash_map_fini(&unloads);
	experiment_map_sort(map);
}

static bool better(const struct map_segment *a, const struct map_segment *b)
{
	if (a->first_epoch != b->first_epoch)
		return a->first_epoch > b->first_epoch;
	return a->order > b->order;
}

static uint32_t walk_to_find(const struct experiment_map *map, uint64_t pc, uint32_t epoch)
{
	size_t low = VEC_UP_TO(&map->segments, start, pc);
	const struct map_segment *best = NULL;

	while (low-- && map->segments.items[low].reach > pc) {
		const struct map_segment *segment = &map->segments.items[low];

		if (segment->end > pc && segment->first_epoch <= epoch &&
		    (!best || better(segment, best)))
			best = segment;
	}
	return best ? (uint32_t)(best - map->segments.items) : MAP_NONE;
}

/* The last one that came to hold it; it may be over by then. */
static uint32_t find_begun(const struct experiment_map *map, uint64_t pc, uint32_t epoch)
{
	return map->index ? map_index_find(map->index, pc, epoch) : walk_to_find(map, pc, epoch);
}

uint32_t experiment_map_find(const struct experiment_map *map, uint64_t pc, uint32_t epoch)
{
	uint32_t best = find_begun(map, pc, epoch);

	/* an ended segment still hides what was there before it */
	if (best == MAP_NONE || epoch > map->segments.items[best].last_epoch)
		return MAP_NONE;
	return best;
}

uint32_t experiment_map_find_later(const struct experiment_map *map, uint64_t pc, uint32_t epoch)
{
	size_t low = VEC_UP_TO(&map->segments, start, pc);
	const struct map_segment *first = NULL;
	uint32_t before = find_begun(map, pc, epoch);

	/* What is left of a withdrawn function is nobody's until something is announced. */
	if (before != MAP_NONE && map->segments.items[before].function != MAP_NONE)
		return MAP_NONE;
	if (map->index)
		return map_index_find_later(map->index, pc, epoch);
	while (low-- && map->segments.items[low].reach > pc) {
		const struct map_segment *segment = &map->segments.items[low];

		if (segment->end > pc && segment->first_epoch > epoch &&
		    (!first || better(first, segment)))
			first = segment;
	}
	return first ? (uint32_t)(first - map->segments.items) : MAP_NONE;
}
