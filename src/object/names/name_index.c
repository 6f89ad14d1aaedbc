/* SPDX-License-Identifier: Apache-2.0 */
#include "object/names/name_index.h"

#include "base/hash.h"
#include "base/memory.h"
#include "object/names/name.h"
#include "object/names/name_code.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	uint64_t hash; /* of the parent's symbol */
	uint32_t function;
};
struct name_index {
	VEC(struct entry) entries; /* sorted by hash, then function */
	struct name_code code;
};

static void add(struct name_index *index, const char *symbol, uint32_t function)
{
	char *parent;

	function_name_parse(symbol, &parent);

	const char *name = parent ? parent : symbol;

	*vec_push(&index->entries) = (struct entry){hash_text(name, strlen(name)), function};
	free(parent);
}

static void add_aliases(struct name_index *index, const struct object_function *function,
			uint32_t number)
{
	char *list = xstrdup(function->alias_list);
	char *rest = list;

	for (char *name; (name = strsep(&rest, " "));) {
		if (strcmp(name, function->mangled) != 0)
			add(index, name, number);
	}
	free(list);
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

struct name_index *name_index_new(struct object *object)
{
	struct name_index *index = xcalloc(1, sizeof(*index));
	uint32_t count = object_function_count(object);

	for (uint32_t i = 0; i < count; i++) {
		const struct object_function *function = object_function(object, i);

		add(index, function->mangled, i);
		if (function->alias_list)
			add_aliases(index, function, i);
	}
	if (index->entries.count)
		qsort(index->entries.items, index->entries.count, sizeof(*index->entries.items),
		      compare);
	return index;
}

void name_index_free(struct name_index *index)
{
	if (index) {
		vec_fini(&index->entries);
		name_code_fini(&index->code);
	}
	free(index);
}

struct name_code *name_index_code(struct name_index *index)
{
	return &index->code;
}

uint32_t name_index_get(const struct name_index *index, const char *symbol, size_t n)
{
	uint64_t hash = hash_text(symbol, strlen(symbol));
	size_t low = 0, high = index->entries.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->entries.items[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	if (n >= index->entries.count - low || index->entries.items[low + n].hash != hash)
		return OBJECT_NO_FUNCTION;
	return index->entries.items[low + n].function;
}
