/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/map_index.h"

#include "base/memory.h"
#include "base/search.h"

#include <stdbool.h>
#include <stdlib.h>

struct place {
	uint64_t address;
};

struct map_index {
	const struct map_segment *segments;
	VEC(struct place) places; /* where segments begin and end, each once: ranges follow */
	size_t *first; /* of each node's segments in `items`; node 1 is the root, leaves last */
	uint32_t *items;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void gather_places(struct map_index *index, size_t segments)
{
	size_t kept = 0;

	for (size_t i = 0; i < segments; i++) {
		vec_push(&index->places)->address = index->segments[i].start;
		vec_push(&index->places)->address = index->segments[i].end;
	}
	if (index->places.count)
		qsort(index->places.items, index->places.count, sizeof(struct place),
		      compare_places);
	for (size_t i = 0; i < index->places.count; i++)
		if (!kept ||
		    index->places.items[kept - 1].address != index->places.items[i].address)
			index->places.items[kept++] = index->places.items[i];
	index->places.count = kept;
}

static bool begins_before(const struct map_segment *a, const struct map_segment *b)
{
	if (a->first_epoch != b->first_epoch)
		return a->first_epoch < b->first_epoch;
	return a->order < b->order;
}

static int compare_begins(const void *a, const void *b, void *segments)
{
	const struct map_segment *all = segments;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (begins_before(&all[x], &all[y]))
		return -1;
	if (begins_before(&all[y], &all[x]))
		return 1;
	return x < y ? -1 : x > y;
}

/* The number of the range that begins there. */
static size_t range_at(const struct map_index *index, uint64_t address)
{
	return VEC_UP_TO(&index->places, address, address) - 1;
}

/* Counts a segment in its nodes, or puts it there if there is room for items. */
static void add(struct map_index *index, uint32_t segment)
{
	size_t leaves = index->places.count;
	size_t low = range_at(index, index->segments[segment].start) + leaves;
	size_t high = range_at(index, index->segments[segment].end) + leaves;

	for (; low < high; low /= 2, high /= 2) {
		size_t nodes[2], count = 0;

		if (low % 2)
			nodes[count++] = low++;
		if (high % 2)
			nodes[count++] = --high;
		while (count--) {
			size_t at = index->first[nodes[count] + 1]++;

			if (index->items)
				index->items[at] = segment;
		}
	}
}

/* From what each node has to where the next one begins; one further, for add() to go on from. */
static size_t add_up(struct map_index *index, size_t nodes)
{
	size_t sum = 0;

	for (size_t i = 0; i <= nodes; i++) {
		size_t count = index->first[i];

		index->first[i] = sum;
		sum += count;
	}
	return sum;
}

struct map_index *map_index_new(const struct map_segments *all)
{
	struct map_index *index = xcalloc(1, sizeof(*index));
	size_t segments = all->count, nodes;
	uint32_t *order = xmalloc((segments + 1) * sizeof(*order));

	index->segments = all->items;
	gather_places(index, segments);
	nodes = 2 * index->places.count;
	index->first = xcalloc(nodes + 2, sizeof(*index->first));
	for (uint32_t i = 0; i < segments; i++) {
		order[i] = i;
		add(index, i);
	}
	qsort_r(order, segments, sizeof(*order), compare_begins, all->items);
	index->items = xmalloc((add_up(index, nodes + 1) + 1) * sizeof(*index->items));
	for (size_t i = 0; i < segments; i++)
		add(index, order[i]);
	free(order);
	return index;
}

void map_index_free(struct map_index *index)
{
	if (!index)
		return;
	vec_fini(&index->places);
	free(index->first);
	free(index->items);
	free(index);
}

/* How many of a node's segments have begun by an epoch: they are the first ones. */
static size_t begun_by(const struct map_index *index, size_t node, uint32_t epoch)
{
	size_t low = index->first[node], high = index->first[node + 1];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->segments[index->items[middle]].first_epoch <= epoch)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The node of the range of a pc; 0: no segment is near. */
static size_t leaf_of(const struct map_index *index, uint64_t pc)
{
	size_t before = VEC_UP_TO(&index->places, address, pc);

	return before ? before - 1 + index->places.count : 0;
}

uint32_t map_index_find(const struct map_index *index, uint64_t pc, uint32_t epoch)
{
	uint32_t best = MAP_NONE;

	for (size_t node = leaf_of(index, pc); node; node /= 2) {
		size_t behind = begun_by(index, node, epoch);

		if (behind == index->first[node])
			continue;

		uint32_t item = index->items[behind - 1];

		if (best == MAP_NONE ||
		    begins_before(&index->segments[best], &index->segments[item]))
			best = item;
	}
	return best;
}

uint32_t map_index_find_later(const struct map_index *index, uint64_t pc, uint32_t epoch)
{
	uint32_t best = MAP_NONE;

	for (size_t node = leaf_of(index, pc); node; node /= 2) {
		size_t next = begun_by(index, node, epoch);

		if (next == index->first[node + 1])
			continue;

		uint32_t item = index->items[next];

		if (best == MAP_NONE ||
		    begins_before(&index->segments[item], &index->segments[best]))
			best = item;
	}
	return best;
}
