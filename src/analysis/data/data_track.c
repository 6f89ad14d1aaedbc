/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One answer per instruction, kept.  The places of variables at the instruction itself come
 * first, since compilers wrote them down; then what the registers were found to hold.  An
 * offset outside the type, without a sign that the pointer goes along an array, is no answer: what
 * lies behind a header is not the header.
 */
#include "analysis/data/data_track.h"

#include "analysis/data/data_flow.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/search.h"
#include "object/object.h"

#include <stdlib.h>

struct data_tracker {
	struct object *object;
	struct variables *variables;
	struct hash_map flow_by_entry; /* function → flow */
	VEC(struct flow *) flows;
	/* address → answer: by whether `after`, then by argument */
	struct hash_map known[2 + DATA_ARGUMENTS];
	VEC(struct data_access) answers;
};

struct data_tracker *data_tracker_new(struct object *object)
{
	struct data_tracker *tracker = xcalloc(1, sizeof(*tracker));

	tracker->object = object;
	tracker->variables = object_variables(object);
	return tracker;
}

void data_tracker_free(struct data_tracker *tracker)
{
	if (!tracker)
		return;
	for (size_t i = 0; i < tracker->flows.count; i++)
		flow_free(tracker->flows.items[i]);
	vec_fini(&tracker->flows);
	vec_fini(&tracker->answers);
	hash_map_fini(&tracker->flow_by_entry);
	for (size_t i = 0; i < COUNT(tracker->known); i++)
		hash_map_fini(&tracker->known[i]);
	free(tracker);
}

static struct data_access unknown(enum data_reason reason)
{
	return (struct data_access){.kind = ACCESS_UNKNOWN, .reason = reason, .type = TYPE_NONE};
}

static struct flow *flow_of(struct data_tracker *tracker, const struct data_function *function)
{
	uint32_t fresh = (uint32_t)tracker->flows.count;
	uint32_t known =
		hash_map_put(&tracker->flow_by_entry, (uint64_t)(uintptr_t)function, fresh);

	if (known == fresh)
		*vec_push(&tracker->flows) = flow_new(tracker->object, function);
	return tracker->flows.items[known];
}

/* ---- which instruction it was ---- */

static bool transfers_control(enum isa_kind kind)
{
	return kind != ISA_OTHER;
}

/*
 * The instruction before a stop.  Jumps access no memory, so whatever led to its end is what lies
 * in front of it, unless that is a call, or the end is where a function begins.
 */
static size_t step_before(const struct flow *flow, size_t step, enum data_reason *reason)
{
	const struct flow_step *steps = flow->steps.items;
	bool has_before =
		step && steps[step - 1].address + steps[step - 1].length == steps[step].address;

	*reason = DATA_UNRESOLVABLE;
	/* a repeated string instruction stops at its own beginning */
	if (steps[step].access.count && steps[step].access.memory[0].is_run) {
		if (!has_before || !steps[step - 1].access.count)
			return step;
		*reason = DATA_UNVERIFIABLE;
		return SIZE_MAX;
	}
	if (!has_before || steps[step].address == flow->function->entry ||
	    transfers_control(steps[step - 1].kind))
		return SIZE_MAX;
	if (!steps[step - 1].access.count && flow->blocks.items[flow->block_of[step]].is_target)
		return SIZE_MAX;
	return step - 1;
}

/* ---- what it accesses ---- */

/* At an offset of a variable, or, where that is not known, somewhere in it. */
static struct data_access of_variable(struct data_tracker *tracker, const struct variable *variable,
				      int64_t offset, bool is_somewhere)
{
	uint64_t size = flow_size(tracker->variables, variable->type);

	if (variable->type == TYPE_NONE)
		return unknown(DATA_UNIDENTIFIED);
	is_somewhere |=
		!size && variables_type(tracker->variables, variable->type)->kind == DATA_ARRAY;
	if (!is_somewhere && (offset < 0 || (uint64_t)offset >= size))
		return unknown(DATA_OUTSIDE);
	return (struct data_access){.kind = ACCESS_VARIABLE,
				    .is_run = is_somewhere,
				    .variable = variable,
				    .type = variable->type,
				    .offset = offset};
}

