/* SPDX-License-Identifier: Apache-2.0 */
/*
 * There are two sources of evidence.  An event's address tells the variable of a load object or the
 * block of traced memory that it is in, and is always right.  Its instruction tells a type and an
 * offset, by the debug information; it is believed where it does not contradict the address.  Only
 * the instruction tells variables on the stack and what pointers lead to outside traced blocks.
 *
 * Page faults stop at the instruction itself, watch points behind it, and these give the address
 * that is watched, not the one that was accessed.
 */
#include "analysis/data/data_map.h"

#include "analysis/code/attribution.h"
#include "analysis/data/block_index.h"
#include "analysis/data/data_address.h"
#include "analysis/index/mapping_index.h"
#include "analysis/session/session.h"
#include "analysis/session/symbols.h"
#include "base/array.h"
#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

enum { WATCHED_MAX = 8, INSTRUCTION_MAX = 16 }; /* bytes */

/* What is in hand. */
struct mapping {
	struct data_map *map;
	const struct experiment *experiment;
	const struct session_process *process;
	bool is_watch[COUNTERS_MAX]; /* by number: a watch point */
	bool skids[COUNTERS_MAX];    /* … it is recorded further behind the access */
	bool has_skidded;	     /* the event in hand has */
	bool has_address[COUNTERS_MAX];
	struct block_index blocks;
	struct mapping_index mappings;
	struct place_spans data;
	struct hash_map known; /* of what does not depend on the time: event → place */
};

static uint32_t add_place(struct data_map *map, struct data_place place)
{
	uint64_t key = hash_u64((uint64_t)place.leaf << 32 ^ place.variable) ^
		       hash_u64((uint64_t)place.block + 1);

	for (;; key++) { /* two of one key take neighbours */
		uint32_t fresh = (uint32_t)map->places.count;
		uint32_t known = hash_map_put(&map->place_ids, key, fresh);
		const struct data_place *there;

		if (known == fresh) {
			*vec_push(&map->places) = place;
			return known;
		}
		there = &map->places.items[known];
		if (there->leaf == place.leaf && there->variable == place.variable &&
		    there->block == place.block)
			return known;
	}
}

static struct data_place only(uint32_t leaf)
{
	return (struct data_place){leaf, DATA_NONE, DATA_NONE};
}

static struct data_tracker *tracker_of(struct data_map *map, uint32_t object)
{
	while (map->trackers.count <= object)
		*vec_push(&map->trackers) = NULL;
	if (!map->trackers.items[object])
		map->trackers.items[object] =
			data_tracker_new(map->session->objects.items[object].object);
	return map->trackers.items[object];
}

/* ---- functions without variables ---- */

/* Functions of the C library written in assembly, and the argument that each reads from. */
static const struct memory_function {
	const char *name;
	enum data_argument reads; /* it writes to its first */
} memory_functions[] = {
	{"memset", ARGUMENT_FIRST},   {"bzero", ARGUMENT_FIRST},    {"memcpy", ARGUMENT_SECOND},
	{"memmove", ARGUMENT_SECOND}, {"mempcpy", ARGUMENT_SECOND}, {"strlen", ARGUMENT_FIRST},
	{"strnlen", ARGUMENT_FIRST},  {"memchr", ARGUMENT_FIRST},   {"strchr", ARGUMENT_FIRST},
	{"strcpy", ARGUMENT_SECOND},  {"stpcpy", ARGUMENT_SECOND},  {"strncpy", ARGUMENT_SECOND},
};

/* By a symbol as "__memset_avx2_unaligned", or NULL. */
static const struct memory_function *find_memory_function(const char *symbol)
{
	size_t length;

	symbol += strspn(symbol, "_");
	length = strcspn(symbol, "_@");
	for (size_t i = 0; i < COUNT(memory_functions); i++)
		if (strlen(memory_functions[i].name) == length &&
		    !strncmp(memory_functions[i].name, symbol, length))
			return &memory_functions[i];
	return NULL;
}

