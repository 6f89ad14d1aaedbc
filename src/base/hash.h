/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash map from a 64-bit key, or from a string, to a 32-bit id: the two
 * look-ups that tables of ids need.  Open addressing; nothing is removed
 * by itself.
 *
 * What is hashed comes from files that others have made.  Numbers that are drawn anew in each
 * process keep them from choosing keys that all find one place, where each would cost as much as
 * all before it.  So no hash of these lasts longer than the process, but for hash_bytes.
 */
#ifndef HELIO_BASE_HASH_H
#define HELIO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_NONE UINT32_MAX /* no such key; never a value */

/* Zero-initialised is empty. */
struct hash_map {
	struct hash_slot *slots;
	size_t mask;
	size_t count;
};

/* Drawn at the start; the factors are odd. */
extern struct hash_secret {
	uint64_t mask, factors[3], text[2];
} hash_secret;

/* Mixes all bits of a key; different keys stay different. */
static inline uint64_t hash_u64(uint64_t key)
{
	key = (key ^ hash_secret.mask) * hash_secret.factors[0];
	key = (key ^ key >> 32) * hash_secret.factors[1];
	key = (key ^ key >> 29) * hash_secret.factors[2];
	return key ^ key >> 32;
}

/* Of two: neither can undo what the other one does. */
static inline uint64_t hash_pair(uint64_t first, uint64_t second)
{
	return hash_u64(hash_u64(first) ^ second);
}

/* Of bytes (SipHash-1-3). */
uint64_t hash_text(const void *data, size_t size);

/* The same in each process, for names of files and colours: FNV-1a with a final mix. */
uint64_t hash_bytes(const void *data, size_t size);

/* The value of the key, or HASH_NONE. */
uint32_t hash_map_get(const struct hash_map *map, uint64_t key);
/* Returns the value already there, or stores and returns the given one. */
uint32_t hash_map_put(struct hash_map *map, uint64_t key, uint32_t value);
/* Removes all; keeps the room. */
void hash_map_clear(struct hash_map *map);
void hash_map_fini(struct hash_map *map);

/*
 * The numbers of distinct pairs of 32-bit numbers, or of 64-bit numbers, the lower half of which is
 * the first of the pair.  They lie in an array of the caller's, each at the beginning of an item: a
 * slot of the table is the number alone.  Zero-initialised is empty.
 */
struct pair_set {
	uint32_t *slots;
	size_t size; /* of the slots, at least twice as many as there are pairs */
	size_t count;
	size_t item; /* bytes from one pair to the next; 0: 8, nothing lies between them */
};

/* The number of the pair, if the set has it; else stores and returns `fresh`, where it will lie. */
uint32_t pair_set_put(struct pair_set *set, const void *pairs, uint32_t first, uint32_t second,
		      uint32_t fresh);
/* The number of the pair, or HASH_NONE. */
uint32_t pair_set_get(const struct pair_set *set, const void *pairs, uint32_t first,
		      uint32_t second);
/* Makes room for so many more at once. */
void pair_set_reserve(struct pair_set *set, const void *pairs, size_t more);
void pair_set_fini(struct pair_set *set);

/* String table: equal strings get equal ids, 0, 1, 2, … The table keeps copies. */
struct string_table {
	struct hash_map by_hash;
	char **items;
	size_t count;
	size_t capacity;
};

uint32_t string_table_add(struct string_table *table, const char *text);
/* The id of the text, or HASH_NONE. */
uint32_t string_table_find(const struct string_table *table, const char *text);
static inline const char *string_table_text(const struct string_table *table, uint32_t id)
{
	return table->items[id];
}
void string_table_fini(struct string_table *table);

#endif
