/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of Java's heap is in use.  While a collection begins or ends no function of JVMTI or JNI
 * may be called, so the machine's own fields are read, where its table for debuggers says that they
 * are: how far its spaces or regions are filled or, where the machine has it, the sum.  The ways to
 * these fields are found once.
 */
#include "collector/runtimes/java_private.h"

enum {
	SPACES_MAX = 3,
	STEPS_MAX = 5,
	NAME_MAX_BYTES = 64,
	REGIONS_MAX = 1 << 14, /* of G1; they are gone through, with all threads standing still */
};

/* From a static field on, from field to field. */
struct way {
	const char *root;
	struct {
		uint64_t offset;
		bool is_behind; /* the field before is a pointer to what has this one */
	} steps[STEPS_MAX];
	size_t count;
	bool ends_in_pointer;
};

/* "Type::field"s with spaces between, the first one static; "Old|New::field": types of one field in
 * machines of several versions. */
static const struct heap {
	const char *flag;
	const char *spaces[SPACES_MAX]; /* ways to spaces, and the last step of each */
	const char *end, *begin;	/* begin NULL: there is a number of bytes at the end */
} heaps[] = {
#define HEAP	   "Universe::_collectedHeap "
#define SERIAL	   HEAP "GenCollectedHeap|SerialHeap::"
#define CONTIGUOUS "ContiguousSpace::_top", "Space|ContiguousSpace::_bottom"
	{"UseSerialGC",
	 {SERIAL "_young_gen DefNewGeneration::_eden_space ",
	  SERIAL "_young_gen DefNewGeneration::_from_space ",
	  SERIAL "_old_gen TenuredGeneration::_the_space "},
	 CONTIGUOUS},
	{"UseParallelGC",
	 {"ParallelScavengeHeap::_young_gen PSYoungGen::_eden_space ",
	  "ParallelScavengeHeap::_young_gen PSYoungGen::_from_space ",
	  "ParallelScavengeHeap::_old_gen PSOldGen::_object_space "},
	 "MutableSpace::_top",
	 "MutableSpace::_bottom"},
	{"UseZGC",
	 {HEAP "ZCollectedHeap::_heap ZHeap::_page_allocator "},
	 "ZPageAllocator::_used",
	 NULL},
	{"UseShenandoahGC", {HEAP}, "ShenandoahHeap::_used", NULL},
	{"UseShenandoahGC",
	 {HEAP "ShenandoahHeap::_global_generation "},
	 "ShenandoahGeneration::_used",
	 NULL},
};

static const char g1_regions[] =
	HEAP "G1CollectedHeap::_hrm HeapRegionManager|G1HeapRegionManager::_regions ";

static struct {
	struct space {
		struct way end, begin; /* begin without a root: there is none */
	} spaces[SPACES_MAX];
	size_t count; /* of these; 0: G1's table of regions, or nothing */
	struct way table, length;
	uint64_t top, bottom; /* offsets in a region; the same: not known */
} found;

/* ---- finding ---- */

/* Up to one of `ends`; returns where it stands. */
static const char *copy_until(char *to, const char *from, const char *ends)
{
	size_t length = 0;

	for (; *from; from++) {
		for (const char *end = ends; *end; end++)
			if (*from == *end) {
				to[length] = 0;
				return from;
			}
		if (length < NAME_MAX_BYTES - 1)
			to[length++] = *from;
	}
	to[length] = 0;
	return from;
}