/* What the argument that the caller gives such a function points to; *object: the caller's. */
static struct data_access access_of_caller(struct mapping *mapping, uint32_t node,
					   enum data_argument argument, uint32_t *object)
{
	struct session *session = mapping->map->session;
	const struct process *process = mapping->process->process;
	struct data_access none = {.kind = ACCESS_UNKNOWN, .reason = DATA_NO_VARIABLE};
	uint32_t caller = process->stacks.nodes.items[node].parent;
	uint64_t address;

	if (caller == STACK_ROOT)
		return none;
	symbols_place(session, mapping->experiment, process,
		      process->stacks.nodes.items[caller].location, object, &address);
	if (*object == OBJECT_UNKNOWN || !session->objects.items[*object].object)
		return none;
	return data_track_argument(tracker_of(mapping->map, *object), address, argument);
}

/*
 * For an instruction of a function at an address of *object: replaces what is not known by what the
 * caller tells, and *object by the caller's.
 */
static void ask_caller(struct mapping *mapping, uint32_t node, uint32_t function, uint64_t address,
		       uint32_t *object, struct data_access *access)
{
	const struct memory_function *known =
		find_memory_function(mapping->map->session->functions.items[function].mangled);
	struct data_access callers;
	bool reads, writes;
	uint32_t caller;

	if (!known)
		return;
	data_track_direction(tracker_of(mapping->map, *object), address, &reads, &writes);
	if (reads == writes) /* rep movsb: it is not known which of the two it was */
		return;
	callers = access_of_caller(mapping, node, writes ? ARGUMENT_FIRST : known->reads, &caller);
	if (callers.kind == ACCESS_UNKNOWN)
		return;
	*access = callers;
	*object = caller;
}

/* ---- the instruction ---- */

/* Whether an address is in an instruction that calls the kernel: see analysis/code/attribution.h.
 */
static bool is_system_call(struct object *object, uint64_t address)
{
	unsigned size = isa_system_call_size(object_machine(object));
	uint8_t bytes[4];

	return size && size <= sizeof(bytes) && address >= size &&
	       object_code(object, address + 1 - size, bytes, size) == size &&
	       isa_is_system_call(object_machine(object), bytes);
}

/*
 * What the instruction of an event accesses; *object: the load object that it is in.  after: it is
 * the one in front of the event's, unless that has been found before.
 */
static struct data_access access_of(struct mapping *mapping, uint32_t node, bool after,
				    uint32_t *object)
{
	struct session *session = mapping->map->session;
	const struct process *process = mapping->process->process;
	struct data_access none = {.kind = ACCESS_UNKNOWN, .reason = DATA_UNVERIFIABLE};
	uint64_t address;

	*object = OBJECT_UNKNOWN;
	if (node == STACK_ROOT)
		return none;

	uint32_t location = process->stacks.nodes.items[node].location;
	const struct stack_location *at = &process->stacks.locations.items[location];

	uint32_t function =
		symbols_place(session, mapping->experiment, process, location, object, &address);

	if (*object == OBJECT_UNKNOWN)
		return none;
	if (at->is_target) {
		none.reason = DATA_UNRESOLVABLE;
		return none;
	}
	if (mapping->has_skidded && !at->is_trigger)
		return none;
	if (!session->objects.items[*object].object) { /* made at run time */
		none.reason = DATA_NO_DEBUG;
		return none;
	}

	struct data_tracker *tracker = tracker_of(mapping->map, *object);
	struct data_access access = data_track(tracker, address, after && !at->is_trigger);

	if (access.kind == ACCESS_UNKNOWN && access.reason == DATA_UNVERIFIABLE &&
	    is_system_call(session->objects.items[*object].object, address))
		access.reason = DATA_SYSTEM_CALL;
	else if (access.kind == ACCESS_UNKNOWN)
		ask_caller(mapping, node, function, address, object, &access);
	return access;
}

/* ---- together ---- */