/* A number or pointer as large as the access has its like around it: p[3]. */
static bool is_element(const struct data_type *type, int64_t offset, uint16_t size)
{
	return (type->kind == DATA_SCALAR || type->kind == DATA_POINTER) && type->size == size &&
	       offset % (int64_t)size == 0;
}

static struct data_access of_pointer(struct data_tracker *tracker, struct flow_value value,
				     const struct isa_memory *memory)
{
	uint64_t size = flow_size(tracker->variables, value.type);

	if (!size)
		return unknown(DATA_UNIDENTIFIED);
	if (is_element(variables_type(tracker->variables, value.type), value.offset, memory->size))
		value.offset = 0;
	if (value.offset < 0 || (uint64_t)value.offset >= size)
		return unknown(DATA_OUTSIDE);
	return (struct data_access){.kind = ACCESS_TYPE,
				    .is_anywhere = memory->index != ISA_NO_REGISTER,
				    .type = value.type,
				    .offset = value.offset};
}

/* How much a register's place tells: a variable that lies there, an aggregate, anything. */
static unsigned rank_of(struct data_tracker *tracker, const struct variable_place *place)
{
	const struct data_type *type;

	if (place->variable->type == TYPE_NONE)
		return 0;
	if (place->kind == PLACE_MEMORY)
		return 3;
	type = variables_type(tracker->variables, place->variable->type);
	if (place->kind != PLACE_VALUE || type->kind != DATA_POINTER || type->target == TYPE_NONE)
		return 0;
	type = variables_type(tracker->variables, type->target);
	return type->kind == DATA_AGGREGATE ? 2 : type->size > 0;
}

/* The place at an instruction that tells most about a register, or NULL. */
static const struct variable_place *place_at(struct data_tracker *tracker, const struct flow *flow,
					     uint64_t pc, const struct isa_memory *memory)
{
	const struct data_function *function = flow->function;
	const struct variable_place *best = NULL;
	unsigned best_rank = 0;

	for (size_t i = 0; i < function->places.count; i++) {
		const struct variable_place *place = &function->places.items[i];
		int64_t offset = memory->displacement - place->offset;
		unsigned rank;

		if (place->start > pc)
			break;
		if (pc >= place->end || place->kind == PLACE_FRAME || place->is_reference ||
		    place->reg != memory->base)
			continue;
		rank = rank_of(tracker, place);
		if (rank == 3 && memory->index == ISA_NO_REGISTER &&
		    (offset < 0 ||
		     (uint64_t)offset >=
			     variables_type(tracker->variables, place->variable->type)->size))
			continue;
		if (rank > best_rank) {
			best = place;
			best_rank = rank;
		}
	}
	return best;
}

/* What a place says about its register. */
static struct flow_value value_of_place(struct data_tracker *tracker,
					const struct variable_place *place)
{
	if (place->kind == PLACE_VALUE)
		return flow_pointer_of(tracker->variables, place->variable->type, -place->offset);
	return flow_into(tracker->variables, place->variable, -place->offset);
}

/* What is known at a step: the state, with what was written down about the operand's base. */
static struct flow_state state_at(struct data_tracker *tracker, const struct flow *flow,
				  size_t step, const struct isa_memory *memory)
{
	uint64_t pc = flow->steps.items[step].address;
	struct flow_state state = flow_before(flow, step);
	const struct variable_place *place = NULL;
	uint8_t reg;
	int64_t offset;

	if (variables_frame_at(tracker->variables, pc, &reg, &offset) && reg < ISA_REGISTERS)
		state.registers[reg] = flow_value(FLOW_FRAME, -offset);
	if (memory->base != ISA_NO_REGISTER)
		place = place_at(tracker, flow, pc, memory);
	if (place)
		state.registers[memory->base] = value_of_place(tracker, place);
	return state;
}

