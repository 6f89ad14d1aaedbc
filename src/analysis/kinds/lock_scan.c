/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each event is led to its lock by (family, processes, address); an address that was never seen is
 * looked up once, and what turns out to be a variable of a load object goes to the lock of
 * that variable.  Where allocations were traced too, the locks in blocks from one call stack, at
 * the same offset, are one: a program has as many as it likes of those.
 */
#include "analysis/kinds/lock_scan.h"

#include "analysis/data/data_address.h"
#include "analysis/session/scan.h"
#include "analysis/session/symbols.h"
#include "base/array.h"
#include "format/lineage.h"

#include <stdlib.h>
#include <string.h>

static const char unnamed_section[] = "<unnamed>", any_atomic[] = "<atomic>";

/* For threads that are counted for all locks together. */
#define LOCK_ALL UINT32_MAX

/* Tables of two parts: 16 bits, and 48 bits of address. */
static uint64_t pack(uint32_t group, uint64_t address)
{
	return (uint64_t)group << 48 | (address & ((UINT64_C(1) << 48) - 1));
}

static uint32_t add_lock(struct lock_scan *scan, struct hash_map *map, uint64_t key,
			 const char *name, const char *object)
{
	uint32_t fresh = (uint32_t)scan->locks.count;
	uint32_t lock = hash_map_put(map, key, fresh);

	if (lock == fresh)
		*vec_push(&scan->locks) =
			(struct lock){.name = name, .object = object, .image = scan->image};
	return lock;
}

/* Addresses are used again, for other things too. A lock that is read and written is one, and so is
 * a monitor that is entered and waited for. */
static unsigned family_of(unsigned type)
{
	return type == SYNC_WRITE_LOCK	   ? SYNC_READ_LOCK
	       : type == SYNC_MONITOR_WAIT ? SYNC_MONITOR
					   : type;
}

/* The block of traced memory that the address is in, or BLOCK_NONE. */
static uint32_t find_block(struct lock_scan *scan, uint64_t address, uint64_t time_ns)
{
	uint32_t row = hash_map_get(&scan->block_rows, address);

	if (row != HASH_NONE && block_index_holds(&scan->blocks, row, address, time_ns))
		return row;
	row = block_index_find(&scan->blocks, address, time_ns);
	if (row != BLOCK_NONE)
		hash_map_put(&scan->block_rows, address, row);
	return row;
}

/* A lock in memory that was allocated: those from one place are one. */
static uint32_t lock_of_block(struct lock_scan *scan, unsigned family, uint32_t row,
			      uint64_t address)
{
	const struct experiment_trace *heap = &scan->process->traces[TRACE_HEAP];
	const struct stack_node *nodes = scan->process->stacks.nodes.items;
	uint32_t node = session_shown(&scan->session->scanned.items[scan->process_number],
				      VIEW_USER, trace_stack(heap, row));
	uint64_t offset = address - trace_field(heap, HEAP_ADDRESS, row);
	char *key = xasprintf("%u %u %u %llx", family, scan->process_number, node,
			      (unsigned long long)offset);
	uint32_t number = string_table_add(&scan->block_keys, key);
	uint32_t known = hash_map_get(&scan->block_locks, number);

	free(key);
	if (known != HASH_NONE)
		return known;

	const char *place = node == STACK_ROOT
				    ? "<no call stack recorded>"
				    : place_of_code(scan->session, scan->experiment, scan->process,
						    nodes[node].location, NAME_SHORT);

	known = add_lock(scan, &scan->block_locks, number,
			 arena_printf(&scan->session->arena, "block from %s, byte %llu", place,
				      (unsigned long long)offset),
			 NULL);
	scan->locks.items[known].maker = (struct lock_place){
		.experiment = scan->experiment, .process = scan->process, .node = node};
	return known;
}

/* gcc: .gomp_critical_user_NAME; clang: .gomp_critical_user_NAME.var, with or without the first
 * dot.
 */
