/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/storage/blockfile.h"

#include "collector/arch/sys.h"
#include "collector/storage/file.h"
#include "collector/storage/text.h"
#include "format/attach.h"
#include "format/format.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
	ARENA_FIRST = 64 * 1024, /* room for the first blocks: most processes need no more */
	ARENA_LARGEST = 4 * 1024 * 1024,
};

enum { ARENAS_DOUBLING = 6 }; /* 64 KiB << 6 = 4 MiB */

/* Arenas one may look ahead for one that no other thread is making at this moment. */
enum { LOOK_AHEAD = 16 };

/* If all of those are being made (many threads begin at once, the disk is slow), one waits. */
enum { NAPS = 10 * 1000, NAP_NS = 100 * 1000 };

static uint64_t arena_size(uint32_t index)
{
	return index < ARENAS_DOUBLING ? (uint64_t)ARENA_FIRST << index : ARENA_LARGEST;
}

/* An arena's place depends on nothing but its number: arenas can be made in any order. */
static uint64_t arena_offset(uint32_t index)
{
	uint32_t doubling = index < ARENAS_DOUBLING ? index : ARENAS_DOUBLING;

	return ARENA_FIRST * (((uint64_t)1 << doubling) - 1) +
	       (uint64_t)(index - doubling) * ARENA_LARGEST;
}