/* In the data of a load object. */
static struct data_place place_in_data(struct mapping *mapping, uint32_t number, uint64_t address,
				       uint32_t size)
{
	struct data_map *map = mapping->map;
	struct object *object = map->session->objects.items[number].object;
	struct variables *variables = object_variables(object);
	const struct variable *variable = variables_at(variables, address);
	struct object_data data;
	uint32_t leaf, whole;

	if (variable) {
		whole = data_of_variable(map, number, variables, variable,
					 (int64_t)(address - variable->address), size, &leaf);
		return (struct data_place){leaf, whole == leaf ? DATA_NONE : whole, DATA_NONE};
	}
	if (object_data_at(object, address, &data) && data.mangled)
		return only(data_of_symbol(map, number, &data));
	return only(
		data_of_reason(variables_present(variables) ? DATA_NO_VARIABLE : DATA_NO_DEBUG));
}

/* A watch point on several bytes: the one that the instruction names. */
static uint64_t exact_address(const struct data_access *access, const struct place *place,
			      uint32_t code, bool after)
{
	bool is_near = access->kind == ACCESS_STATIC && access->is_exact && code == place->object &&
		       access->address - place->address < WATCHED_MAX;

	return after && is_near ? access->address : place->address;
}

/* The largest power of two that members and size of a type are multiples of. */
static uint64_t alignment_of(struct variables *variables, uint32_t type)
{
	const struct data_type *what = variables_type(variables, type);
	const struct data_member *members;
	size_t count = variables_members(variables, type, &members);
	uint64_t largest = what->kind == DATA_AGGREGATE ? 1 : what->size;

	for (size_t i = 0; i < count; i++) {
		uint64_t size = members[i].size;

		if ((size == 2 || size == 4 || size == 8) && members[i].offset % size == 0 &&
		    size > largest)
			largest = size;
	}
	return largest && largest <= 8 && !(largest & (largest - 1)) && what->size % largest == 0
		       ? largest
		       : 1;
}

/* Through a pointer, to what would have to lie as the type demands it. */
static uint32_t place_by_type(struct mapping *mapping, const struct data_access *access,
			      struct variables *variables, uint64_t address, bool after)
{
	const struct data_type *type = variables_type(variables, access->type);

	if (access->is_run)
		return type->kind == DATA_AGGREGATE
			       ? data_of_type(mapping->map, variables, access->type)
			       : data_at(mapping->map, variables, access->type, 0, 0);
	if (!after && (address - (uint64_t)access->offset) % alignment_of(variables, access->type))
		return data_of_reason(DATA_UNVERIFIABLE);
	return data_at(mapping->map, variables, access->type, access->offset, access->size);
}

/* What the instruction says of an address that is in no load object's data. */
static struct data_place place_by_code(struct mapping *mapping, const struct data_access *access,
				       uint32_t code, uint64_t address, bool after)
{
	struct data_map *map = mapping->map;
	struct variables *variables;
	struct data_place place = only(data_of_reason(access->reason));
	uint32_t leaf;

	switch (access->kind) {
	case ACCESS_UNKNOWN:
		break;
	case ACCESS_STATIC: /* but there it was not */
		place.leaf = data_of_reason(DATA_UNVERIFIABLE);
		break;
	case ACCESS_VARIABLE:
		variables = object_variables(map->session->objects.items[code].object);
		place.variable =
			data_of_variable(map, code, variables, access->variable,
					 access->is_run ? 0 : access->offset, access->size, &leaf);
		place.leaf = access->is_run ? place.variable : leaf;
		if (place.variable == place.leaf)
			place.variable = DATA_NONE;
		break;
	case ACCESS_TYPE:
		variables = object_variables(map->session->objects.items[code].object);
		place.leaf = place_by_type(mapping, access, variables, address, after);
		break;
	}
	return place;
}

static bool is_reason(uint32_t object)
{
	return object >= DATA_FIRST_REASON && object < DATA_FIRST_REASON + DATA_REASONS;
}

/* Traced memory. */
struct memory {
	uint64_t begin, size;
	uint32_t row;	 /* of the call that allocated or mapped it */
	bool is_mapping; /* … mapped: others may allocate from it */
};

