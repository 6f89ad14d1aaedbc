/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments of a map that overlap in great number, by address and epoch: what a map.xml that
 * somebody has made for it could otherwise make every look-up walk over.  A tree over the ranges
 * between the segments' ends: each segment is in the few nodes that make it up, and a node has its
 * segments by their first epoch.
 */
#ifndef HELIO_EXPERIMENT_MAP_INDEX_H
#define HELIO_EXPERIMENT_MAP_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

/* Code of a load object or of one function; the other one is MAP_NONE. */
struct map_segment {
	uint64_t start, end; /* [start, end) */
	uint64_t bias;	     /* ELF address = pc - bias */
	uint64_t reach;	     /* the largest `end` of this and all segments before it */
	uint32_t first_epoch;
	uint32_t last_epoch; /* holds for nodes of [first_epoch, last_epoch] */
	uint32_t file, function;
	uint32_t order; /* the later of two equal ones wins */
};

struct map_segments {
	struct map_segment *items;
	size_t count, capacity;
};

struct map_index;

/* The segments must stay as they are. */
struct map_index *map_index_new(const struct map_segments *segments);
void map_index_free(struct map_index *index);

/* As experiment_map_find wants it, but for its end: it may be over by then. */
uint32_t map_index_find(const struct map_index *index, uint64_t pc, uint32_t epoch);
/* As experiment_map_find_later. */
uint32_t map_index_find_later(const struct map_index *index, uint64_t pc, uint32_t epoch);

#endif
