/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a data file while it grows: see blockfile.h. */
#ifndef HELIO_COLLECTOR_BLOCKFILE_STATE_H
#define HELIO_COLLECTOR_BLOCKFILE_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum blockfile_state {
	ARENA_EMPTY,
	ARENA_CLAIMED, /* a thread, which blocks its signals meanwhile, is making it */
	ARENA_READY,
	ARENA_FAILED,
};

struct blockfile_arena {
	_Atomic uint32_t state; /* enum blockfile_state */
	uint8_t *base;
	uint64_t offset; /* in the file */
	uint64_t size;
	_Atomic uint64_t used; /* may run past size: then the arena is full */
};

/* Arenas double from 64 KiB up to 4 MiB: little for a short process, some 16 GiB for a long one. */
enum { BLOCKFILE_ARENAS = 4096 };

struct blockfile {
	char path[4096];
	const char *name, *description; /* for its header, until it is there */
	_Atomic uint32_t current;	/* all arenas before this one are full */
	_Atomic uint32_t failed;	/* errno of the first failure to grow, for the log */
	_Atomic uint32_t abandoned;	/* how often it was */
	_Atomic bool stuck; /* who made an arena did not come back: nobody waits again */
	_Atomic bool
		cut; /* by somebody else: what was in it is lost, and it does not grow any more */
	struct blockfile_arena arena[BLOCKFILE_ARENAS];
};

#endif
