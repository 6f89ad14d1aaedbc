/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of communicators, windows and files, by their handles: asked once each.
 *
 * A description tells readers which processes a communicator joins and which of several with the
 * same members it is: the first, second, ... that this process has met.  They are made by all
 * members, in one order unless threads make some at once; so each is looked at where it is made.
 *
 * One thread at a time adds an entry.  A thread that needs one meanwhile gives way for a while:
 * without a description its messages would have no other end.  Whoever adds may never go on (a
 * handler of the program has interrupted it and calls MPI, or it was another thread before a fork):
 * then the library is asked for the numbers that are needed, and the call has no description.
 */
#include "collector/arch/sys.h"
#include "collector/runtimes/mpi.h"
#include "collector/storage/text.h"

enum {
	ENTRIES = 1 << 12,
	PROBES = 32,
	NAME_ROOM = 256, /* MPI_MAX_OBJECT_NAME is 64 and 128 */
	TEXT_ROOM = 4000,
	UNDEFINED = -32766,
};

#define GONE 1

struct entry {
	_Atomic uintptr_t key; /* the handle and its kind; 0: none so far; GONE: it was freed */
	struct mpi_group group;
};

static struct entry entries[ENTRIES];
/* Of the descriptions so far, without names and numbers: how many there are of each hash. */
static struct {
	uint64_t hash;
	uint32_t count;
} members[ENTRIES];
static atomic_flag adding = ATOMIC_FLAG_INIT;
static _Atomic bool is_used;

static uintptr_t key_of(enum mpi_group_kind kind, uintptr_t handle)
{
	/* Handles are aligned or numbers of 32 bits: they stay apart. */
	return handle ^ (uintptr_t)kind << 61 ^ (uintptr_t)1 << 63;
}

static size_t first_of(uintptr_t key)
{
	return (size_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % ENTRIES;
}

static struct entry *find(uintptr_t key)
{
	size_t first = first_of(key);

	for (size_t i = 0; i < PROBES; i++) {
		struct entry *entry = &entries[(first + i) % ENTRIES];
		uintptr_t other = atomic_load_explicit(&entry->key, memory_order_acquire);

		if (other == key)
			return entry;
		if (!other)
			return NULL;
	}
	return NULL;
}

static struct entry *find_free(uintptr_t key)
{
	size_t first = first_of(key);

	for (size_t i = 0; i < PROBES; i++) {
		struct entry *entry = &entries[(first + i) % ENTRIES];

		if (atomic_load_explicit(&entry->key, memory_order_relaxed) <= GONE)
			return entry;
	}
	return NULL;
}

/* ---- descriptions ---- */

/* a, a-b, a-b+step, with commas between them. */
static void put_ranks(struct text *text, const int *ranks, int count)
{
	for (int i = 0; i < count;) {
		int last = i + 1, step = last < count ? ranks[last] - ranks[i] : 0;

		while (step > 0 && last + 1 < count && ranks[last + 1] - ranks[last] == step)
			last++;
		if (last >= count || step <= 0 || (last == i + 1 && step != 1))
			last = i;
		if (i)
			text_putc(text, ',');
		text_decimal(text, ranks[i]);
		if (last > i) {
			text_putc(text, '-');
			text_decimal(text, ranks[last]);
		}
		if (last > i && step > 1) {
			text_putc(text, '+');
			text_decimal(text, step);
		}
		i = last + 1;
	}
}

/* The ranks of a group's members in MPI_COMM_WORLD. */
static void put_members(struct text *text, uintptr_t group, int size)
{
	size_t bytes = 2 * (size_t)size * sizeof(int);
	uintptr_t world = 0;
	int *ranks = size > 0 ? sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
					 -1, 0)
			      : NULL;

	if (!ranks)
		return;
	for (int i = 0; i < size; i++)
		ranks[i] = i;
	if (!mpi_library.Comm_group(mpi_abi.world, &world)) {
		if (!mpi_library.Group_translate_ranks(group, size, ranks, world, ranks + size))
			put_ranks(text, ranks + size, size);
		mpi_library.Group_free(&world);
	}
	sys_munmap(ranks, bytes);
}

