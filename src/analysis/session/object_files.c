/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/session/object_files.h"

#include <string.h>

static uint32_t number_of(struct object_files *files, const struct object_identity *identity)
{
	uint64_t key = hash_text(identity, sizeof(*identity));

	for (;; key++) {
		uint32_t number =
			hash_map_put(&files->by_identity, key, (uint32_t)files->items.count);

		if (number == files->items.count)
			*vec_push(&files->items) = (struct object_file){.identity = *identity};
		if (!memcmp(&files->items.items[number].identity, identity, sizeof(*identity)))
			return number;
	}
}

uint32_t object_files_share(struct object_files *files, struct object **object)
{
	struct object_identity identity;

	if (!object_identify(*object, &identity))
		return HASH_NONE;

	uint32_t number = number_of(files, &identity);
	struct object_file *file = &files->items.items[number];

	if (file->object)
		object_free(*object);
	else
		file->object = *object;
	file->users++;
	*object = file->object;
	return number;
}

void object_files_let_go(struct object_files *files, struct object *object, uint32_t number)
{
	if (number != HASH_NONE && --files->items.items[number].users)
		return;
	if (number != HASH_NONE)
		files->items.items[number].object = NULL;
	object_free(object);
}

void object_files_fini(struct object_files *files)
{
	vec_fini(&files->items);
	hash_map_fini(&files->by_identity);
}
