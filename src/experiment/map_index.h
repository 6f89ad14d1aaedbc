/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments of a map that overlap in great number, by address and epoch: what a map.xml that
 * somebody has made for it could otherwise make every look-up walk over.  A tree over the stretches
 * between the segments' ends: each segment is in the few nodes that make it up, and a node has its
 * segments by their first epoch.
 */
#ifndef HELIO_EXPERIMENT_MAP_INDEX_H
#define HELIO_EXPERIMENT_MAP_INDEX_H

#include "experiment/map.h"

struct map_index;

/* The segments must stay as they are. */
struct map_index *map_index_new(const struct experiment_map *map);
void map_index_free(struct map_index *index);

/* As experiment_map_find wants it, but for its end: it may be over by then. */
uint32_t map_index_find(const struct map_index *index, uint64_t pc, uint32_t epoch);
/* As experiment_map_find_later. */
uint32_t map_index_find_later(const struct map_index *index, uint64_t pc, uint32_t epoch);

#endif