/* The smallest that held an address; false: none is known. */
static bool memory_at(const struct mapping *mapping, uint64_t address, uint64_t time_ns,
		      struct memory *memory)
{
	const struct experiment_trace *heap = &mapping->process->process->traces[TRACE_HEAP];
	uint32_t row = block_index_find(&mapping->blocks, address, time_ns).row;
	const struct mapping_piece *piece;

	if (row != BLOCK_NONE) {
		*memory = (struct memory){.begin = trace_field(heap, HEAP_ADDRESS, row),
					  .size = trace_field(heap, HEAP_SIZE, row),
					  .row = row};
		return true;
	}
	piece = mapping_index_find(&mapping->mappings, address, time_ns);
	if (piece)
		*memory =
			(struct memory){piece->begin, piece->end - piece->begin, piece->row, true};
	return piece;
}

/* Whether something of the access's type fits into the block, where the access says that it is. */
static bool fits_into_block(const struct mapping *mapping, const struct data_access *access,
			    uint32_t code, uint64_t address, const struct memory *memory)
{
	uint64_t begin = address - memory->begin;
	struct variables *variables =
		object_variables(mapping->map->session->objects.items[code].object);
	uint64_t offset = (uint64_t)access->offset;

	if (access->is_run || access->is_anywhere)
		return true;
	return begin >= offset &&
	       begin - offset + variables_type(variables, access->type)->size <= memory->size;
}

/* Variables on the stack are in none; those of threads are, where a library was opened. */
static bool may_be_in_block(const struct data_access *access)
{
	return access->kind == ACCESS_TYPE ||
	       (access->kind == ACCESS_VARIABLE && access->variable->is_of_thread);
}

/* In a traced block: what the code says counts if it can be true there, besides the block. */
static struct data_place place_in_block(struct mapping *mapping, const struct data_access *access,
					uint32_t code, uint64_t address, bool after,
					const struct memory *memory)
{
	const struct experiment_trace *heap = &mapping->process->process->traces[TRACE_HEAP];
	uint32_t block = data_of_block(mapping->map, mapping->process,
				       trace_stack(heap, memory->row), memory->is_mapping);
	struct data_place place;

	if (!may_be_in_block(access) || (access->kind == ACCESS_TYPE && !after &&
					 !fits_into_block(mapping, access, code, address, memory)))
		return only(block);
	place = place_by_code(mapping, access, code, address, after);
	if (is_reason(place.leaf))
		return only(block);
	place.block = block;
	return place;
}

/* Whether an instruction itself is at an address, or its end, on the next page. */
static bool is_fetch(const struct mapping *mapping, uint32_t node, uint64_t address)
{
	const struct stack_tree *stacks = &mapping->process->process->stacks;

	return node != STACK_ROOT &&
	       address - stacks->locations.items[stacks->nodes.items[node].location].pc <
		       INSTRUCTION_MAX;
}

static struct data_place find_place(struct mapping *mapping, uint32_t node, uint64_t address,
				    uint64_t time_ns, bool after)
{
	uint32_t code;
	struct data_access access = access_of(mapping, node, after, &code);
	struct place data = {0};
	struct memory memory;
	bool in_data = place_spans_find(mapping->map->session, &mapping->data, address,
					&data.object, &data.address);

	if (!after && is_fetch(mapping, node, address))
		return only(data_of_reason(DATA_FETCH));
	if (in_data)
		return place_in_data(mapping, data.object,
				     exact_address(&access, &data, code, after),
				     access.kind == ACCESS_UNKNOWN ? 0 : access.size);
	return memory_at(mapping, address, time_ns, &memory)
		       ? place_in_block(mapping, &access, code, address, after, &memory)
		       : place_by_code(mapping, &access, code, address, after);
}

/* ---- all events ---- */

