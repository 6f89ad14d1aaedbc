/* SPDX-License-Identifier: Apache-2.0 */
/* One sweep over ranges, symbols and entry points, all sorted by address. */
#include "object/elf/code_map.h"

#include "base/search.h"

#include <stdlib.h>

/* Functions that are open at the current address, the latest on top. */
struct open_function {
	uint64_t end;
	uint32_t function;
};
struct sweep {
	struct code_map *map;
	struct open_function *items;
	size_t count, capacity;
};

/* From this address on, code belongs to that function. */
static struct span *change(struct code_map *map, uint64_t address, uint32_t function)
{
	struct span *last = map->count ? &map->items[map->count - 1] : NULL;

	if (!last || last->start != address)
		last = vec_push(map);
	*last = (struct span){.start = address, .function = function};
	return last;
}

/* Ends all functions that do not reach beyond the address; what is around them goes on. */
static void close_until(struct sweep *sweep, uint64_t address)
{
	while (sweep->count && sweep->items[sweep->count - 1].end <= address) {
		uint64_t end = sweep->items[sweep->count - 1].end;

		while (sweep->count && sweep->items[sweep->count - 1].end <= end)
			sweep->count--;
		change(sweep->map, end,
		       sweep->count ? sweep->items[sweep->count - 1].function : SPAN_STRIPPED);
	}
}

void code_map_build(struct code_map *map, const struct code_ranges *ranges,
		    const struct symbol_list *symbols, const struct address_list *entries)
{
	struct sweep sweep = {.map = map};
	size_t s = 0, e = 0;

	for (size_t r = 0; r < ranges->count; r++) {
		struct code_range range = ranges->items[r];

		change(map, range.start, SPAN_STRIPPED);
		while (e < entries->count && entries->items[e] < range.start)
			e++;
		for (;;) {
			uint64_t symbol =
				s < symbols->count ? symbols->items[s].address : UINT64_MAX;
			uint64_t entry = e < entries->count ? entries->items[e] : UINT64_MAX;
			uint64_t next = symbol <= entry ? symbol : entry;

			if (next >= range.end)
				break;
			close_until(&sweep, next);
			if (symbol <= entry) {
				*vec_push(&sweep) = (struct open_function){
					symbol + symbols->items[s].size, (uint32_t)s};
				change(map, symbol, (uint32_t)s);
				s++;
			} else {
				if (!sweep.count)
					change(map, entry, SPAN_STRIPPED)->is_entry = true;
				e++;
			}
		}
		close_until(&sweep, range.end);
		change(map, range.end, SPAN_OUTSIDE);
	}
	vec_fini(&sweep);
}

struct span *code_map_find(const struct code_map *map, uint64_t address)
{
	size_t low = VEC_UP_TO(map, start, address);

	return low ? &map->items[low - 1] : NULL;
}
