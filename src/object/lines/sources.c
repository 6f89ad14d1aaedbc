/* SPDX-License-Identifier: Apache-2.0 */
#include "object/lines/sources.h"

#include "object/lines/lines.h"
#include "object/lines/remarks.h"
#include "object/object.h"

#include <stdlib.h>
#include <string.h>

/* What is found, and where to look for records of it. */
struct finding {
	struct string_table *paths;
	struct string_table directories, stems;
};

static void add_directory(struct finding *finding, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = slash ? xstrndup(path, (size_t)(slash - path)) : NULL;

	if (directory)
		string_table_add(&finding->directories, directory);
	free(directory);
}

/* Adds the path of a file, if it is known where it was. */
static void add(struct lines *lines, uint32_t id, struct finding *finding)
{
	const struct line_file *file = lines_file(lines, id);

	if (file->path[0] != '/')
		return;
	string_table_add(finding->paths, file->path);

	char *stem = remarks_stem(file->path);

	string_table_add(&finding->stems, stem);
	free(stem);
	add_directory(finding, file->path);
	if (file->directory && file->directory[0] == '/')
		string_table_add(&finding->directories, file->directory);
}

static void add_records(struct finding *finding)
{
	for (uint32_t i = 0; i < finding->directories.count; i++)
		remarks_find(string_table_text(&finding->directories, i), &finding->stems,
			     finding->paths);
}

static void add_used(struct lines *lines, const uint64_t *addresses, size_t count,
		     struct finding *finding)
{
	struct line_row row;

	for (size_t i = 0; i < count; i++) {
		lines_find(lines, &addresses[i], 1, &row);
		if (row.file != LINES_NONE)
			add(lines, row.file, finding);
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
	struct finding finding = {.paths = paths};

	add_directory(&finding, path);
	if (addresses) {
		add_used(lines, addresses, count, &finding);
	} else {
		uint32_t files = lines_file_count(lines, true);

		for (uint32_t file = 0; file < files; file++)
			add(lines, file, &finding);
	}
	add_records(&finding);
	string_table_fini(&finding.directories);
	string_table_fini(&finding.stems);
	diag_fini(&diags);
	object_free(object);
}
