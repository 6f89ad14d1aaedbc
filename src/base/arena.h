/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed all at once: one arena per experiment, one per query.
 * Zero-initialised is empty.  Allocations are 16-byte aligned and zeroed.
 */
#ifndef HELIO_BASE_ARENA_H
#define HELIO_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	size_t left; /* bytes free at the end of the newest chunk */
	char *next;
	size_t size; /* bytes of all chunks */
};

/* Returns zeroed memory, or aborts with a message: an analyzer without memory has nothing to say.
 */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void arena_fini(struct arena *arena);

#define arena_new(arena, type)		((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_alloc((arena), (count) * sizeof(type)))

#endif
