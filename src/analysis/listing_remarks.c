/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers say of the lines of a listing. */
#include "analysis/listing.h"
#include "format/archive.h"

#include <string.h>

static const char *folder_of(struct arena *arena, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? arena_printf(arena, "%.*s", (int)(slash - path), path) : NULL;
}

static void read_records(struct listing *listing, struct string_table *seen, const char *folder)
{
	uint32_t known = seen->count;

	if (string_table_add(seen, folder) == known)
		remarks_read(&listing->remarks, folder, listing->header->source);
}

/*
 * Records of the compiler are where it wrote its output: beside the source or the object file; or
 * their copies in an archive, under the same path.
 */
void listing_find_remarks(struct listing *listing)
{
	const struct session *session = listing->session;
	struct arena *arena = &listing->table->arena;
	struct lines *lines = code_lines(listing->session, listing->object);
	const struct line_file *file = lines ? lines_file(lines, listing->file) : NULL;
	const char *folders[] = {file ? file->directory : NULL,
				 folder_of(arena, session->objects.items[listing->object].path),
				 folder_of(arena, listing->header->source),
				 folder_of(arena, listing->header->source_found)};
	struct string_table seen = {0};

	for (size_t i = 0; listing->request->remarks && i < sizeof(folders) / sizeof(*folders);
	     i++) {
		if (!folders[i])
			continue;
		read_records(listing, &seen, folders[i]);
		for (size_t k = 0; k < session->places.count && folders[i][0] == '/'; k++)
			read_records(listing, &seen,
				     arena_printf(arena, "%s/" FORMAT_ARCHIVE_SOURCES "%s",
						  session->places.items[k].archives, folders[i]));
	}
	string_table_fini(&seen);
	remarks_sort(&listing->remarks);
}

void listing_add_remarks(struct listing *listing, uint32_t line)
{
	for (; listing->next_remark < listing->remarks.items.count; listing->next_remark++) {
		const struct remark *remark = &listing->remarks.items.items[listing->next_remark];

		if (remark->line > line)
			return;
		if (remark->line == line && remark->kind & listing->request->remarks)
			listing_add_row(
				listing, ROW_REMARK, line, NODE_NONE,
				arena_printf(&listing->table->arena, "       %s", remark->text));
	}
}
