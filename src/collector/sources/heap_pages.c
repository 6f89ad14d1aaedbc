/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sources/heap_pages.h"

#include "collector/arch/sys.h"
#include "collector/storage/file.h"

#include <fcntl.h>

enum {
	PAGE = 4096,
	CONTENT = 62, /* the bits from there on: it is swapped out, it is in memory */
};

void heap_pages_open(struct heap_pages *pages)
{
	pages->fd = file_open_proc("/proc/self/pagemap", O_RDONLY);
	pages->count = 0;
}

void heap_pages_close(struct heap_pages *pages)
{
	if (pages->fd >= 0)
		sys_close(pages->fd);
}

static bool read_entries(struct heap_pages *pages, uint64_t page)
{
	long got = sys_pread(pages->fd, pages->entries, sizeof(pages->entries),
			     page * sizeof(*pages->entries));

	pages->first = page;
	pages->count = got > 0 ? (uint64_t)got / sizeof(*pages->entries) : 0;
	return pages->count;
}

uint64_t heap_pages_skip(struct heap_pages *pages, uint64_t from, uint64_t to)
{
	while (pages->fd >= 0 && from < to) {
		uint64_t page = from / PAGE;

		if (page - pages->first >= pages->count && !read_entries(pages, page))
			return from;
		if (pages->entries[page - pages->first] >> CONTENT)
			return from;
		from = (page + 1) * PAGE;
	}
	return from < to ? from : to;
}
