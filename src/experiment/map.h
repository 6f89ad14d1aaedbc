/* SPDX-License-Identifier: Apache-2.0 */
/* map.xml: which load object was where, and in which epochs. */
#ifndef HELIO_EXPERIMENT_MAP_H
#define HELIO_EXPERIMENT_MAP_H

#include "base/arena.h"
#include "base/memory.h"
#include "experiment/block.h"
#include "experiment/map_index.h"

struct map_file {
	const char *path;     /* "[vdso]" for the vDSO */
	const char *build_id; /* "" where it has none */
	uint64_t mtime, file_size;
	const char
		*copy; /* kept in the experiment; NULL: by its name (format/archive.h), if at all */
};

/* A function that the program made at run time and announced. */
struct map_function {
	const char *name;
	const char *alias, *source; /* "" where it has none */
	const char *object; /* where it is shown, if not in MAP_DYNAMIC_FUNCTIONS; or NULL */
	uint64_t address, size;
	/* its code and line table are there in this process's dyntext; 0: nowhere */
	int folder;
	const char *directory;
	uint64_t text;
	uint64_t constants; /* likewise, what its bytecode refers to: a record for itself */
	/* numbers of the map's events of functions: it was there after the first, up to the second
	 */
	uint64_t loaded, unloaded;
};

/* A function was withdrawn that this process had from its parent. */
struct map_unload {
	uint64_t address, number;
	uint32_t epoch;
};

struct experiment_map {
	bool present, closed, damaged;
	VEC(struct map_file) files;
	VEC(struct map_function) functions;
	struct map_segments segments; /* sorted by start */
	struct map_index *index;      /* where many overlap, or NULL */
	/* from the parent: what it had after so many of its events */
	bool inherits;
	uint64_t inherited_events;
	VEC(struct map_unload) inherited_unloads; /* of functions that the parent had loaded */
	uint64_t events;			  /* of functions, so far */
};

/* The load object in which functions made at run time are shown. */
#define MAP_DYNAMIC_FUNCTIONS "DYNAMIC_FUNCTIONS"
/* … and that for Java's methods. */
#define MAP_JAVA_CLASSES "JAVA_CLASSES"

/* Reads map.xml; a missing file leaves `present` false and is not reported. */
void experiment_map_read(struct experiment_map *map, struct arena *arena,
			 const struct read_context *context);
/* Brings the segments into order, after all have been added. */
void experiment_map_sort(struct experiment_map *map);
void experiment_map_fini(struct experiment_map *map);

/* Addresses, sorted. */
struct map_pcs {
	uint64_t *items;
	size_t count, capacity;
};

/*
 * Adds the functions that the parent had announced before it forked, and that are at one of these
 * addresses; where map->inherits.
 */
void experiment_map_inherit(struct experiment_map *map, const struct experiment_map *parent,
			    const struct map_pcs *pcs);

/*
 * The segment that held a pc in an epoch, or MAP_NONE.  Of the segments that
 * cover the pc and had begun by then the one of the highest epoch counts.  An
 * unmapped segment stays known in its last epoch, because nodes made before
 * the unmapping carry that epoch too.
 */
uint32_t experiment_map_find(const struct experiment_map *map, uint64_t pc, uint32_t epoch);
/* The first segment that came to hold a pc after an epoch, or MAP_NONE; where no function made at
 * run time has held it before. */
uint32_t experiment_map_find_later(const struct experiment_map *map, uint64_t pc, uint32_t epoch);

#endif