static bool group_of(enum mpi_group_kind kind, uintptr_t handle, uintptr_t *group)
{
	switch (kind) {
	case MPI_GROUP_WIN:
		return !mpi_library.Win_get_group(handle, group);
	case MPI_GROUP_FILE:
		return !mpi_library.File_get_group(handle, group);
	default:
		return !mpi_library.Comm_group(handle, group);
	}
}

static void put_remote_members(struct text *text, uintptr_t handle, struct mpi_group *known)
{
	uintptr_t group = 0;
	int size = 0;

	if (mpi_library.Comm_remote_group(handle, &group))
		return;
	if (!mpi_library.Group_size(group, &size))
		known->size = size;
	text_putc(text, '|');
	put_members(text, group, size);
	mpi_library.Group_free(&group);
}

static uint32_t number_of(uint64_t hash)
{
	size_t at = (size_t)hash % ENTRIES;

	for (size_t i = 0; i < PROBES; i++, at = (at + 1) % ENTRIES) {
		if (members[at].count && members[at].hash != hash)
			continue;
		members[at].hash = hash;
		return members[at].count++;
	}
	return 0;
}

static void put_name(struct text *text, enum mpi_group_kind kind, uintptr_t handle)
{
	char name[NAME_ROOM] = "";
	int length = 0;

	if (handle == mpi_abi.world && kind == MPI_GROUP_COMM) {
		text_puts(text, "MPI_COMM_WORLD");
		return;
	}
	if (kind == MPI_GROUP_WIN    ? mpi_library.Win_get_name(handle, name, &length)
	    : kind == MPI_GROUP_COMM ? mpi_library.Comm_get_name(handle, name, &length)
				     : 1)
		return;
	for (int i = 0; i < length && i < NAME_ROOM && name[i]; i++)
		text_putc(text, name[i] == '#' ? '_' : name[i]);
}

/* is_new: it is told apart from others with the same members. */
static void put_text(enum mpi_group_kind kind, uintptr_t handle, struct mpi_group *known,
		     bool is_new)
{
	static char room[TEXT_ROOM], whole_room[TEXT_ROOM + NAME_ROOM]; /* one at a time */
	struct text ranks = TEXT_ON(room), whole = TEXT_ON(whole_room);
	uintptr_t group = 0;

	if (!group_of(kind, handle, &group))
		return;
	room[0] = '\0';
	if (!mpi_library.Group_size(group, &known->size))
		put_members(&ranks, group, known->size);
	mpi_library.Group_rank(group, &known->rank);
	mpi_library.Group_free(&group);
	if (known->is_inter)
		put_remote_members(&ranks, handle, known);
	if (is_new)
		known->ordinal =
			number_of(text_hash(TEXT_HASH_START + (uint64_t)kind, room, ranks.length));
	put_name(&whole, kind, handle);
	text_putc(&whole, '#');
	text_decimal(&whole, (int64_t)known->ordinal);
	text_puts(&whole, kind == MPI_GROUP_WIN ? "w:" : kind == MPI_GROUP_FILE ? "f:" : ":");
	text_puts(&whole, room);
	if (ranks.full)
		text_end_cut(&whole);
	known->text = mpi_text(whole_room);
}

/* ---- topologies ---- */

