/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/blockfile.h"

#include "collector/core/sys.h"
#include "collector/core/text.h"
#include "format/format.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { ARENA_EMPTY, ARENA_CLAIMED, ARENA_READY, ARENA_FAILED };

enum {
	ARENA_FIRST = 64 * 1024,
	ARENA_LARGEST = 4 * 1024 * 1024,
};

static uint64_t arena_size(uint32_t index)
{
	uint64_t size = index < 7 ? (uint64_t)ARENA_FIRST << index : ARENA_LARGEST;

	return size < ARENA_LARGEST ? size : ARENA_LARGEST;
}

/* Growing a file past RLIMIT_FSIZE raises SIGXFSZ, which would kill the program. */
static bool within_file_limit(uint64_t end)
{
	struct rlimit limit;

	if (sys_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit))
		return true;
	return limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

/* Sets disk space aside. File systems without fallocate get zeros written instead. */
static int reserve(int fd, uint64_t offset, uint64_t size)
{
	static const uint8_t zeros[4096];

	if (!within_file_limit(offset + size))
		return -EFBIG;
	int result = sys_fallocate(fd, offset, size);
	if (result != -EOPNOTSUPP && result != -ENOSYS)
		return result;
	for (uint64_t done = 0; done < size; done += sizeof(zeros)) {
		long written = sys_pwrite(fd, zeros, sizeof(zeros), offset + done);

		if (written != (long)sizeof(zeros))
			return written < 0 ? (int)written : -ENOSPC;
	}
	return 0;
}

static int map_arena(struct blockfile *file, struct blockfile_arena *arena)
{
	int fd = sys_open(file->path, O_RDWR, 0);

	if (fd < 0)
		return fd;
	int result = reserve(fd, arena->offset, arena->size);
	if (!result) {
		arena->base = sys_mmap(arena->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				       arena->offset);
		if (!arena->base)
			result = -ENOMEM;
	}
	sys_close(fd);
	return result;
}

/* Makes arena `index` ready unless another thread is at it. */
static void prepare_arena(struct blockfile *file, uint32_t index)
{
	uint32_t expected = ARENA_EMPTY;

	if (index >= BLOCKFILE_ARENAS)
		return;
	struct blockfile_arena *arena = &file->arena[index];
	if (!atomic_compare_exchange_strong(&arena->state, &expected, ARENA_CLAIMED))
		return;
	arena->size = arena_size(index);
	arena->offset = index ? arena[-1].offset + arena[-1].size : 0;
	atomic_store_explicit(&arena->used, index ? 0 : FORMAT_BLOCK_ALIGN, memory_order_relaxed);
	int result = map_arena(file, arena);
	if (result)
		atomic_store(&file->failed, (uint32_t)-result);
	/* pairs with the load in blockfile_take: base and size before the state */
	atomic_store_explicit(&arena->state, result ? ARENA_FAILED : ARENA_READY,
			      memory_order_release);
}

int blockfile_create(struct blockfile *file, const char *directory, const char *name,
		     const char *description)
{
	union {
		struct format_file_header header;
		char bytes[FORMAT_BLOCK_ALIGN];
	} page = {.header = {.magic = FORMAT_FILE_MAGIC,
			     .version = FORMAT_VERSION,
			     .header_size = FORMAT_BLOCK_ALIGN}};
	struct text path = TEXT_ON(file->path);
	struct text kind = TEXT_ON(page.header.kind);
	struct text body = {.buffer = page.bytes + sizeof(page.header),
			    .size = sizeof(page.bytes) - sizeof(page.header)};

	text_puts(&path, directory);
	text_putc(&path, '/');
	text_puts(&path, name);
	text_puts(&kind, name);
	text_puts(&body, description);
	int fd = sys_open(file->path, O_RDWR | O_CREAT | O_EXCL, 0644);
	if (fd < 0)
		return fd;
	long written = sys_write(fd, page.bytes, sizeof(page.bytes));
	sys_close(fd);
	if (written != (long)sizeof(page.bytes))
		return written < 0 ? (int)written : -ENOSPC;
	prepare_arena(file, 0);
	return atomic_load(&file->arena[0].state) == ARENA_READY ? 0 : -(int)file->failed;
}

void *blockfile_take(struct blockfile *file, size_t size)
{
	for (int tries = 0; tries < 3; tries++) {
		uint32_t index = atomic_load_explicit(&file->current, memory_order_acquire);
		struct blockfile_arena *arena = &file->arena[index];

		if (atomic_load_explicit(&arena->state, memory_order_acquire) == ARENA_READY) {
			uint64_t start = atomic_fetch_add(&arena->used, size);

			if (start + size <= arena->size) {
				if (start + size > arena->size / 2)
					prepare_arena(file, index + 1);
				return arena->base + start;
			}
		}
		prepare_arena(file, index + 1);
		if (index + 1 >= BLOCKFILE_ARENAS ||
		    atomic_load_explicit(&file->arena[index + 1].state, memory_order_acquire) !=
			    ARENA_READY)
			return NULL;
		atomic_compare_exchange_strong(&file->current, &index, index + 1);
	}
	return NULL;
}

void blockfile_trim(struct blockfile *file)
{
	uint32_t index = atomic_load(&file->current);
	struct blockfile_arena *arena = &file->arena[index];

	if (atomic_load(&arena->state) != ARENA_READY)
		return;
	/* From now on nothing may be cut from what is no longer there. */
	uint64_t used = atomic_fetch_add(&arena->used, arena->size);
	uint32_t expected = ARENA_EMPTY;

	if (used > arena->size)
		used = arena->size;
	if (index + 1 < BLOCKFILE_ARENAS &&
	    !atomic_compare_exchange_strong(&file->arena[index + 1].state, &expected, ARENA_FAILED))
		atomic_store(&file->arena[index + 1].state, ARENA_FAILED);
	sys_truncate(file->path, arena->offset + used);
}

void blockfile_abandon(struct blockfile *file)
{
	for (uint32_t i = 0; i < BLOCKFILE_ARENAS; i++) {
		struct blockfile_arena *arena = &file->arena[i];

		if (atomic_load(&arena->state) == ARENA_EMPTY)
			break;
		if (arena->base)
			sys_munmap(arena->base, arena->size);
		*arena = (struct blockfile_arena){0};
	}
	atomic_store(&file->current, 0);
	atomic_store(&file->failed, 0);
}
