/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each location is looked at once.  An event that counts for another location than its own is given
 * another stack node, a sibling of its own: all sums are made per node, so that all views agree.
 */
#include "analysis/code/attribution.h"

#include "analysis/code/code.h"
#include "analysis/code/skid.h"
#include "analysis/data/data_address.h"
#include "analysis/session/functions.h"
#include "analysis/session/symbols.h"
#include "base/path.h"
#include "format/counter.h"
#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

/* How the location that an event counts for follows from its own. */
enum rule {
	RULE_KERNEL,	    /* the call of the kernel */
	RULE_KERNEL_OR_NOT, /* the same, if the location itself accesses no memory */
	RULE_WATCH,	    /* the instruction in front of it, if that accesses memory */
	RULE_SKID,	    /* the last instruction before it that accesses memory */
	RULES,
	RULE_NONE = RULES,
};

/* States in which the program is not running its own code. */
static const uint32_t kernel_states =
	1u << FORMAT_STATE_SYSTEM | 1u << FORMAT_STATE_TRAP | 1u << FORMAT_STATE_TEXT_FAULT |
	1u << FORMAT_STATE_DATA_FAULT | 1u << FORMAT_STATE_KERNEL_FAULT |
	1u << FORMAT_STATE_USER_LOCK | 1u << FORMAT_STATE_SLEEP | 1u << FORMAT_STATE_WAIT_CPU |
	1u << FORMAT_STATE_STOPPED;

struct attribution {
	struct session *session;
	const struct experiment *experiment;
	struct process *process;
	enum rule counters[COUNTERS_MAX]; /* by number */
	size_t nodes;			  /* before any was added */
	uint32_t *node_of[RULES];	  /* by node, NODE_NONE: not asked for yet; or NULL */
	struct hash_map location_of[RULES];
	struct hash_map node_ids; /* parent << 32 | location of nodes that were added → node */
	struct hash_map code_ids; /* function → code */
	VEC(struct skid_code *) code; /* NULL: it cannot be read */
};

#define WATCH_PREFIX "mem~"

bool attribution_is_watch(const char *counter)
{
	return !strncmp(counter, WATCH_PREFIX, strlen(WATCH_PREFIX)) &&
	       !path_ends_with(counter, "~x");
}

/* Without the attributes behind its name. */
static bool is_fault(const char *counter)
{
	static const char end[] = "-faults";
	size_t length = strcspn(counter, "~"), tail = sizeof(end) - 1;

	return length > tail && !strncmp(counter + length - tail, end, tail);
}

static enum rule rule_of(const struct log_counter *counter)
{
	if (attribution_is_watch(counter->name))
		return RULE_WATCH;
	if (!counter->has_address)
		return RULE_KERNEL;
	if (!strncmp(counter->name, WATCH_PREFIX, strlen(WATCH_PREFIX)))
		return RULE_NONE; /* of execution: it stops at the instruction itself */
	return is_fault(counter->name) ? RULE_KERNEL_OR_NOT : RULE_SKID;
}

bool attribution_skids(const struct log_counter *counter)
{
	return rule_of(counter) == RULE_SKID;
}

/* ---- locations ---- */

static uint32_t add_location(struct attribution *attribution, struct stack_location location)
{
	struct stack_tree *stacks = &attribution->process->stacks;

	*vec_push(&stacks->locations) = location;
	return (uint32_t)stacks->locations.count - 1;
}

static bool accesses_memory(struct object *object, uint64_t address)
{
	uint8_t bytes[16];
	size_t size = object_code(object, address, bytes, sizeof(bytes));
	struct isa *isa = size ? isa_new(object_machine(object)) : NULL;
	struct isa_instruction instruction;
	struct isa_access access;
	bool answer =
		isa && isa_access(isa, bytes, size, address, &instruction, &access) && access.count;

	if (isa)
		isa_free(isa);
	return answer;
}

