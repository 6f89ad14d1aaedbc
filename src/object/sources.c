/* SPDX-License-Identifier: Apache-2.0 */
#include "object/sources.h"

#include "object/lines.h"
#include "object/object.h"

#include <stdlib.h>

/* Adds the path of a file, if it is known where it was. */
static void add(struct lines *lines, uint32_t file, struct string_table *paths)
{
	const char *path = lines_file(lines, file)->path;

	if (path[0] == '/')
		string_table_add(paths, path);
}

static void add_used(struct lines *lines, const uint64_t *addresses, size_t count,
		     struct string_table *paths)
{
	struct line_row row;

	for (size_t i = 0; i < count; i++) {
		lines_find(lines, &addresses[i], 1, &row);
		if (row.file != LINES_NONE)
			add(lines, row.file, paths);
	}
}

void object_sources(const char *path, const uint64_t *addresses, size_t count,
		    struct string_table *paths)
{
	const struct object_request request = {.path = path};
	struct diag_list diags = {0};
	struct object *object;

	object_open(&request, &object, &diags);

	struct lines *lines = object_lines(object);

	if (addresses) {
		add_used(lines, addresses, count, paths);
	} else {
		uint32_t files = lines_file_count(lines, true);

		for (uint32_t file = 0; file < files; file++)
			add(lines, file, paths);
	}
	diag_fini(&diags);
	object_free(object);
}
