/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/storage/family.h"

#include "collector/arch/sys.h"
#include "collector/storage/file.h"
#include "collector/storage/recording.h"
#include "collector/storage/text.h"

#include <sys/mman.h>

static uint8_t *page; /* NULL: there is none */
static bool is_own;   /* it is a part of this process's own file */
static bool is_writable;
static struct format_family alone;

static int open_founder(void)
{
	static char room[PATH_MAX_HERE]; /* too large for a handler that forks */
	struct text path = TEXT_ON(room);

	text_puts(&path, collector.founder);
	text_puts(&path, "/" FORMAT_FILE_PROFILE);
	int fd = file_open(room, O_RDWR, 0);

	is_writable = fd >= 0;
	return is_writable ? fd : file_open(room, O_RDONLY, 0); /* another user's */
}

/*
 * The founder may have ended, and its file be packed: that has no such page.  Somebody may cut the
 * file before it is looked at: family_mend knows of it then.
 */
static void map_founder(void)
{
	int fd = open_founder();

	if (fd < 0)
		return;
	page = sys_mmap(FORMAT_BLOCK_ALIGN, PROT_READ | (is_writable ? PROT_WRITE : 0), MAP_SHARED,
			fd, 0);
	sys_close(fd);
	const struct format_file_header *header = (const void *)page;

	if (!page || header->header_size == FORMAT_BLOCK_ALIGN)
		return;
	sys_munmap(page, FORMAT_BLOCK_ALIGN);
	page = NULL;
}

void family_open(void)
{
	alone = (struct format_family){0};
	is_own = is_writable = !collector.lineage[0];
	page = is_own ? collector.profile.arena[0].base : NULL;
	if (!is_own)
		map_founder();
}

void family_forget(void)
{
	if (page && !is_own)
		sys_munmap(page, FORMAT_BLOCK_ALIGN);
	page = NULL;
}

bool family_mend(uint64_t address)
{
	uint64_t start = (uint64_t)page;

	return start && !is_own && address >= start && address - start < FORMAT_BLOCK_ALIGN &&
	       sys_map_over(page, FORMAT_BLOCK_ALIGN);
}

struct format_family *family_page(void)
{
	return page && is_writable ? (struct format_family *)(void *)(page + FAMILY_OFFSET)
				   : &alone;
}

uint64_t family_control_word(void)
{
	return page ? __atomic_load_n((uint64_t *)(void *)(page + CONTROL_OFFSET), __ATOMIC_ACQUIRE)
		    : 0;
}