static struct data_access of_value(struct data_tracker *tracker, const struct flow *flow,
				   const struct flow_state *state, uint64_t pc,
				   struct flow_value value, const struct isa_memory *memory)
{
	const struct variable *variable;

	if (value.kind == FLOW_POINTER && value.variable)
		return of_variable(tracker, value.variable, value.offset, false);
	if (value.kind == FLOW_POINTER)
		return of_pointer(tracker, value, memory);
	variable = flow_variable(flow, state, pc, &value);
	return variable ? of_variable(tracker, variable, value.offset, false)
			: unknown(DATA_NO_VARIABLE);
}

/* With an index that says nothing: somewhere in the variable, if it is one. */
static struct data_access of_base(struct data_tracker *tracker, const struct flow *flow,
				  const struct flow_state *state, uint64_t pc,
				  struct flow_value value)
{
	const struct variable *variable = value.kind == FLOW_POINTER
						  ? value.variable
						  : flow_variable(flow, state, pc, &value);

	if (variable)
		return of_variable(tracker, variable, 0, true);
	return unknown(value.kind == FLOW_POINTER ? DATA_OUTSIDE : DATA_NO_VARIABLE);
}

static struct data_access of_memory(struct data_tracker *tracker, const struct flow *flow,
				    size_t step, const struct isa_memory *memory)
{
	uint64_t pc = flow->steps.items[step].address, factor;
	struct flow_value base, value;
	struct flow_state state;

	if (memory->is_stack)
		return unknown(DATA_UNSPECIFIED);
	state = state_at(tracker, flow, step, memory);
	base = flow_address(flow, &state, memory, &factor);
	if (base.kind == FLOW_STATIC)
		return (struct data_access){.kind = ACCESS_STATIC,
					    .is_exact = factor == FLOW_NO_INDEX,
					    .address = (uint64_t)base.offset,
					    .type = TYPE_NONE};
	if (!flow_is_address(base))
		return unknown(DATA_NO_VARIABLE);
	if (factor == FLOW_NO_INDEX)
		return of_value(tracker, flow, &state, pc, base, memory);
	value = flow_of_memory(flow, &state, pc, memory);
	return value.kind == FLOW_POINTER ? of_value(tracker, flow, &state, pc, value, memory)
					  : of_base(tracker, flow, &state, pc, base);
}

/* Of two accesses of one instruction only one is known to be the event's, if they are alike. */
static struct data_access of_step(struct data_tracker *tracker, const struct flow *flow,
				  size_t step)
{
	const struct isa_access *what = &flow->steps.items[step].access;
	struct data_access access, other;

	if (!flow->steps.items[step].is_known)
		return unknown(DATA_UNVERIFIABLE);
	if (!what->count)
		return unknown(DATA_UNSPECIFIED);
	access = of_memory(tracker, flow, step, &what->memory[0]);
	access.size = what->memory[0].size;
	access.is_run = what->memory[0].is_run;
	if (what->count == 1)
		return access;
	if (what->memory[0].is_stack != what->memory[1].is_stack) {
		/* push and pop of memory: the stack is not what people ask about */
		const struct isa_memory *memory = &what->memory[what->memory[0].is_stack];

		access = of_memory(tracker, flow, step, memory);
		access.size = memory->size;
		return access;
	}
	other = of_memory(tracker, flow, step, &what->memory[1]);
	return access.kind == other.kind && access.type == other.type &&
			       access.variable == other.variable
		       ? access
		       : unknown(DATA_UNVERIFIABLE);
}

static struct data_access find(struct data_tracker *tracker, uint64_t address, bool after)
{
	const struct data_function *function;
	enum data_reason reason;
	struct flow *flow;
	size_t step;

