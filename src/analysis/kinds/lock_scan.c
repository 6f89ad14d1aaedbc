/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each event is led to its lock by (family, processes, address); an address that was never seen is
 * looked up once, and what turns out to be a variable of a load object goes to the lock of
 * that variable.  Where allocations were traced too, the locks in blocks from one call stack, at
 * the same offset, are one: a program has as many as it likes of those.
 *
 * A lock takes 50 times what an event does in the file.  Where there are more locks than a twelfth
 * of the events, and PLAIN_ALWAYS, these are dealt out to parts by what they are told apart by.
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

enum { PLAIN_ALWAYS = 1 << 17, PLAIN_PER_ROWS = 12 };

/* A lock in hand: its number, or that of a plain one; or none. */
#define IS_PLAIN 0x80000000u
#define NO_LOCK	 (HASH_NONE - 1)

/* What the last events of an address were found to be. */
struct found_lock {
	uint64_t address;
	uint64_t begin_ns, end_ns; /* at which moments it is so; the end is not among them */
	uint32_t process, family;
	uint32_t lock; /* as lock_at(), or NO_LOCK */
};

enum { FOUND_LOCKS = 1 << 12 };

static struct lock *lock_at(struct lock_scan *scan, uint32_t reference)
{
	return reference & IS_PLAIN ? &scan->plain.items.items[reference & ~IS_PLAIN]
				    : &scan->named.items.items[reference];
}

static bool is_same(const struct lock *a, const struct lock *b)
{
	return a->family == b->family && a->object == b->object &&
	       (a->object || a->image == b->image) && a->maker.process == b->maker.process &&
	       a->maker.node == b->maker.node && !strcmp(a->name, b->name);
}

static void add_lock(struct lock_scan *scan, struct lock_list *list, unsigned family,
		     struct lock lock)
{
	lock.family = family;
	lock.image = scan->image;
	lock.number = (uint64_t)scan->part << 32 | (uint32_t)list->items.count |
		      (list == &scan->plain ? IS_PLAIN : 0);
	lock.is_sought = scan->sought && is_same(&lock, scan->sought);
	*vec_push(&list->items) = lock;
}

static uint32_t named_lock(struct lock_scan *scan, unsigned family, uint64_t key, const char *name,
			   const char *object)
{
	uint32_t fresh = (uint32_t)scan->named.items.count;
	uint32_t number = hash_map_put(&scan->variables[family], key, fresh);

	if (number == fresh)
		add_lock(scan, &scan->named, family, (struct lock){.name = name, .object = object});
	return number;
}

/* Whether what is told apart by that hash is of the part in hand. */
static bool is_in_part(const struct lock_scan *scan, uint64_t hash)
{
	return scan->parts < 2 || (hash >> 32) % scan->parts == scan->part;
}

/* Makes room for one more plain lock; false: there are too many already. */
static bool may_add_plain(struct lock_scan *scan)
{
	size_t room = scan->rows / PLAIN_PER_ROWS;

	if (room < PLAIN_ALWAYS)
		room = PLAIN_ALWAYS;
	scan->is_over =
		scan->parts < 2 && (scan->most || scan->place) && scan->plain.items.count >= room;
	return !scan->is_over;
}

/* Addresses are used again, for other things too. A lock that is read and written is one, and so is
 * a monitor that is entered and waited for. */
static unsigned family_of(unsigned type)
{
	return type == SYNC_WRITE_LOCK	   ? SYNC_READ_LOCK
	       : type == SYNC_MONITOR_WAIT ? SYNC_MONITOR
					   : type;
}

/* A lock in memory that was allocated: those from one place are one. */
static uint32_t add_block(struct lock_scan *scan, unsigned family, uint32_t node, uint64_t offset)
{
	const struct stack_node *nodes = scan->process->stacks.nodes.items;
	const char *place = node == STACK_ROOT
				    ? "<no call stack recorded>"
				    : place_of_code(scan->session, scan->experiment, scan->process,
						    nodes[node].location, NAME_SHORT);

	add_lock(scan, &scan->plain, family,
		 (struct lock){.name = arena_printf(&scan->plain_names, "block from %s, byte %llu",
						    place, (unsigned long long)offset),
			       .maker = {.experiment = scan->experiment,
					 .process = scan->process,
					 .node = node}});
	return (uint32_t)scan->plain.items.count - 1;
}