static uint32_t place_of_event(struct mapping *mapping, const struct experiment_trace *trace,
			       size_t row)
{
	uint64_t number = trace_field(trace, COUNTER_NUMBER, row);
	uint64_t address = trace_field(trace, COUNTER_ADDRESS, row);
	uint32_t node = trace_stack(trace, row);
	struct data_map *map = mapping->map;
	bool after;

	if (number >= COUNTERS_MAX || !mapping->has_address[number])
		return DATA_NONE;
	if (!address)
		return add_place(map, only(data_of_reason(DATA_NO_ADDRESS)));
	after = mapping->is_watch[number];
	mapping->has_skidded = mapping->skids[number];
	if (mapping->blocks.count || mapping->mappings.pieces.count)
		return add_place(map,
				 find_place(mapping, node, address, trace_time(trace, row), after));

	uint64_t key = hash_u64(address) ^
		       hash_u64((uint64_t)node << 2 | mapping->has_skidded << 1 | after);
	uint32_t known = hash_map_get(&mapping->known, key);

	if (known == HASH_NONE)
		known = hash_map_put(&mapping->known, key,
				     add_place(map, find_place(mapping, node, address,
							       trace_time(trace, row), after)));
	return known;
}

static void read_counters(struct mapping *mapping)
{
	const struct experiment_log *log = &mapping->experiment->processes.items[0].log;

	for (size_t i = 0; i < log->hwcounters.count; i++) {
		const struct log_counter *counter = &log->hwcounters.items[i];

		if (counter->number >= COUNTERS_MAX)
			continue;
		mapping->has_address[counter->number] = counter->has_address;
		mapping->is_watch[counter->number] = attribution_is_watch(counter->name);
		mapping->skids[counter->number] = attribution_skids(counter);
	}
}

static uint32_t *map_process(struct data_map *map, const struct session_process *process)
{
	const struct experiment_trace *trace = &process->process->traces[TRACE_COUNTER];
	uint32_t *places = xmalloc((trace->rows.count + 1) * sizeof(*places));
	struct mapping mapping = {
		.map = map,
		.experiment = map->session->experiments.items[process->experiment],
		.process = process,
	};

	read_counters(&mapping);
	if (trace->rows.count) {
		block_index_build(&mapping.blocks, process->process);
		mapping_index_build(&mapping.mappings, process->process);
		place_spans_read(map->session, mapping.experiment, process->process, &mapping.data);
	}
	for (size_t i = 0; i < trace->rows.count; i++)
		places[i] = place_of_event(&mapping, trace, i);
	block_index_fini(&mapping.blocks);
	mapping_index_fini(&mapping.mappings);
	hash_map_fini(&mapping.known);
	vec_fini(&mapping.data);
	return places;
}

struct data_map *data_map_of(struct session *session)
{
	struct data_map *map = session->data;

	if (map)
		return map;
	session->data = map = xcalloc(1, sizeof(*map));
	map->session = session;
	data_describe_first(map);
	for (size_t i = 0; i < session->scanned.count; i++) {
		uint32_t *places = map_process(map, &session->scanned.items[i]);

		*vec_push(&map->processes) = places;
	}
	data_describe_last(map);
	session_note_doubts(session);
	return map;
}

void data_map_fini(struct session *session)
{
	struct data_map *map = session->data;

	if (!map)
		return;
	for (size_t i = 0; i < map->processes.count; i++)
		free(map->processes.items[i]);
	vec_fini(&map->processes);
	for (size_t i = 0; i < map->trackers.count; i++)
		data_tracker_free(map->trackers.items[i]);
	vec_fini(&map->trackers);
	vec_fini(&map->objects);
	string_table_fini(&map->keys);
	vec_fini(&map->places);
	hash_map_fini(&map->place_ids);
	free(map);
	session->data = NULL;
}

void data_place_each(const struct data_map *map, uint32_t place,
		     void (*visit)(uint32_t object, void *arg), void *arg)
{
	const struct data_place *at = &map->places.items[place];

	for (uint32_t object = at->leaf; object != DATA_NONE;
	     object = map->objects.items[object].parent)
		visit(object, arg);
	if (map->objects.items[at->leaf].kind == DATA_OBJECT_SCALAR)
		visit(DATA_SCALARS, arg);
	if (at->variable != DATA_NONE)
		visit(at->variable, arg);
	if (at->block != DATA_NONE)
		visit(at->block, arg);
	visit(DATA_TOTAL, arg);
}