static const char *critical_name(struct session *session, const char *variable)
{
	static const char prefix[] = "gomp_critical_user_", suffix[] = ".var";
	const char *name = variable + (*variable == '.');
	size_t length;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return variable;
	name += sizeof(prefix) - 1;
	length = strlen(name);
	if (length >= sizeof(suffix) - 1 && !strcmp(name + length - (sizeof(suffix) - 1), suffix))
		length -= sizeof(suffix) - 1;
	return length ? arena_printf(&session->arena, "%.*s", (int)length, name) : unnamed_section;
}

static uint32_t lock_of_address(struct lock_scan *scan, unsigned family, uint64_t address,
				uint64_t time_ns)
{
	struct session *session = scan->session;
	uint64_t key = pack(scan->image, address);
	uint32_t known = hash_map_get(&scan->addresses[family], key);
	uint32_t block = BLOCK_NONE;
	struct place place;

	if (known != HASH_NONE)
		return known;
	if (scan->blocks.count)
		block = find_block(scan, address, time_ns);
	if (block != BLOCK_NONE)
		return lock_of_block(scan, family, block, address);
	if (!place_of_data(session, scan->experiment, scan->process, address, &place))
		return add_lock(
			scan, &scan->addresses[family], key,
			arena_printf(&session->arena, "0x%llx", (unsigned long long)address), NULL);
	known = add_lock(scan, &scan->variables[family], pack(place.object, place.address),
			 family == LOCK_CRITICAL ? critical_name(session, place.name) : place.name,
			 session->objects.items[place.object].path);
	return hash_map_put(&scan->addresses[family], key, known);
}

/* Monitors of Java go by the class of their object, in all processes. */
static uint32_t lock_of_class(struct lock_scan *scan, uint64_t number)
{
	const struct experiment_trace *trace = &scan->process->traces[TRACE_SYNC];
	const char *text = number < trace->texts.count ? trace->texts.items[number] : NULL;
	const char *class = text ? text : "<Unknown>";
	uint32_t key = string_table_add(&scan->classes, class);

	return add_lock(scan, &scan->addresses[SYNC_MONITOR], key, class, NULL);
}

/* Ordered sections go by where they are in the code, which user mode shows below the wait. */
static uint32_t lock_of_place(struct lock_scan *scan, uint32_t stack)
{
	const struct stack_tree *stacks = &scan->process->stacks;
	uint32_t node = session_shown(&scan->session->scanned.items[scan->process_number],
				      VIEW_USER, stack);
	const char *place = "<no call stack recorded>";

	while (node != STACK_ROOT &&
	       stacks->locations.items[stacks->nodes.items[node].location].pc < FORMAT_PC_LIMIT)
		node = stacks->nodes.items[node].parent;
	if (node != STACK_ROOT)
		place = place_of_code(scan->session, scan->experiment, scan->process,
				      stacks->nodes.items[node].location, NAME_SHORT);
	return add_lock(scan, &scan->addresses[LOCK_ORDERED],
			string_table_add(&scan->places, place), place, NULL);
}

static uint32_t lock_of(struct lock_scan *scan, const struct lock_event *event, uint64_t time_ns,
			uint32_t stack)
{
	if (event->type == SYNC_JOIN)
		return add_lock(scan, &scan->addresses[SYNC_JOIN], scan->image, "<threads>", NULL);
	if (family_of(event->type) == SYNC_MONITOR)
		return lock_of_class(scan, event->object);
	if (event->type == LOCK_CRITICAL && !event->object)
		return add_lock(scan, &scan->addresses[LOCK_CRITICAL], pack(scan->image, 0),
				unnamed_section, NULL);
	if (event->type == LOCK_ORDERED)
		return lock_of_place(scan, stack);
	if (event->type == LOCK_ATOMIC)
		return add_lock(scan, &scan->addresses[LOCK_ATOMIC], scan->image, any_atomic, NULL);
	return lock_of_address(scan, family_of(event->type), event->object, time_ns);
}

static bool read_sync(const struct event_run *run, size_t row, struct lock_event *event)
{
	uint64_t waited_ns = event_field(run, SYNC_WAITED)[row];

	*event = (struct lock_event){.type = (unsigned)event_column(run, ROW_TYPE)[row],
				     .object = event_field(run, SYNC_OBJECT)[row],
				     .owner = event_field(run, SYNC_OWNER)[row],
				     .waited_ns = waited_ns,
				     .longest_ns = waited_ns,
				     .count = 1,
				     .result = event_field(run, SYNC_RESULT)[row]};
	return true;
}