/* The load object's file that has the code of a location, or NULL; *address is in it. */
static struct object *object_of(const struct attribution *attribution, uint32_t location,
				uint64_t *address)
{
	const struct experiment_map *map = &attribution->process->map;
	const struct stack_location *at = &attribution->process->stacks.locations.items[location];
	uint32_t found = experiment_map_find(map, at->pc, at->epoch);
	uint32_t file = found == MAP_NONE ? MAP_NONE : map->segments.items[found].file;

	if (file == MAP_NONE)
		return NULL;
	*address = at->pc - map->segments.items[found].bias;
	return symbols_object(attribution->session,
			      symbols_place_object(attribution->session, attribution->experiment,
						   &map->files.items[file]));
}

/* The call of the kernel that a location stands behind, or the location. */
static uint32_t find_kernel_call(struct attribution *attribution, uint32_t location, bool or_not)
{
	const struct stack_location at = attribution->process->stacks.locations.items[location];
	uint64_t address = 0;
	struct object *object = object_of(attribution, location, &address);
	unsigned size = object ? isa_system_call_size(object_machine(object)) : 0;
	uint8_t bytes[4];

	if (!size || size > sizeof(bytes) || address < size ||
	    object_code(object, address - size, bytes, size) != size ||
	    !isa_is_system_call(object_machine(object), bytes) ||
	    (or_not && accesses_memory(object, address)))
		return location;
	return add_location(attribution,
			    (struct stack_location){.pc = at.pc - 1, .epoch = at.epoch});
}

static struct skid_code *read_code(struct attribution *attribution, uint32_t function)
{
	struct session *session = attribution->session;
	const struct function *entry = &session->functions.items[function];
	struct arena arena = {0};
	struct isa *isa = code_isa(session, function, &arena);
	uint64_t size;
	const uint8_t *bytes = isa ? code_bytes(session, function, &arena, &size) : NULL;
	struct skid_code *code = bytes ? skid_code_new(isa, bytes, size, entry->address) : NULL;

	if (isa)
		isa_free(isa);
	arena_fini(&arena);
	return code;
}

static const struct skid_code *code_of_function(struct attribution *attribution, uint32_t function)
{
	uint32_t fresh = (uint32_t)attribution->code.count;
	uint32_t known = hash_map_put(&attribution->code_ids, function, fresh);

	if (known == fresh) {
		struct skid_code *code = read_code(attribution, function);

		*vec_push(&attribution->code) = code;
	}
	return attribution->code.items[known];
}

static uint32_t find_trigger(struct attribution *attribution, uint32_t location, bool is_exact)
{
	struct stack_location at = attribution->process->stacks.locations.items[location];
	uint32_t object;
	uint64_t from, address;
	uint32_t function = symbols_place(attribution->session, attribution->experiment,
					  attribution->process, location, &object, &from);
	const struct skid_code *code =
		function >= FUNCTION_FIRST_REAL ? code_of_function(attribution, function) : NULL;
	enum skid_result result;

	address = from;
	result = code ? skid_find(code, is_exact, &address) : TRIGGER_UNKNOWN;
	if (result == TRIGGER_UNKNOWN)
		return location;
	at.pc -= from - address;
	at.is_trigger = result == TRIGGER_FOUND;
	at.is_target = result == TRIGGER_TARGET;
	return add_location(attribution, at);
}

static uint32_t location_of(struct attribution *attribution, enum rule rule, uint32_t location)
{
	struct hash_map *known = &attribution->location_of[rule];
	uint32_t found = hash_map_get(known, location);

	if (found != HASH_NONE)
		return found;
	if (attribution->process->stacks.locations.items[location].pc < FORMAT_PC_LIMIT)
		found = location;
	else if (rule == RULE_KERNEL || rule == RULE_KERNEL_OR_NOT)
		found = find_kernel_call(attribution, location, rule == RULE_KERNEL_OR_NOT);
	else
		found = find_trigger(attribution, location, rule == RULE_WATCH);
	return hash_map_put(known, location, found);
}

/* ---- nodes ---- */

static uint32_t find_node(struct attribution *attribution, enum rule rule, uint32_t node)
{
	struct stack_tree *stacks = &attribution->process->stacks;
	struct stack_node moved = stacks->nodes.items[node];
	uint32_t location = moved.location, fresh = (uint32_t)stacks->nodes.count, known;

	if (node == STACK_ROOT)
		return node;
	moved.location = location_of(attribution, rule, location);
	if (moved.location == location)
		return node;
	known = hash_map_put(&attribution->node_ids, (uint64_t)moved.parent << 32 | moved.location,
			     fresh);
	if (known == fresh)
		*vec_push(&stacks->nodes) = moved;
	return known;
}

