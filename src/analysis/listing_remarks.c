/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers say of the lines of a listing. */
#include "analysis/listing.h"

#include <string.h>

static const char *folder_of(struct arena *arena, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? arena_printf(arena, "%.*s", (int)(slash - path), path) : NULL;
}

/* Records of the compiler are where it wrote its output: beside the source or the object file. */
void listing_find_remarks(struct listing *listing)
{
	struct arena *arena = &listing->table->arena;
	const struct load_object *object = &listing->session->objects.items[listing->object];
	struct lines *lines = code_lines(listing->session, listing->object);
	const struct line_file *file = lines ? lines_file(lines, listing->file) : NULL;
	const char *folders[] = {file ? file->directory : NULL, folder_of(arena, object->path),
				 folder_of(arena, listing->header->source),
				 folder_of(arena, listing->header->source_found)};

	for (size_t i = 0; listing->request->remarks && i < sizeof(folders) / sizeof(*folders);
	     i++) {
		bool again = !folders[i];

		for (size_t k = 0; !again && k < i; k++)
			again = folders[k] && !strcmp(folders[k], folders[i]);
		if (!again)
			remarks_read(&listing->remarks, folders[i], listing->header->source);
	}
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