static bool read_omp(const struct event_run *run, size_t row, struct lock_event *event)
{
	uint64_t type = event_column(run, ROW_TYPE)[row];

	if (type < OMP_CRITICAL || type > OMP_ORDERED)
		return false;
	*event = (struct lock_event){.type = LOCK_CRITICAL + (unsigned)(type - OMP_CRITICAL),
				     .object = event_field(run, OMP_OBJECT)[row],
				     .owner = event_field(run, OMP_OWNER)[row],
				     .waited_ns = event_field(run, OMP_DURATION)[row],
				     .longest_ns = event_field(run, OMP_LONGEST_WAIT)[row],
				     .count = event_field(run, OMP_CALLS)[row]};
	return true;
}

bool lock_event_read(const struct event_run *run, size_t row, struct lock_event *event)
{
	if (run->kind == EVENTS_TRACE + TRACE_SYNC)
		return read_sync(run, row, event);
	return run->kind == EVENTS_TRACE + TRACE_OMP && read_omp(run, row, event);
}

/* `last` was counted already; 0: none was. */
static void count_thread(struct hash_map *seen, uint32_t lock, uint32_t thread, uint32_t *count,
			 uint32_t *last)
{
	size_t before = seen->count;

	if (thread == *last)
		return;
	*last = thread;
	hash_map_put(seen, (uint64_t)lock << 32 | thread, 0);
	*count += seen->count > before;
}

void lock_sums_add(struct lock_sums *sums, const struct lock_event *event)
{
	lock_sums_merge(sums, &(struct lock_sums){.count = event->count,
						  .failed = event->result != 0,
						  .waited_ns = event->waited_ns,
						  .longest_ns = event->longest_ns});
}

void lock_sums_merge(struct lock_sums *sums, const struct lock_sums *other)
{
	sums->count += other->count;
	sums->failed += other->failed;
	sums->waited_ns += other->waited_ns;
	if (other->longest_ns > sums->longest_ns)
		sums->longest_ns = other->longest_ns;
}

int lock_sums_compare(const struct lock_sums *a, const struct lock_sums *b)
{
	if (a->waited_ns != b->waited_ns)
		return a->waited_ns > b->waited_ns ? -1 : 1;
	return a->count > b->count ? -1 : a->count < b->count;
}

static void count_event(struct lock_scan *scan, struct lock *lock, uint32_t number,
			const struct lock_event *event, const struct event_run *run)
{
	lock->types |= 1u << event->type;
	lock_sums_add(&lock->sums, event);
	count_thread(&scan->waiters, number, scan->process_number << 16 ^ (uint32_t)run->thread,
		     &lock->waiters, &lock->last_waiter);
	if (event->owner)
		count_thread(&scan->holders, number, (uint32_t)event->owner, &lock->holders,
			     &lock->last_holder);
}

/* One at a time: locks are found and named as they come. */
static void scan_piece(const struct scan_piece *piece, void *state)
{
	const struct event_run *run = piece->run;
	const uint8_t *chosen = piece->measuring.chosen;
	struct lock_scan *scan = state;

	if (run->kind != EVENTS_TRACE + TRACE_SYNC && run->kind != EVENTS_TRACE + TRACE_OMP)
		return;
	pthread_mutex_lock(&scan->mutex);
	for (size_t row = 0; row < run->count; row++) {
		struct lock_event event;

		if ((chosen && !chosen[row]) || !lock_event_read(run, row, &event))
			continue;

		uint32_t lock =
			lock_of(scan, &event, event_times(run)[row], event_stacks(run)[row]);

		count_event(scan, &scan->locks.items[lock], lock, &event, run);
		count_event(scan, &scan->total, LOCK_ALL, &event, run);
		if (scan->visit)
			scan->visit(scan, lock, &event, run, row);
	}
	pthread_mutex_unlock(&scan->mutex);
}