/* The field of one step, whichever of its types the machine has; *spec: what follows it. */
static const struct java_field *find_step(const char **spec)
{
	const char *at = *spec, *names = at;
	char type[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
	const struct java_field *field = NULL;

	while (*names && *names != ':')
		names++;
	*spec = copy_until(name, *names ? names + 2 : names, " ");
	while (!field) {
		at = copy_until(type, at, "|:");
		field = java_field_find(type, name);
		if (*at != '|')
			break;
		at++;
	}
	return field;
}

/* A pointer "Type*", "Type* const" or "Type* volatile". */
static bool is_pointer(const struct java_field *field)
{
	const char *text = field->text;

	while (text && *text && *text != '*')
		text++;
	return text && *text;
}

static bool add_step(struct way *way, const struct java_field *field)
{
	if (!field || field->is_static == (way->root != NULL) || way->count == STEPS_MAX)
		return false;
	if (field->is_static) {
		way->root = field->address;
	} else {
		way->steps[way->count].offset = field->offset;
		way->steps[way->count++].is_behind = way->ends_in_pointer;
	}
	way->ends_in_pointer = is_pointer(field);
	return true;
}

static bool add_steps(struct way *way, const char *spec)
{
	while (*spec) {
		if (!add_step(way, find_step(&spec)))
			return false;
		while (*spec == ' ')
			spec++;
	}
	return true;
}

static bool find_way(struct way *way, const char *spec, const char *last)
{
	*way = (struct way){0};
	return add_steps(way, spec) && add_steps(way, last);
}

static bool find_space(struct space *space, const struct heap *heap, const char *spec)
{
	return find_way(&space->end, spec, heap->end) &&
	       (!heap->begin || find_way(&space->begin, spec, heap->begin));
}

static bool find_spaces(const struct heap *heap)
{
	size_t count = 0;

	for (; count < SPACES_MAX && heap->spaces[count]; count++)
		if (!find_space(&found.spaces[count], heap, heap->spaces[count]))
			return false;
	found.count = count;
	return true;
}

static void find_regions(void)
{
	const char *top_spec = "HeapRegion|G1HeapRegion::_top";
	const char *bottom_spec = "HeapRegion|G1HeapRegion::_bottom";
	const struct java_field *top = find_step(&top_spec), *bottom = find_step(&bottom_spec);

	if (!top || !bottom || !find_way(&found.table, g1_regions, "G1HeapRegionTable::_base") ||
	    !find_way(&found.length, g1_regions, "G1HeapRegionTable::_length"))
		return;
	found.top = top->offset;
	found.bottom = bottom->offset;
}

void java_heap_begin(void)
{
	found.count = 0;
	found.top = found.bottom = 0;
	for (size_t i = 0; !found.count && i < sizeof(heaps) / sizeof(*heaps); i++)
		if (java_flag_is_on(heaps[i].flag))
			find_spaces(&heaps[i]);
	if (java_flag_is_on("UseG1GC"))
		find_regions();
}

/* ---- reading ---- */

static uint64_t word_at(const char *address)
{
	return *(const uint64_t *)address;
}

static uint64_t follow(const struct way *way)
{
	const char *at = way->root;

	for (size_t i = 0; i < way->count; i++)
		at = (way->steps[i].is_behind ? (const char *)(uintptr_t)word_at(at) : at) +
		     way->steps[i].offset;
	return word_at(at);
}

static uint64_t used_in_regions(void)
{
	const uint64_t *table = (const uint64_t *)(uintptr_t)follow(&found.table);
	const uint64_t length = follow(&found.length);
	uint64_t sum = 0;

	if (length > REGIONS_MAX)
		return JAVA_HEAP_UNKNOWN;
	for (uint64_t i = 0; i < length; i++) {
		const char *region = (const char *)(uintptr_t)table[i];

		if (region)
			sum += word_at(region + found.top) - word_at(region + found.bottom);
	}
	return sum;
}

uint64_t java_heap_used(void)
{
	uint64_t sum = 0;

	if (found.top != found.bottom)
		return used_in_regions();
	for (size_t i = 0; i < found.count; i++) {
		const struct space *space = &found.spaces[i];

		sum += follow(&space->end) - (space->begin.root ? follow(&space->begin) : 0);
	}
	return found.count ? sum : JAVA_HEAP_UNKNOWN;
}
