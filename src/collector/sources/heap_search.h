/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for lost blocks at the end of a process: blocks that were never freed and to which
 * no pointer is left.  As valgrind's memcheck does: what the writable memory of the program and the
 * stacks of its threads point to is reachable, and what reachable blocks point to; a word
 * that holds an address within a block is a pointer to it.
 *
 * Only where everything was recorded from the begin of the program on: a block that is not known
 * may hold the only pointer to another.
 */
#ifndef HELIO_COLLECTOR_HEAP_SEARCH_H
#define HELIO_COLLECTOR_HEAP_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of memory in which pointers are not looked for, or not at first. */
struct heap_extent {
	uint64_t start;
	uint64_t span; /* of the largest block that was ever there */
	uint64_t size; /* of the block that is there now */
	uint64_t when; /* last event of a block there: time << 1 | it is live; 0: no block */
};

struct heap_extents {
	struct heap_extent *items;
	size_t count;
	size_t room; /* a power of two */
};

/*
 * heap_blocks.c: the last block at every address that a block of this process ever had, from its
 * trace file. False: there are too many, or no memory.
 */
bool heap_extents_read(struct heap_extents *extents);
bool heap_extents_add(struct heap_extents *extents, uint64_t start, uint64_t end);
void heap_extents_sort(struct heap_extents *extents);
void heap_extents_fini(struct heap_extents *extents);

/* Searches and records what is lost.  Ends without a result where it would take too long. */
void heap_search(void);
/* How long that took; 0: there was none. */
uint64_t heap_search_ns(void);

#endif