/* Sets disk space aside. File systems without fallocate get zeros written instead. */
static int reserve(int fd, uint64_t offset, uint64_t size)
{
	static const uint8_t zeros[4096];

	if (!file_may_reach(offset + size))
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

static int map_part(int fd, struct blockfile_arena *arena)
{
	int result = reserve(fd, arena->offset, arena->size);

	if (!result) {
		arena->base = sys_mmap(arena->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				       arena->offset);
		if (!arena->base)
			result = -ENOMEM;
	}
	return result;
}

static int map_arena(struct blockfile *file, struct blockfile_arena *arena)
{
	int fd = file_open(file->path, O_RDWR, 0);

	if (fd < 0)
		return fd;
	int result = map_part(fd, arena);

	sys_close(fd);
	return result;
}

/* A descriptor table that is full now may not be at the next try, nor another user's right be
 * missing. */
static uint32_t state_after(int result)
{
	if (!result)
		return ARENA_READY;
	return result == -EMFILE || result == -ENFILE || result == -EACCES ? ARENA_EMPTY
									   : ARENA_FAILED;
}

/* The file's header, before its first block. */
static void put_header(const struct blockfile *file, uint8_t *page)
{
	struct format_file_header header = {.magic = FORMAT_FILE_MAGIC,
					    .version = FORMAT_VERSION,
					    .header_size = FORMAT_BLOCK_ALIGN};
	struct text kind = TEXT_ON(header.kind);
	struct text body = {.buffer = (char *)page + sizeof(header),
			    .size = FORMAT_BLOCK_ALIGN - sizeof(header)};

	text_puts(&kind, file->name);
	text_puts(&body, file->description);
	*(struct format_file_header *)(void *)page = header;
}

/* The program's umask may deny its owner the file, which is opened again when it grows. */
static void keep_open_to_owner(int fd)
{
	enum { OWN = S_IRUSR | S_IWUSR };
	struct stat info;

	if (!sys_call(SYS_fstat, fd, &info, 0, 0) && (info.st_mode & OWN) != OWN)
		sys_call(SYS_fchmod, fd, (info.st_mode & 07777) | OWN, 0, 0);
}

/* The file itself, with its first arena; without room for that it is not there at all. */
static int map_first(struct blockfile *file, struct blockfile_arena *arena)
{
	int fd = file_open(file->path, O_RDWR | O_CREAT | O_EXCL, 0644);

	if (fd < 0)
		return fd;
	keep_open_to_owner(fd);
	int result = map_part(fd, arena);

	sys_close(fd);
	if (result)
		file_remove(file->path);
	else
		put_header(file, arena->base);
	return result;
}

static void make_arena(struct blockfile *file, uint32_t index)
{
	struct blockfile_arena *arena = &file->arena[index];

	arena->size = arena_size(index);
	arena->offset = arena_offset(index);
	atomic_store_explicit(&arena->used, index ? 0 : FORMAT_BLOCK_ALIGN, memory_order_relaxed);
	int result = atomic_load(&file->cut) ? -EIO
		     : index		     ? map_arena(file, arena)
					     : map_first(file, arena);

	if (result)
		atomic_store(&file->failed, (uint32_t)-result);
	/* pairs with the load in state_of: base and size before the state */
	atomic_store_explicit(&arena->state, state_after(result), memory_order_release);
}

/* Makes arena `index` ready unless another thread is at it. */
static void prepare_arena(struct blockfile *file, uint32_t index)
{
	if (index >= BLOCKFILE_ARENAS || atomic_load(&file->arena[index].state) != ARENA_EMPTY)
		return;
	/* A handler of the program may jump away for good, one of ours would wait for itself. */
	uint64_t mask = sys_block_signals_but(FORMAT_SIGNAL_BIT(SIGBUS));
	uint32_t expected = ARENA_EMPTY;

	if (atomic_compare_exchange_strong(&file->arena[index].state, &expected, ARENA_CLAIMED))
		make_arena(file, index);
	sys_restore_signals(mask);
}

void blockfile_plan(struct blockfile *file, const char *directory, const char *name,
		    const char *description)
{
	struct text path = TEXT_ON(file->path);

	text_puts(&path, directory);
	text_putc(&path, '/');
	text_puts(&path, name);
	file->name = name;
	file->description = description;
	atomic_store(&file->arena[0].state, ARENA_EMPTY);
}

int blockfile_create(struct blockfile *file, const char *directory, const char *name,
		     const char *description)
{
	blockfile_plan(file, directory, name, description);
	make_arena(file, 0); /* nobody else knows the file yet */
	return atomic_load(&file->arena[0].state) == ARENA_READY ? 0 : -(int)file->failed;
}

void blockfile_make(struct blockfile *file)
{
	prepare_arena(file, 0);
}

static uint32_t state_of(struct blockfile *file, uint32_t index)
{
	return atomic_load_explicit(&file->arena[index].state, memory_order_acquire);
}

static void *take_from(struct blockfile *file, uint32_t index, size_t size)
{
	struct blockfile_arena *arena = &file->arena[index];
	uint64_t start = atomic_fetch_add(&arena->used, size);

	if (start + size > arena->size)
		return NULL;
	uint8_t *block = arena->base + start;

	if (start + size > arena->size / 2)
		prepare_arena(file, index + 1);
	return block;
}

/* One look at the arenas there are. *busy: there was no block, but others are making arenas. */
static void *try_take(struct blockfile *file, size_t size, uint32_t *arena, bool *busy)
{
	uint32_t first = atomic_load_explicit(&file->current, memory_order_acquire);

	*busy = false;
	first = first > *arena ? first : *arena;
	for (uint32_t index = first; index < first + LOOK_AHEAD && index < BLOCKFILE_ARENAS;
	     index++) {
		void *block = NULL;

		prepare_arena(file, index);
		uint32_t state = state_of(file, index);
		if (state == ARENA_CLAIMED) { /* go past it; but with the first comes the file */
			*busy = true;
			if (!index)
				break;
			continue;
		}
		if (state != ARENA_READY)
			break;
		block = take_from(file, index, size);
		if (block) {
			*arena = index;
			return block;
		}
		/* Full; but current must not pass an arena that is still being made. */
		uint32_t expected = index;
		atomic_compare_exchange_strong(&file->current, &expected, index + 1);
	}
	return NULL;
}

void *blockfile_take(struct blockfile *file, size_t size, uint32_t *arena)
{
	bool busy;
	void *block = try_take(file, size, arena, &busy);

	for (int nap = 0; !block && busy && !atomic_load(&file->stuck); nap++) {
		if (nap == NAPS)
			atomic_store(&file->stuck, true);
		sys_nap(NAP_NS);
		block = try_take(file, size, arena, &busy);
	}
	return block;
}

void blockfile_for_each(struct blockfile *file, size_t size,
			void (*visit)(const void *block, void *arg), void *arg)
{
	for (uint32_t index = 0; index < BLOCKFILE_ARENAS; index++) {
		const struct blockfile_arena *arena = &file->arena[index];
		uint64_t used = atomic_load(&arena->used);

		if (state_of(file, index) != ARENA_READY)
			return;
		if (used > arena->size)
			used = arena->size;
		for (uint64_t at = index ? 0 : FORMAT_BLOCK_ALIGN; at + size <= used; at += size)
			visit(arena->base + at, arg);
	}
}

/* In the place of a mapping: what is still written there is nobody's. */
static bool detach(const struct blockfile_arena *arena)
{
	return sys_map_over(arena->base, arena->size);
}

static void lose(struct blockfile *file)
{
	atomic_store(&file->cut, true);
	atomic_store(&file->failed, EIO);
}

/* All that may have been made: one beyond the current may be, while that one is made. */
static uint32_t arenas_end(struct blockfile *file)
{
	uint32_t end = atomic_load(&file->current) + LOOK_AHEAD + 1;

	return end < BLOCKFILE_ARENAS ? end : BLOCKFILE_ARENAS;
}

bool blockfile_mend(struct blockfile *file, uint64_t address)
{
	for (uint32_t i = 0, end = arenas_end(file); i < end; i++) {
		const struct blockfile_arena *arena = &file->arena[i];
		uint64_t start = (uint64_t)arena->base;

		if (!start || address < start || address - start >= arena->size)
			continue;
		lose(file);
		return detach(arena);
	}
	return false;
}

/* Of a file that has been cut and has grown again. */
static bool has_lost_header(const struct blockfile *file)
{
	const struct format_file_header *header = (const void *)file->arena[0].base;

	return header->header_size != FORMAT_BLOCK_ALIGN;
}

void blockfile_look(struct blockfile *file)
{
	uint64_t size;

	/* Removed, or no longer to be seen: its pages are there all the same. */
	if (state_of(file, 0) != ARENA_READY || file_size(file->path, &size))
		return;
	for (uint32_t i = 0, end = arenas_end(file); i < end; i++) {
		const struct blockfile_arena *arena = &file->arena[i];

		if (state_of(file, i) != ARENA_READY || arena->offset + arena->size <= size)
			continue;
		lose(file);
		detach(arena);
	}
	if (!atomic_load(&file->cut) && has_lost_header(file))
		lose(file);
}

void blockfile_abandon(struct blockfile *file, bool in_use)
{
	for (uint32_t i = 0; i < BLOCKFILE_ARENAS; i++) {
		struct blockfile_arena *arena = &file->arena[i];

		if (atomic_load(&arena->state) == ARENA_EMPTY)
			break;
		if (arena->base && in_use)
			detach(arena);
		else if (arena->base)
			sys_munmap(arena->base, arena->size);
		*arena = (struct blockfile_arena){0};
	}
	atomic_store(&file->current, 0);
	atomic_store(&file->failed, 0);
	atomic_store(&file->stuck, false);
	atomic_store(&file->cut, false);
	atomic_fetch_add(&file->abandoned, 1);
}