static uint32_t *nodes_of(struct attribution *attribution, enum rule rule)
{
	size_t size = attribution->nodes * sizeof(uint32_t);

	if (!attribution->node_of[rule])
		attribution->node_of[rule] = memset(xmalloc(size), 0xff, size);
	return attribution->node_of[rule];
}

/* Whether it goes to another one. */
static bool attribution_row(struct attribution *attribution, enum rule rule, uint32_t *node_of,
			    uint64_t *node)
{
	uint32_t to = node_of[*node];
	bool moves;

	if (to == NODE_NONE)
		to = node_of[*node] = find_node(attribution, rule, (uint32_t)*node);
	moves = to != *node;
	*node = to;
	return moves;
}

static bool attribution_clock(uint64_t *nodes, size_t first, size_t count, void *arg)
{
	struct attribution *attribution = arg;
	uint32_t *node_of = nodes_of(attribution, RULE_KERNEL);
	uint64_t states[ROWS_PAGE];
	uint32_t chosen[ROWS_PAGE];
	size_t chosen_count = 0;
	bool moved = false;

	rows_read(&attribution->process->profile.rows, ROW_TYPE, first, count, states);
	for (size_t i = 0; i < count; i++) { /* no branch: which they are is not predictable */
		chosen[chosen_count] = (uint32_t)i;
		chosen_count += kernel_states >> states[i] & 1;
	}
	for (size_t i = 0; i < chosen_count; i++)
		moved |= attribution_row(attribution, RULE_KERNEL, node_of, &nodes[chosen[i]]);
	return moved;
}

static bool attribution_counters(uint64_t *nodes, size_t first, size_t count, void *arg)
{
	struct attribution *attribution = arg;
	const struct experiment_trace *trace = &attribution->process->traces[TRACE_COUNTER];
	bool moved = false;

	for (size_t i = 0; i < count; i++) {
		uint64_t number = trace_field(trace, COUNTER_NUMBER, first + i);
		enum rule rule = number < COUNTERS_MAX ? attribution->counters[number] : RULE_NONE;

		if (rule != RULE_NONE && trace_type(trace, first + i) == COUNTER_OVERFLOW)
			moved |= attribution_row(attribution, rule, nodes_of(attribution, rule),
						 &nodes[i]);
	}
	return moved;
}

static void find_rules(struct attribution *attribution)
{
	const struct experiment_log *log = &attribution->experiment->processes.items[0].log;

	for (size_t i = 0; i < COUNTERS_MAX; i++)
		attribution->counters[i] = RULE_NONE;
	for (size_t i = 0; i < log->hwcounters.count; i++)
		if (log->hwcounters.items[i].number < COUNTERS_MAX)
			attribution->counters[log->hwcounters.items[i].number] =
				rule_of(&log->hwcounters.items[i]);
}

void attribution_events(struct session *session, const struct experiment *experiment,
			struct process *process)
{
	struct attribution attribution = {.session = session,
					  .experiment = experiment,
					  .process = process,
					  .nodes = process->stacks.nodes.count};

	if (process->log.is_gprofng)
		return;
	for (size_t i = 0; i < process->map.files.count; i++) /* in the order of the map */
		symbols_place_object(session, experiment, &process->map.files.items[i]);
	find_rules(&attribution);
	rows_map(&process->profile.rows, ROW_STACK, attribution_clock, &attribution);
	rows_map(&process->traces[TRACE_COUNTER].rows, ROW_STACK, attribution_counters,
		 &attribution);
	for (size_t rule = 0; rule < RULES; rule++) {
		free(attribution.node_of[rule]);
		hash_map_fini(&attribution.location_of[rule]);
	}
	for (size_t i = 0; i < attribution.code.count; i++)
		skid_code_free(attribution.code.items[i]);
	vec_fini(&attribution.code);
	hash_map_fini(&attribution.code_ids);
	hash_map_fini(&attribution.node_ids);
}