static uint32_t lock_of_block(struct lock_scan *scan, unsigned family, uint32_t row,
			      uint64_t address)
{
	const struct experiment_trace *heap = &scan->process->traces[TRACE_HEAP];
	uint32_t node = session_shown(&scan->session->scanned.items[scan->process_number],
				      VIEW_USER, trace_stack(heap, row));
	uint64_t offset = address - trace_field(heap, HEAP_ADDRESS, row);
	uint64_t maker = (uint64_t)scan->process_number << 32 | node;

	if (!is_in_part(scan, hash_pair(hash_pair(maker, offset), family)))
		return NO_LOCK;

	struct hash_map *locks = &scan->block_locks[family];
	uint64_t key = (uint64_t)key_numbers_put(&scan->block_makers, maker) << 32 |
		       key_numbers_put(&scan->block_offsets, offset);
	uint32_t known = hash_map_get(locks, key);

	if (known == HASH_NONE) {
		if (!may_add_plain(scan))
			return NO_LOCK;
		known = hash_map_put(locks, key, add_block(scan, family, node, offset));
	}
	return known | IS_PLAIN;
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

/* An address in one of several address spaces or load objects: the key of a table. */
static uint64_t address_key(struct key_numbers *numbers, uint32_t space, uint64_t address)
{
	return (uint64_t)space << 32 | key_numbers_put(numbers, address);
}

/* The lock of an address that is in no block, seen for the first time in this part. */
static uint32_t new_address(struct lock_scan *scan, unsigned family, uint64_t address, uint64_t key)
{
	struct session *session = scan->session;
	struct place place;
	uint32_t found;

	if (place_of_data(session, scan->experiment, scan->process, address, &place)) {
		found = named_lock(
			scan, family,
			address_key(&scan->variable_addresses, place.object, place.address),
			family == LOCK_CRITICAL ? critical_name(session, place.name) : place.name,
			session->objects.items[place.object].path);
	} else if (scan->place) {
		found = NO_LOCK;
	} else {
		if (!may_add_plain(scan))
			return NO_LOCK;
		found = (uint32_t)scan->plain.items.count | IS_PLAIN;
		add_lock(scan, &scan->plain, family,
			 (struct lock){.name = arena_printf(&scan->plain_names, "0x%llx",
							    (unsigned long long)address)});
	}
	return hash_map_put(&scan->addresses[family], key, found);
}

/* The lock of an address that is in no block. */
static uint32_t lock_outside_blocks(struct lock_scan *scan, unsigned family, uint64_t address)
{
	uint64_t key;
	uint32_t known;

	if (!is_in_part(scan, hash_pair(scan->image, address)))
		return NO_LOCK;
	key = address_key(&scan->plain_addresses, scan->image, address);
	known = hash_map_get(&scan->addresses[family], key);
	return known == HASH_NONE ? new_address(scan, family, address, key) : known;
}

static bool is_found(const struct found_lock *found, const struct lock_scan *scan, unsigned family,
		     uint64_t address, uint64_t time_ns)
{
	return found->address == address && found->process == scan->process_number &&
	       found->family == family && found->begin_ns <= time_ns && time_ns < found->end_ns;
}

/*
 * Where blocks were traced, each event is led to the one that is there at its time: an address that
 * was in no block may be in one later.  Most events are of a few locks.
 */
static uint32_t lock_of_address(struct lock_scan *scan, unsigned family, uint64_t address,
				uint64_t time_ns)
{
	struct found_lock *found = &scan->found[hash_pair(address, family) & (FOUND_LOCKS - 1)];
	struct block_span span;

	if (is_found(found, scan, family, address, time_ns))
		return found->lock;
	span = block_index_find(&scan->blocks, address, time_ns);
	*found = (struct found_lock){address, span.begin_ns, span.end_ns, scan->process_number,
				     family,  NO_LOCK};
	found->lock = span.row == BLOCK_NONE ? lock_outside_blocks(scan, family, address)
					     : lock_of_block(scan, family, span.row, address);
	return found->lock;
}

/* Monitors of Java go by the class of their object, in all processes. */
static uint32_t lock_of_class(struct lock_scan *scan, uint64_t number)
{
	const struct experiment_trace *trace = &scan->process->traces[TRACE_SYNC];
	const char *text = number < trace->texts.count ? trace->texts.items[number] : NULL;
	const char *class = text ? text : "<Unknown>";
	uint32_t key = string_table_add(&scan->classes, class);

	return named_lock(scan, SYNC_MONITOR, key, class, NULL);
}

static uint32_t lock_of_parking(struct lock_scan *scan, uint32_t stack)
{
	uint32_t class = lock_parking_class(scan, stack);

	return named_lock(scan, LOCK_PARKING, class, string_table_text(&scan->classes, class),
			  NULL);
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
	return named_lock(scan, LOCK_ORDERED, string_table_add(&scan->places, place), place, NULL);
}

/* Whether something else than an address tells which lock it is. */
static bool has_own_name(const struct lock_event *event)
{
	unsigned family = family_of(event->type);

	return family == SYNC_JOIN || family == SYNC_MONITOR || family == LOCK_PARKING ||
	       family == LOCK_ORDERED || family == LOCK_ATOMIC ||
	       (family == LOCK_CRITICAL && !event->object);
}

static uint32_t lock_of(struct lock_scan *scan, const struct lock_event *event, uint64_t time_ns,
			uint32_t stack)
{
	unsigned family = family_of(event->type);

	if (!has_own_name(event))
		return lock_of_address(scan, family, event->object, time_ns);
	if (scan->part)
		return NO_LOCK; /* that was in the first one */
	if (family == SYNC_JOIN)
		return named_lock(scan, family, scan->image, "<threads>", NULL);
	if (family == SYNC_MONITOR)
		return lock_of_class(scan, event->object);
	if (family == LOCK_PARKING)
		return lock_of_parking(scan, stack);
	if (event->type == LOCK_ORDERED)
		return lock_of_place(scan, stack);
	if (event->type == LOCK_ATOMIC)
		return named_lock(scan, family, scan->image, any_atomic, NULL);
	return named_lock(scan, family, ~(uint64_t)scan->image, unnamed_section, NULL);
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

/* `seen` has all but the first of each lock, as most have no other. */
static void count_thread(struct hash_map *seen, uint32_t lock, uint32_t thread,
			 struct lock_threads *threads)
{
	size_t before = seen->count;

	if (thread == threads->last)
		return;
	threads->last = thread;
	if (!threads->count)
		threads->first = thread;
	else if (thread != threads->first)
		hash_map_put(seen, (uint64_t)lock << 32 | thread, 0);
	threads->count += !threads->count || seen->count > before;
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
			struct hash_map *waiters, struct hash_map *holders,
			const struct lock_event *event)
{
	lock->types |= 1u << event->type;
	lock_sums_add(&lock->sums, event);
	count_thread(waiters, number, scan->thread, &lock->waiters);
	if (event->owner)
		count_thread(holders, number, (uint32_t)event->owner, &lock->holders);
}

/* The lock of an event, which parks a thread of Java where it says that it waits for a condition.
 */
static uint32_t lock_of_row(struct lock_scan *scan, struct lock_event *event,
			    const struct event_run *run, size_t row)
{
	uint32_t stack = event_stacks(run)[row];

	if (event->type == SYNC_CONDITION && lock_parking_class(scan, stack) != LOCK_NOT_PARKED)
		event->type = LOCK_PARKING;
	return lock_of(scan, event, event_times(run)[row], stack);
}

static void count_row(struct lock_scan *scan, struct lock_event *event, const struct event_run *run,
		      size_t row)
{
	uint32_t of = lock_of_row(scan, event, run, row);

	if (of == NO_LOCK)
		return;

	struct lock_list *list = of & IS_PLAIN ? &scan->plain : &scan->named;

	count_event(scan, lock_at(scan, of), of, &list->waiters, &list->holders, event);
	count_event(scan, &scan->total, 0, &scan->waiters, &scan->holders, event);
	scan->visited = lock_at(scan, of);
	if (scan->visit && (scan->visits_all || scan->visited->is_sought))
		scan->visit(scan, event, run, row);
}

/* The number of a run's thread among all processes, from 1. */
static uint32_t thread_of(struct lock_scan *scan, const struct event_run *run)
{
	uint64_t thread = (uint64_t)scan->process_number << 32 | (uint32_t)run->thread;

	return key_numbers_put(&scan->threads, thread) + 1;
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
	scan->thread = thread_of(scan, run);
	for (size_t row = 0; row < run->count && !scan->is_over; row++) {
		struct lock_event event;

		if ((!chosen || chosen[row]) && lock_event_read(run, row, &event) &&
		    (!scan->types || scan->types >> event.type & 1))
			count_row(scan, &event, run, row);
	}
	pthread_mutex_unlock(&scan->mutex);
}

/* What is of another part has no name in the first one, and that which the other has given it. */
static void name_piece(const struct event_run *run, void *arg)
{
	struct lock_scan *scan = arg;

	for (size_t row = 0; row < run->count && !scan->is_over; row++) {
		struct lock_event event;
		uint32_t of;

		if (!lock_event_read(run, row, &event))
			continue;
		of = lock_of_row(scan, &event, run, row);
		if (of != NO_LOCK || !scan->part)
			scan->place(scan, of == NO_LOCK ? NULL : lock_at(scan, of)->name, run, row);
	}
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
		if (!scan->place) {
			scan_process(scan->tally,
				     &scan->session->scanned.items[scan->process_number],
				     scan_piece, states);
		} else {
			events_for_each_piece(scan->process, EVENTS_TRACE + TRACE_SYNC, name_piece,
					      scan);
			events_for_each_piece(scan->process, EVENTS_TRACE + TRACE_OMP, name_piece,
					      scan);
		}
		block_index_fini(&scan->blocks);
	}
}

static void forget_list(struct lock_list *list)
{
	vec_fini(&list->items);
	hash_map_fini(&list->waiters);
	hash_map_fini(&list->holders);
}

/* What was found of the part in hand. */
static void forget_part(struct lock_scan *scan)
{
	forget_list(&scan->plain);
	for (unsigned family = 0; family < LOCK_TYPES; family++) {
		hash_map_fini(&scan->addresses[family]);
		hash_map_fini(&scan->block_locks[family]);
	}
	memset(scan->found, 0, FOUND_LOCKS * sizeof(*scan->found));
	key_numbers_fini(&scan->plain_addresses);
	key_numbers_fini(&scan->block_makers);
	key_numbers_fini(&scan->block_offsets);
	arena_fini(&scan->plain_names);
}

static void forget_all(struct lock_scan *scan)
{
	forget_part(scan);
	forget_list(&scan->named);
	vec_fini(&scan->locks);
	for (unsigned family = 0; family < LOCK_TYPES; family++)
		hash_map_fini(&scan->variables[family]);
	key_numbers_fini(&scan->variable_addresses);
	key_numbers_fini(&scan->threads);
	string_table_fini(&scan->classes);
	string_table_fini(&scan->places);
	hash_map_fini(&scan->parkings);
	hash_map_fini(&scan->waiters);
	hash_map_fini(&scan->holders);
	scan->total = (struct lock){.name = "<Total>"};
}

static int compare_locks(const void *a, const void *b)
{
	const struct lock *x = *(const struct lock *const *)a, *y = *(const struct lock *const *)b;
	int order = lock_sums_compare(&x->sums, &y->sums);

	return order ? order : strcmp(x->name, y->name);
}

static const struct lock **order_of(const struct lock *locks, size_t count)
{
	const struct lock **order = xmalloc((count + 1) * sizeof(struct lock *));

	for (size_t i = 0; i < count; i++)
		order[i] = &locks[i];
	qsort(order, count, sizeof(struct lock *), compare_locks);
	return order;
}

static bool is_asked_for(const struct lock_scan *scan, const struct lock *lock)
{
	struct arena arena = {0};
	bool asked = scan->which && (!strcmp(lock->name, scan->which) ||
				     !strcmp(lock_title(lock, &arena), scan->which));

	arena_fini(&arena);
	return asked;
}

/* Of the plain ones what is wanted. */
static void keep_part(struct lock_scan *scan)
{
	size_t count = scan->plain.items.count;
	const struct lock **order = order_of(scan->plain.items.items, count);

	for (size_t i = 0; i < count; i++) {
		if (scan->most && i >= scan->most && !order[i]->is_kept &&
		    !is_asked_for(scan, order[i]))
			continue;

		struct lock *kept = vec_push(&scan->locks);

		*kept = *order[i];
		kept->name = arena_strdup(&scan->session->arena, kept->name);
	}
	free(order);
	forget_part(scan);
}

static void scan_part(struct lock_scan *scan, void *const *states)
{
	struct string_table images = {0};

	scan->process_number = 0;
	for (size_t i = 0; i < scan->session->experiments.count; i++)
		scan_processes(scan, scan->session->experiments.items[i], i, &images, states);
	string_table_fini(&images);
}

static size_t rows_of(const struct session *session)
{
	size_t rows = 0;

	for (size_t i = 0; i < session->scanned.count; i++) {
		const struct process *process = session->scanned.items[i].process;

		rows += process->traces[TRACE_SYNC].rows.count +
			process->traces[TRACE_OMP].rows.count;
	}
	return rows;
}

static void scan_parts(struct lock_scan *scan, size_t parts, void *const *states)
{
	scan->parts = parts;
	for (scan->part = 0; scan->part < parts; scan->part++) {
		scan_part(scan, states);
		if (scan->is_over)
			return;
		if (scan->place)
			forget_part(scan);
		else
			keep_part(scan);
	}
}

static void begin(struct lock_scan *scan, struct session *session)
{
	pthread_mutex_init(&scan->mutex, NULL);
	scan->session = session;
	scan->rows = rows_of(session);
	scan->found = xcalloc(FOUND_LOCKS, sizeof(*scan->found));
}

/* At once, or, where that are too many locks, in parts. */
static void scan_as_needed(struct lock_scan *scan, void *const *states)
{
	scan_parts(scan, scan->parts ? scan->parts : 1, states);
	if (!scan->is_over)
		return;
	forget_all(scan);
	scan->is_over = false;
	scan_parts(scan, PLAIN_PER_ROWS, states);
}

void lock_scan_run(struct lock_scan *scan, struct tally *tally)
{
	size_t threads = scan_threads();
	void **states = xmalloc(threads * sizeof(*states));

	for (size_t i = 0; i < threads; i++)
		states[i] = scan;
	begin(scan, tally->session);
	scan->tally = tally;
	scan->total.name = "<Total>";
	scan_as_needed(scan, states);
	for (size_t i = 0; i < scan->named.items.count; i++)
		*vec_push(&scan->locks) = scan->named.items.items[i];
	free(states);
}

void lock_scan_names(struct lock_scan *scan, struct session *session)
{
	begin(scan, session);
	scan_as_needed(scan, NULL);
}

void lock_scan_fini(struct lock_scan *scan)
{
	pthread_mutex_destroy(&scan->mutex);
	forget_all(scan);
	free(scan->found);
}

const struct lock **lock_scan_order(const struct lock_scan *scan)
{
	return order_of(scan->locks.items, scan->locks.count);
}

const char *lock_type_name(unsigned type)
{
#define X(name, text) text,
	static const char *const names[] = {
		FORMAT_SYNC_TYPES(X) "critical section",
		"OpenMP lock",
		"atomic construct",
		"ordered section",
		"parking",
	};

	_Static_assert(COUNT(names) == LOCK_TYPES &&
			       LOCK_ORDERED - LOCK_CRITICAL == OMP_ORDERED - OMP_CRITICAL,
		       "in order");
#undef X

	return names[type];
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
