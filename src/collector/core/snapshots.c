/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/snapshots.h"

#include "collector/arch/sys.h"
#include "collector/core/thread.h"
#include "collector/core/thread_state.h"

#include <sys/mman.h>

enum {
	ROOMS = 512,	  /* changes while a thread has no processor in the midst of an unwinding */
	EXTRA = 32,	  /* modules more than are needed now */
	READERS_MAX = 32, /* with more, a room is free when no lock at all is held */
	NONE = -1,
};

struct room {
	struct unwind_modules *modules;
	uint32_t size;
	uint32_t reader_count; /* who may read it, though it is not in force any more */
	uint32_t readers[READERS_MAX + 1];
};

static struct room rooms[ROOMS];
static int rooms_used; /* those behind have never been */
static int in_force = NONE, prepared = NONE;

static bool is_locked(const struct thread *thread)
{
	return atomic_load_explicit(&thread->busy, memory_order_seq_cst) != LOCK_FREE;
}

static void note_reader(struct thread *thread, void *arg)
{
	struct room *room = arg;

	if (is_locked(thread) && room->reader_count <= READERS_MAX)
		room->readers[room->reader_count++] = thread->index;
}

static void note_locked(struct thread *thread, void *any)
{
	*(bool *)any |= is_locked(thread);
}

/* Leaves out those whose lock is free now, and may have been taken again since. */
static void drop_readers(struct room *room)
{
	bool any = false;
	uint32_t kept = 0;

	if (room->reader_count > READERS_MAX) {
		thread_for_each_state(note_locked, &any);
		room->reader_count = any ? room->reader_count : 0;
		return;
	}
	for (uint32_t i = 0; i < room->reader_count; i++) {
		const struct thread *thread = thread_state_at(room->readers[i]);

		if (thread && is_locked(thread))
			room->readers[kept++] = room->readers[i];
	}
	room->reader_count = kept;
}

static size_t bytes_for(uint32_t count)
{
	return sizeof(struct unwind_modules) + count * sizeof(struct unwind_module);
}

static bool grow(struct room *room, uint32_t count)
{
	if (room->modules && room->size >= count)
		return true;
	if (room->modules)
		sys_munmap(room->modules, bytes_for(room->size));
	room->size = count + EXTRA;
	room->modules = sys_mmap(bytes_for(room->size), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return room->modules;
}

struct unwind_modules *snapshots_room(uint32_t count)
{
	prepared = NONE;
	for (int i = 0; i < rooms_used || (prepared == NONE && i < ROOMS); i++) {
		if (i == in_force)
			continue;
		drop_readers(&rooms[i]);
		if (prepared == NONE && !rooms[i].reader_count && grow(&rooms[i], count))
			prepared = i;
	}
	if (prepared >= rooms_used)
		rooms_used = prepared + 1;
	return prepared == NONE ? NULL : rooms[prepared].modules;
}

void snapshots_publish(struct unwind_modules *modules)
{
	int before = in_force;

	unwind_modules_publish(modules);
	in_force = modules ? prepared : NONE;
	/* Who takes a lock from here on sees the new one. */
	if (before != NONE)
		thread_for_each_state(note_reader, &rooms[before]);
}

void snapshots_forget(void)
{
	for (int i = 0; i < rooms_used; i++)
		rooms[i] = (struct room){0};
	rooms_used = 0;
	in_force = NONE;
}