/* Where a lineage ends without its last forks: "_x1_f2_f10" is a copy of "_x1". */
static size_t image_length(const char *lineage)
{
	size_t length = strlen(lineage), before;
	char *rest = xstrdup(lineage);

	while (lineage_step(rest, &before) == 'f')
		rest[length = before] = '\0';
	free(rest);
	return length;
}

static uint32_t image_of(struct string_table *images, size_t experiment, const char *lineage)
{
	char *key = xasprintf("%zu%.*s", experiment, (int)image_length(lineage), lineage);
	uint32_t image = string_table_add(images, key);

	free(key);
	return image;
}

static void scan_processes(struct lock_scan *scan, const struct experiment *experiment,
			   size_t number, struct string_table *images, void *const *states)
{
	scan->experiment = experiment;
	for (size_t i = 0; i < experiment->processes.count; i++, scan->process_number++) {
		scan->process = &experiment->processes.items[i];
		scan->image = image_of(images, number, scan->process->lineage);
		block_index_build(&scan->blocks, scan->process);
		scan_process(scan->tally, &scan->session->scanned.items[scan->process_number],
			     scan_piece, states);
		block_index_fini(&scan->blocks);
		hash_map_fini(&scan->block_rows);
	}
}

void lock_scan_run(struct lock_scan *scan, struct tally *tally)
{
	struct session *session = tally->session;
	size_t threads = scan_threads();
	void **states = xmalloc(threads * sizeof(*states));
	struct string_table images = {0};

	for (size_t i = 0; i < threads; i++)
		states[i] = scan;
	pthread_mutex_init(&scan->mutex, NULL);
	scan->tally = tally;
	scan->session = session;
	scan->total.name = "<Total>";
	for (size_t i = 0; i < session->experiments.count; i++)
		scan_processes(scan, session->experiments.items[i], i, &images, states);
	free(states);
	string_table_fini(&images);
}

void lock_scan_fini(struct lock_scan *scan)
{
	vec_fini(&scan->locks);
	pthread_mutex_destroy(&scan->mutex);
	for (unsigned family = 0; family < LOCK_TYPES; family++) {
		hash_map_fini(&scan->addresses[family]);
		hash_map_fini(&scan->variables[family]);
	}
	string_table_fini(&scan->block_keys);
	string_table_fini(&scan->classes);
	string_table_fini(&scan->places);
	hash_map_fini(&scan->block_locks);
	hash_map_fini(&scan->waiters);
	hash_map_fini(&scan->holders);
}

static int compare_locks(const void *a, const void *b)
{
	const struct lock *x = *(const struct lock *const *)a, *y = *(const struct lock *const *)b;
	int order = lock_sums_compare(&x->sums, &y->sums);

	return order ? order : strcmp(x->name, y->name);
}

const struct lock **lock_scan_order(const struct lock_scan *scan)
{
	const struct lock **order = xmalloc((scan->locks.count + 1) * sizeof(struct lock *));

	for (size_t i = 0; i < scan->locks.count; i++)
		order[i] = &scan->locks.items[i];
	qsort(order, scan->locks.count, sizeof(struct lock *), compare_locks);
	return order;
}

const char *lock_type_name(unsigned type)
{
#define X(name, text) text,
	static const char *const names[] = {
		FORMAT_SYNC_TYPES(X) "critical section",
		"OpenMP lock",
		"atomic construct",
		"ordered section",
	};

	_Static_assert(COUNT(names) == LOCK_TYPES &&
			       LOCK_ORDERED - LOCK_CRITICAL == OMP_ORDERED - OMP_CRITICAL,
		       "in order");
#undef X

	return names[type];
}

bool lock_is_openmp(unsigned types)
{
	return types >> LOCK_CRITICAL;
}

const char *lock_title(const struct lock *lock, struct arena *arena)
{
	const char *title = lock->name, *before = " (";

	for (unsigned type = 0; type < LOCK_TYPES; type++) {
		if (!(lock->types >> type & 1))
			continue;
		title = arena_printf(arena, "%s%s%s", title, before, lock_type_name(type));
		before = ", ";
	}
	return arena_printf(arena, "%s)", title);
}