static void find_neighbours(uintptr_t handle, struct mpi_group *known)
{
	enum { MPICH_GRAPH = 1, MPICH_CART, MPICH_DIST_GRAPH };
	int topology = UNDEFINED, weighted = 0, count = 0;

	if (mpi_library.Topo_test(handle, &topology) || topology == UNDEFINED)
		return;
	/* Open MPI: Cartesian 1, graph 2, distributed graph 3. */
	if (mpi_abi.is_open_mpi && topology <= 2)
		topology = 3 - topology;
	if (topology == MPICH_DIST_GRAPH) {
		mpi_library.Dist_graph_neighbors_count(handle, &known->sources,
						       &known->destinations, &weighted);
		return;
	}
	if (topology == MPICH_CART && !mpi_library.Cartdim_get(handle, &count))
		count *= 2;
	else if (topology == MPICH_GRAPH)
		mpi_library.Graph_neighbors_count(handle, known->rank, &count);
	known->sources = known->destinations = count;
}

static struct mpi_group look(enum mpi_group_kind kind, uintptr_t handle, bool with_text)
{
	struct mpi_group known = {0};
	int is_inter = 0;

	if (kind == MPI_GROUP_COMM) {
		mpi_library.Comm_size(handle, &known.size);
		mpi_library.Comm_rank(handle, &known.rank);
		known.is_inter = !mpi_library.Comm_test_inter(handle, &is_inter) && is_inter;
	}
	if (with_text)
		put_text(kind, handle, &known, true);
	if (kind == MPI_GROUP_COMM && !known.is_inter)
		find_neighbours(handle, &known);
	return known;
}

static bool is_none(enum mpi_group_kind kind, uintptr_t handle)
{
	return !handle || handle == (kind == MPI_GROUP_WIN    ? mpi_abi.no_win
				     : kind == MPI_GROUP_FILE ? mpi_abi.no_file
							      : mpi_abi.no_comm);
}

/* True: this thread is the one that adds.  *entry: another one has added it meanwhile. */
static bool await_turn(uintptr_t key, struct entry **entry)
{
	enum { YIELDS = 100, NAPS = 1000, NAP_NS = 100 * 1000 };

	for (int i = 0; i < YIELDS + NAPS && !*entry; i++) {
		bool alone = !atomic_flag_test_and_set(&adding);

		*entry = find(key);
		if (alone && !*entry)
			return true;
		if (alone)
			atomic_flag_clear(&adding);
		else if (i < YIELDS)
			sys_call(SYS_sched_yield, 0, 0, 0, 0);
		else
			sys_nap(NAP_NS);
	}
	return false;
}

struct mpi_group mpi_group_of(enum mpi_group_kind kind, uintptr_t handle)
{
	uintptr_t key = key_of(kind, handle);
	struct entry *entry = find(key);

	if (!entry && is_none(kind, handle))
		return (struct mpi_group){0};
	bool alone = await_turn(key, &entry);

	if (entry)
		return entry->group;
	/* Where the table is full there is no description: it would be written at each call. */
	entry = alone ? find_free(key) : NULL;
	struct mpi_group group = look(kind, handle, entry != NULL);

	if (entry) {
		atomic_store_explicit(&is_used, true, memory_order_relaxed);
		entry->group = group;
		/* pairs with find */
		atomic_store_explicit(&entry->key, key, memory_order_release);
	}
	if (alone)
		atomic_flag_clear(&adding);
	return group;
}

void mpi_group_forget(enum mpi_group_kind kind, uintptr_t handle)
{
	struct entry *entry = find(key_of(kind, handle));

	if (entry)
		atomic_store_explicit(&entry->key, GONE, memory_order_release);
}

void mpi_group_renamed(enum mpi_group_kind kind, uintptr_t handle)
{
	struct entry *entry = find(key_of(kind, handle));

	if (!entry || atomic_flag_test_and_set(&adding))
		return;
	put_text(kind, handle, &entry->group, false);
	atomic_flag_clear(&adding);
}

void mpi_groups_begin(void)
{
	atomic_flag_clear(&adding);
	if (!atomic_exchange(&is_used, false))
		return;
	for (size_t i = 0; i < ENTRIES; i++) {
		atomic_store(&entries[i].key, 0);
		members[i].count = 0;
	}
}
