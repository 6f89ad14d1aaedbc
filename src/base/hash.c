/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include "base/array.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { PAIRS_LEAST = 64 };

struct hash_secret hash_secret;

/* The finaliser of splitmix64. */
static uint64_t mix(uint64_t key)
{
	key ^= key >> 30;
	key *= 0xbf58476d1ce4e5b9u;
	key ^= key >> 27;
	key *= 0x94d049bb133111ebu;
	return key ^ key >> 31;
}

/* The kernel gives each process 16 random bytes. */
__attribute__((constructor)) static void draw_secret(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t seeds[2] = {0}, *words[] = {&hash_secret.mask,	      &hash_secret.factors[0],
					     &hash_secret.factors[1], &hash_secret.factors[2],
					     &hash_secret.text[0],    &hash_secret.text[1]};

	if (random)
		memcpy(seeds, random, sizeof(seeds));
	for (size_t i = 0; i < COUNT(words); i++)
		*words[i] = mix(seeds[0] + mix(seeds[1] + i * 0x9e3779b97f4a7c15u));
	for (size_t i = 0; i < COUNT(hash_secret.factors); i++)
		hash_secret.factors[i] |= 1;
}

static uint64_t turn(uint64_t word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = turn(v[1], 13) ^ v[0];
	v[3] = turn(v[3], 16) ^ v[2];
	v[0] = turn(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = turn(v[1], 17) ^ v[2];
	v[3] = turn(v[3], 21) ^ v[0];
	v[2] = turn(v[2], 32);
}

static void sip_add(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

uint64_t hash_text(const void *data, size_t size)
{
	const uint64_t *key = hash_secret.text;
	uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
			 key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
	const char *bytes = data;
	uint64_t word, last = (uint64_t)size << 56;

	for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		sip_add(v, word);
	}
	word = 0;
	memcpy(&word, bytes, size);
	sip_add(v, last | word);
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct hash_slot {
	uint64_t key;
	uint32_t value; /* HASH_NONE: free */
};

uint64_t hash_bytes(const void *data, size_t size)
{
	const unsigned char *byte = data;
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3u;
	return mix(hash);
}

static struct hash_slot *find_slot(const struct hash_map *map, uint64_t key)
{
	size_t i = hash_u64(key) & map->mask;

	while (map->slots[i].value != HASH_NONE && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	return &map->slots[i];
}

static void grow(struct hash_map *map)
{
	struct hash_map old = *map;
	size_t size = old.slots ? (old.mask + 1) * 2 : 64;

	map->slots = xmalloc(size * sizeof(*map->slots));
	map->mask = size - 1;
	memset(map->slots, 0xff, size * sizeof(*map->slots));
	for (size_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].value != HASH_NONE)
			*find_slot(map, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

uint32_t hash_map_get(const struct hash_map *map, uint64_t key)
{
	return map->slots ? find_slot(map, key)->value : HASH_NONE;
}

uint32_t hash_map_put(struct hash_map *map, uint64_t key, uint32_t value)
{
	if (!map->slots || map->count * 2 > map->mask)
		grow(map);
	struct hash_slot *slot = find_slot(map, key);

	if (slot->value == HASH_NONE) {
		slot->key = key;
		slot->value = value;
		map->count++;
	}
	return slot->value;
}

void hash_map_clear(struct hash_map *map)
{
	if (map->slots)
		memset(map->slots, 0xff, (map->mask + 1) * sizeof(*map->slots));
	map->count = 0;
}

void hash_map_fini(struct hash_map *map)
{
	free(map->slots);
	*map = (struct hash_map){0};
}

static uint64_t pair_at(const struct pair_set *set, const void *pairs, uint32_t number)
{
	uint64_t pair;

	memcpy(&pair, (const char *)pairs + number * (set->item ? set->item : sizeof(pair)),
	       sizeof(pair));
	return pair;
}

/* As it lies in memory. */
static uint64_t pair_of(uint32_t first, uint32_t second)
{
	return (uint64_t)second << 32 | first;
}

/* Where a pair is sought first. A table of any size will do, so that none is larger than needed. */
static size_t place_of(const struct pair_set *set, uint64_t pair)
{
	return (size_t)((hash_u64(pair) >> 32) * (uint64_t)set->size >> 32);
}

static size_t next_place(const struct pair_set *set, size_t at)
{
	return at + 1 < set->size ? at + 1 : 0;
}

/* The slot of the pair, or the free one where it would be. */
static uint32_t *find_pair(const struct pair_set *set, const void *pairs, uint64_t pair)
{
	size_t at = place_of(set, pair);

	while (set->slots[at] != HASH_NONE && pair_at(set, pairs, set->slots[at]) != pair)
		at = next_place(set, at);
	return &set->slots[at];
}

static void resize(struct pair_set *set, const void *pairs, size_t size)
{
	struct pair_set old = *set;

	set->slots = xmalloc(size * sizeof(*set->slots));
	set->size = size;
	memset(set->slots, 0xff, size * sizeof(*set->slots));
	for (size_t i = 0; i < old.size; i++) {
		size_t at;

		if (old.slots[i] == HASH_NONE)
			continue;
		at = place_of(set, pair_at(set, pairs, old.slots[i]));
		while (set->slots[at] != HASH_NONE)
			at = next_place(set, at);
		set->slots[at] = old.slots[i];
	}
	free(old.slots);
}

void pair_set_reserve(struct pair_set *set, const void *pairs, size_t more)
{
	size_t size = (set->count + more) * 2 + 1, least = set->size + set->size / 2;

	if (size <= set->size)
		return;
	/* By a share of what there is: who reserves often would have all put anew each time. */
	size = size < least ? least : size;
	resize(set, pairs, size < PAIRS_LEAST ? PAIRS_LEAST : size);
}

uint32_t pair_set_put(struct pair_set *set, const void *pairs, uint32_t first, uint32_t second,
		      uint32_t fresh)
{
	if (set->count * 2 >= set->size)
		resize(set, pairs, set->size ? set->size * 2 : PAIRS_LEAST);

	uint32_t *slot = find_pair(set, pairs, pair_of(first, second));

	if (*slot == HASH_NONE) {
		*slot = fresh;
		set->count++;
	}
	return *slot;
}

uint32_t pair_set_get(const struct pair_set *set, const void *pairs, uint32_t first,
		      uint32_t second)
{
	return set->slots ? *find_pair(set, pairs, pair_of(first, second)) : HASH_NONE;
}

void pair_set_fini(struct pair_set *set)
{
	free(set->slots);
	*set = (struct pair_set){0};
}

/* Two strings with one hash: step to the next key, as in open addressing. */
uint32_t string_table_find(const struct string_table *table, const char *text)
{
	uint64_t key = hash_text(text, strlen(text));

	for (;; key++) {
		uint32_t id = hash_map_get(&table->by_hash, key);

		if (id == HASH_NONE || !strcmp(table->items[id], text))
			return id;
	}
}

uint32_t string_table_add(struct string_table *table, const char *text)
{
	uint64_t key = hash_text(text, strlen(text));
	uint32_t fresh = (uint32_t)table->count;

	for (;; key++) {
		uint32_t id = hash_map_put(&table->by_hash, key, fresh);

		if (id == fresh)
			break;
		if (!strcmp(table->items[id], text))
			return id;
	}
	*vec_push(table) = xstrdup(text);
	return fresh;
}

void string_table_fini(struct string_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->items[i]);
	vec_fini(table);
	hash_map_fini(&table->by_hash);
}