	if (!variables_present(tracker->variables))
		return unknown(DATA_NO_DEBUG);
	function = variables_function_at(tracker->variables, address);
	if (!function)
		return unknown(DATA_NO_DEBUG);
	flow = flow_of(tracker, function);
	step = flow_find(flow, address);
	if (step == SIZE_MAX)
		return unknown(DATA_UNVERIFIABLE);
	if (after) {
		step = step_before(flow, step, &reason);
		if (step == SIZE_MAX)
			return unknown(reason);
	}
	return of_step(tracker, flow, step);
}

/* ---- arguments ---- */

static bool is_call_at(const struct flow *flow, size_t step, uint64_t address)
{
	const struct flow_step *at = &flow->steps.items[step];

	return at->kind == ISA_CALL && address - at->address <= at->length;
}

/* The call that holds an address, or ends there; SIZE_MAX: there is none. */
static size_t find_call(const struct flow *flow, uint64_t address)
{
	size_t up_to = VEC_UP_TO(&flow->steps, address, address);

	for (size_t i = 1; i <= 2 && i <= up_to; i++)
		if (is_call_at(flow, up_to - i, address))
			return up_to - i;
	return SIZE_MAX;
}

static struct data_access find_argument(struct data_tracker *tracker, uint64_t address,
					enum data_argument argument)
{
	static const uint8_t registers[DATA_ARGUMENTS] = {
		[ARGUMENT_FIRST] = 5, [ARGUMENT_SECOND] = 4}; /* rdi, rsi */
	const struct isa_memory memory = {.base = registers[argument], .index = ISA_NO_REGISTER};
	const struct data_function *function = variables_function_at(tracker->variables, address);
	struct flow *flow = function ? flow_of(tracker, function) : NULL;
	size_t call = flow ? find_call(flow, address) : SIZE_MAX;
	struct flow_state state;
	struct flow_value value;

	if (call == SIZE_MAX)
		return unknown(DATA_NO_VARIABLE);
	state = state_at(tracker, flow, call, &memory);
	value = state.registers[memory.base];
	if (value.kind != FLOW_POINTER || value.variable)
		return of_base(tracker, flow, &state, flow->steps.items[call].address, value);
	if (!flow_size(tracker->variables, value.type))
		return unknown(DATA_UNIDENTIFIED);
	return (struct data_access){.kind = ACCESS_TYPE, .is_run = true, .type = value.type};
}

static struct data_access keep(struct data_tracker *tracker, struct hash_map *known,
			       uint64_t address, struct data_access access)
{
	hash_map_put(known, address, (uint32_t)tracker->answers.count);
	*vec_push(&tracker->answers) = access;
	return access;
}

struct data_access data_track(struct data_tracker *tracker, uint64_t address, bool after)
{
	struct hash_map *known = &tracker->known[after];
	uint32_t answer = hash_map_get(known, address);

	return answer != HASH_NONE ? tracker->answers.items[answer]
				   : keep(tracker, known, address, find(tracker, address, after));
}

struct data_access data_track_argument(struct data_tracker *tracker, uint64_t address,
				       enum data_argument argument)
{
	struct hash_map *known = &tracker->known[2 + argument];
	uint32_t answer = hash_map_get(known, address);

	return answer != HASH_NONE
		       ? tracker->answers.items[answer]
		       : keep(tracker, known, address, find_argument(tracker, address, argument));
}

void data_track_direction(const struct data_tracker *tracker, uint64_t address, bool *reads,
			  bool *writes)
{
	uint8_t code[16];
	size_t size = object_code(tracker->object, address, code, sizeof(code));
	struct isa *isa = size ? isa_new(object_machine(tracker->object)) : NULL;
	struct isa_instruction instruction;
	struct isa_access access = {0};

	*reads = *writes = false;
	if (!isa)
		return;
	if (isa_access(isa, code, size, address, &instruction, &access))
		for (size_t i = 0; i < access.count; i++)
			*(access.memory[i].is_written ? writes : reads) = true;
	isa_free(isa);
}
