/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function is cut into basic blocks; the state at the beginning of a block is what all ways
 * into it agree on.  Places of variables are evidence of their own: where one begins to
 * hold, its type replaces what was known.  Blocks that no jump names (cases of a switch) are
 * entered with what all indirect jumps have in common; blocks that flow_nothing leads to (handlers
 * of exceptions) with what the frame's description and variables say.
 *
 * A pointer that a loop moves by whole elements arrives with two offsets: it is known
 * from then on to go along an array.
 */
#include "analysis/data/data_flow.h"

#include "base/array.h"
#include "base/search.h"
#include "object/object.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	CODE_MAX = 8 << 20, /* bytes of a function */
	/* rax, rdx, rcx, rsi, rdi, r8 to r11: a call may change them */
	CALL_CHANGES = 0x0f37,
	RESULT_REGISTER = 0,
	FIRST_ARGUMENT = 5,
	FRAME_POINTER = 6,
	FIRST_FRAME = -8, /* the stack pointer at a function's beginning */
	ADDRESS_MIN = 4096,
};

/* ---- variables ---- */

/* Where a variable on the stack begins, from the canonical address. False: not known. */
static bool stack_offset(const struct flow_state *state, const struct variable_place *place,
			 int64_t *offset)
{
	*offset = place->offset;
	if (place->kind == PLACE_FRAME)
		return true;
	if (state->registers[place->reg].kind != FLOW_FRAME)
		return false;
	*offset += state->registers[place->reg].offset;
	return true;
}

static const struct variable *on_stack(const struct flow *flow, const struct flow_state *state,
				       uint64_t pc, int64_t *offset)
{
	const struct variable *found = NULL;
	int64_t begin, last = INT64_MIN;

	for (size_t i = 0; i < flow->on_stack.count; i++) {
		const struct variable_place *place = flow->on_stack.items[i];

		if (place->start > pc)
			break;
		if (pc >= place->end || !stack_offset(state, place, &begin) || *offset < begin ||
		    begin < last ||
		    (uint64_t)(*offset - begin) >=
			    flow_size(flow->variables, place->variable->type))
			continue;
		found = place->variable;
		last = begin;
	}
	if (found)
		*offset -= last;
	return found;
}

const struct variable *flow_variable(const struct flow *flow, const struct flow_state *state,
				     uint64_t pc, struct flow_value *value)
{
	const struct variable *variable = NULL;
	uint64_t begin = 0;

	switch (value->kind) {
	case FLOW_FRAME:
		return on_stack(flow, state, pc, &value->offset);
	case FLOW_STATIC:
		variable = variables_at(flow->variables, (uint64_t)value->offset);
		break;
	case FLOW_THREAD:
		variable = variables_of_thread_at(flow->variables, value->offset);
		begin = variables_thread_block(flow->variables);
		break;
	case FLOW_POINTER:
	case FLOW_DISTANCE:
	case FLOW_MULTIPLE:
	case FLOW_NONE:
		break;
	}
	if (variable)
		value->offset = (int64_t)((uint64_t)value->offset + begin - variable->address);
	return variable;
}

static bool is_frame_register(uint8_t reg)
{
	return reg == ISA_STACK_POINTER || reg == FRAME_POINTER;
}

/* Sorts out places: those that tell what a register points to, and those on the stack. */
static void read_places(struct flow *flow)
{
	const struct data_function *function = flow->function;

	for (size_t i = 0; i < function->places.count; i++) {
		const struct variable_place *place = &function->places.items[i];
		struct flow_value value = flow_nothing;

		if (place->kind == PLACE_FRAME ||
		    (place->kind == PLACE_MEMORY && is_frame_register(place->reg))) {
			*(place->is_reference ? vec_push(&flow->references)
					      : vec_push(&flow->on_stack)) = place;
			continue;
		}
		if (place->reg >= ISA_REGISTERS || place->is_reference)
			continue;
		if (place->kind == PLACE_VALUE)
			value = flow_pointer_of(flow->variables, place->variable->type,
						-place->offset);
		else if (place->kind == PLACE_MEMORY)
			value = flow_pointer(flow_plain(flow->variables, place->variable->type),
					     -place->offset);
		if (value.kind != FLOW_NONE)
			*vec_push(&flow->evidence) =
				(struct flow_evidence){place->start, place->end, value, place->reg};
	}
}

/* The registers of the stack frame are known better. */
static void apply_evidence(const struct flow_evidence *evidence, struct flow_state *state)
{
	struct flow_value *value = &state->registers[evidence->reg];

	if (value->kind != FLOW_FRAME)
		*value = evidence->value;
}

/* What places and the frame's description say at the beginning of a block. */
static void find_known(const struct flow *flow, struct flow_block *block)
{
	uint64_t pc = flow->steps.items[block->first].address;
	uint8_t reg;
	int64_t offset;

	for (size_t i = 0; i < ISA_REGISTERS; i++)
		block->known.registers[i] = flow_nothing;
	for (size_t i = 0; i < flow->evidence.count && flow->evidence.items[i].start <= pc; i++)
		if (pc < flow->evidence.items[i].end)
			apply_evidence(&flow->evidence.items[i], &block->known);
	if (variables_frame_at(flow->variables, pc, &reg, &offset) && reg < ISA_REGISTERS)
		block->known.registers[reg] = flow_value(FLOW_FRAME, -offset);
}

/* ---- steps ---- */

/*
 * An address to which something unknown was added, a multiple of `factor`: an element of an array,
 * if the array's elements are of such a size, or that many of them are.
 */
static struct flow_value indexed(const struct flow *flow, const struct flow_state *state,
				 uint64_t pc, struct flow_value value, uint64_t factor)
{
	struct variables *variables = flow->variables;
	const struct variable *variable;

	if (value.kind == FLOW_POINTER)
		return flow_indexed(variables, value, factor);
	variable = flow_variable(flow, state, pc, &value);
	if (!variable || variable->type == TYPE_NONE)
		return flow_nothing;
	if (variables_type(variables, variable->type)->kind == DATA_ARRAY)
		value = flow_pointer(flow_element(variables, variable->type), value.offset);
	else
		value = flow_pointer(flow_plain(variables, variable->type), value.offset);
	if (value.kind != FLOW_NONE)
		value.variable = variable;
	return flow_indexed(variables, value, factor);
}

/* What two ways agree on: perhaps that a pointer goes along an array. */
static struct flow_value merged(const struct flow *flow, const struct flow_state *state,
				uint64_t pc, struct flow_value a, struct flow_value b)
{
	if (flow_is_same(a, b))
		return a;
	if (a.kind == FLOW_MULTIPLE && b.kind == FLOW_MULTIPLE)
		return flow_multiple(flow_common(a, b, 1));
	if (!flow_is_address(a) || !flow_is_address(b))
		return flow_nothing;
	/* by how much they differ is known where it matters: see flow_indexed */
	a = indexed(flow, state, pc, a, 0);
	b = indexed(flow, state, pc, b, 0);
	return flow_is_same(a, b) ? a : flow_nothing;
}

static struct flow_value sum(const struct flow *flow, const struct flow_state *state, uint64_t pc,
			     struct flow_value a, struct flow_value b)
{
	bool has_a = flow_is_address(a), has_b = flow_is_address(b);

	if (a.kind == FLOW_DISTANCE && b.kind == FLOW_THREAD)
		return flow_shifted(flow->variables, b, a.offset);
	if (a.kind == FLOW_THREAD && b.kind == FLOW_DISTANCE)
		return flow_shifted(flow->variables, a, b.offset);
	if (has_a && has_b)
		return flow_nothing;
	if (!has_a && !has_b)
		return flow_multiple(flow_common(a, b, 1));
	return has_a ? indexed(flow, state, pc, a, flow_factor(b))
		     : indexed(flow, state, pc, b, flow_factor(a));
}

struct flow_value flow_address(const struct flow *flow, const struct flow_state *state,
			       const struct isa_memory *memory, uint64_t *factor)
{
	uint8_t base = memory->base, index = memory->index;
	const struct flow_value *registers = state->registers;
	bool has_fixed = memory->has_segment || base == ISA_NO_REGISTER;

	*factor = FLOW_NO_INDEX;
	if (memory->has_segment && base != ISA_NO_REGISTER && index == ISA_NO_REGISTER &&
	    registers[base].kind == FLOW_DISTANCE)
		return flow_value(FLOW_THREAD, registers[base].offset + memory->displacement);
	if (has_fixed) { /* perhaps an array there */
		if (base != ISA_NO_REGISTER || index != ISA_NO_REGISTER)
			*factor = index == ISA_NO_REGISTER
					  ? flow_factor(registers[base])
					  : flow_factor(registers[index]) * memory->scale;
		return flow_value(memory->has_segment ? FLOW_THREAD : FLOW_STATIC,
				  memory->displacement);
	}
	if (index != ISA_NO_REGISTER) {
		/* either register may be the one with the address */
		if (memory->scale == 1 && !flow_is_address(registers[base]) &&
		    flow_is_address(registers[index])) {
			base = index;
			index = memory->base;
		}
		*factor = flow_factor(registers[index]) * memory->scale;
	}
	return flow_shifted(flow->variables, registers[base], memory->displacement);
}

struct flow_value flow_of_memory(const struct flow *flow, const struct flow_state *state,
				 uint64_t pc, const struct isa_memory *memory)
{
	uint64_t factor;
	struct flow_value value = flow_address(flow, state, memory, &factor);

	return factor == FLOW_NO_INDEX ? value : indexed(flow, state, pc, value, factor);
}

/* The variable whose address lies at an offset of the frame, or NULL. */
static const struct variable *referred_at(const struct flow *flow, const struct flow_state *state,
					  uint64_t pc, int64_t offset)
{
	int64_t begin;

	for (size_t i = 0; i < flow->references.count; i++) {
		const struct variable_place *place = flow->references.items[i];

		if (pc >= place->start && pc < place->end && stack_offset(state, place, &begin) &&
		    begin == offset)
			return place->variable;
	}
	return NULL;
}

/* What a pointer at an address points to, by the type of what lies there. */
static struct flow_value content_of(const struct flow *flow, const struct flow_state *state,
				    uint64_t pc, struct flow_value at)
{
	struct variables *variables = flow->variables;
	const struct variable *variable;

	if (at.kind != FLOW_POINTER) {
		variable = flow_variable(flow, state, pc, &at);
		at = flow_pointer(variable ? variable->type : TYPE_NONE, at.offset);
	}
	return at.kind == FLOW_POINTER
		       ? flow_pointer_of(variables, flow_type_at(variables, at.type, at.offset), 0)
		       : flow_nothing;
}

static struct flow_value loaded(const struct flow *flow, uint64_t pc,
				const struct flow_state *state, const struct isa_memory *memory)
{
	struct variables *variables = flow->variables;
	struct flow_value at = flow_of_memory(flow, state, pc, memory);
	struct flow_value place = at;
	const struct variable *variable;
	int64_t displacement;

	if (at.kind == FLOW_STATIC && variables_thread_slot(variables, (uint64_t)at.offset,
							    &displacement) == THREAD_SLOT_DISTANCE)
		return flow_value(FLOW_DISTANCE, displacement);
	if (at.kind == FLOW_THREAD && !at.offset && memory->has_segment)
		return at; /* where a thread's block has its own address */
	if (at.kind == FLOW_FRAME && (variable = referred_at(flow, state, pc, at.offset)))
		return flow_into(flow->variables, variable, 0);
	if (at.kind == FLOW_FRAME && !flow_variable(flow, state, pc, &place))
		return flow_slot_read(&state->slots, at.offset);
	return content_of(flow, state, pc, at);
}

/* An address that is computed; or a number, which may be a multiple of something. */
static struct flow_value computed(const struct flow *flow, const struct flow_state *state,
				  uint64_t pc, const struct isa_memory *memory)
{
	const struct flow_value *registers = state->registers;
	bool has_base = memory->base != ISA_NO_REGISTER,
	     has_index = memory->index != ISA_NO_REGISTER;

	if ((!has_base && !has_index) || (has_base && flow_is_address(registers[memory->base])) ||
	    (has_index && flow_is_address(registers[memory->index])))
		return flow_of_memory(flow, state, pc, memory);
	if (!has_base && memory->displacement >= ADDRESS_MIN)
		return flow_of_memory(flow, state, pc, memory);
	return flow_sum_of_numbers(registers, memory);
}

/* What a move leaves in its register. */
static struct flow_value result_of(const struct flow *flow, const struct flow_step *step,
				   const struct flow_state *state)
{
	const struct isa_access *access = &step->access;
	const struct flow_value *registers = state->registers;

	switch (access->move) {
	case ISA_MOVE_COPY:
		return registers[access->from];
	case ISA_MOVE_CONSTANT:
		return access->constant >= ADDRESS_MIN
			       ? flow_value(FLOW_STATIC, access->constant)
			       : flow_multiple(flow_magnitude(access->constant));
	case ISA_MOVE_ADDRESS:
		return computed(flow, state, step->address, &access->memory[0]);
	case ISA_MOVE_LOAD:
		return loaded(flow, step->address, state, &access->memory[0]);
	case ISA_MOVE_ADD_CONSTANT:
		return flow_shifted(flow->variables, registers[access->to], access->constant);
	case ISA_MOVE_ADD:
		return sum(flow, state, step->address, registers[access->to],
			   registers[access->from]);
	case ISA_MOVE_ADD_LOAD:
		return sum(flow, state, step->address, registers[access->to],
			   loaded(flow, step->address, state, &access->memory[0]));
	case ISA_MOVE_MULTIPLY:
		return flow_is_address(registers[access->from])
			       ? flow_nothing
			       : flow_multiple(flow_factor(registers[access->from]) *
					       flow_magnitude(access->constant));
	case ISA_MOVE_CHOICE:
		return merged(flow, state, step->address, registers[access->to],
			      registers[access->from]);
	case ISA_MOVE_NONE:
	case ISA_MOVE_STORE:
		break;
	}
	return flow_nothing;
}

static uint32_t type_of_result(const struct flow *flow, const struct flow_step *step)
{
	const struct data_function *function = flow->function, *called;
	uint64_t after = step->address + step->length;
	size_t up_to = VEC_UP_TO(&function->results, return_address, after);

	if (up_to && function->results.items[up_to - 1].return_address == after)
		return function->results.items[up_to - 1].type;
	called = step->target ? variables_function_at(flow->variables, step->target) : NULL;
	return called && called->entry == step->target ? called->result : TYPE_NONE;
}

static void forget(struct flow_state *state, uint32_t changed)
{
	for (unsigned i = 0; i < ISA_REGISTERS; i++)
		if (changed >> i & 1)
			state->registers[i] = flow_nothing;
}

/* What an access of the frame leaves there. */
static void note_store(const struct flow *flow, const struct flow_step *step,
		       struct flow_state *state)
{
	const struct isa_access *access = &step->access;
	const struct isa_memory *memory = &access->memory[0];
	uint64_t factor;
	struct flow_value at = flow_address(flow, state, memory, &factor), place = at;
	struct flow_value value =
		access->move == ISA_MOVE_STORE ? state->registers[access->from] : flow_nothing;

	if (at.kind != FLOW_FRAME || factor != FLOW_NO_INDEX)
		return;
	if (flow_variable(flow, state, step->address, &place)) /* whose type is known better */
		value = flow_nothing;
	flow_slot_write(&state->slots, at.offset, memory->size, value);
}

/* What was allocated as anything is what it is stored as. */
static void learn_from_store(const struct flow *flow, const struct flow_step *step,
			     struct flow_state *state)
{
	struct flow_value *stored = &state->registers[step->access.from];

	if (stored->kind == FLOW_NONE)
		*stored = content_of(
			flow, state, step->address,
			flow_of_memory(flow, state, step->address, &step->access.memory[0]));
}

/* What a call returns that seeks a variable of the thread; nothing: it is another one. */
static struct flow_value called_for_thread(const struct flow *flow, const struct flow_state *state)
{
	static const struct {
		uint8_t reg;
		enum thread_slot_kind slot;
		enum flow_kind result;
	} ways[] = {
		{FIRST_ARGUMENT, THREAD_SLOT_PAIR, FLOW_THREAD},
		{RESULT_REGISTER, THREAD_SLOT_FUNCTION, FLOW_DISTANCE},
	};
	int64_t displacement;

	for (size_t i = 0; i < COUNT(ways); i++) {
		const struct flow_value *value = &state->registers[ways[i].reg];

		if (value->kind == FLOW_STATIC &&
		    variables_thread_slot(flow->variables, (uint64_t)value->offset,
					  &displacement) == ways[i].slot)
			return flow_value(ways[i].result, displacement);
	}
	return flow_nothing;
}

static void run_call(const struct flow *flow, const struct flow_step *step,
		     struct flow_state *state)
{
	struct flow_value result = called_for_thread(flow, state);

	if (result.kind == FLOW_NONE)
		result = flow_pointer_of(flow->variables, type_of_result(flow, step), 0);
	if (result.kind != FLOW_DISTANCE) /* such a function keeps all registers */
		forget(state, CALL_CHANGES);
	state->registers[RESULT_REGISTER] = result;
}

static void run_step(const struct flow *flow, const struct flow_step *step,
		     struct flow_state *state)
{
	const struct isa_access *access = &step->access;
	struct flow_value result;

	if (!step->is_known) {
		forget(state, UINT32_MAX);
		state->slots.count = 0;
		return;
	}
	if (step->kind == ISA_CALL) {
		run_call(flow, step, state);
		return;
	}
	result = result_of(flow, step, state);
	if (access->move == ISA_MOVE_STORE)
		learn_from_store(flow, step, state);
	if (access->count && !access->memory[0].is_stack && access->move != ISA_MOVE_LOAD &&
	    access->move != ISA_MOVE_ADD_LOAD)
		note_store(flow, step, state);
	forget(state, access->changed);
	if (access->is_narrow && result.kind != FLOW_MULTIPLE)
		result = flow_nothing;
	if (access->to != ISA_NO_REGISTER)
		state->registers[access->to] = result;
	if (access->pushed)
		state->registers[ISA_STACK_POINTER] = flow_shifted(
			flow->variables, state->registers[ISA_STACK_POINTER], access->pushed);
}

/* Runs the steps [first, end) of a block; places that begin on the way count from there on. */
static void run_steps(const struct flow *flow, size_t first, size_t end, struct flow_state *state)
{
	const struct flow_step *steps = flow->steps.items;
	const struct flow_evidence *evidence = flow->evidence.items;
	size_t at = first < end ? VEC_UP_TO(&flow->evidence, start, steps[first].address) : 0;

	for (size_t i = first; i < end; i++) {
		uint64_t next = steps[i].address + steps[i].length;

		run_step(flow, &steps[i], state);
		for (; at < flow->evidence.count && evidence[at].start <= next; at++)
			if (next < evidence[at].end)
				apply_evidence(&evidence[at], state);
	}
}

/* ---- blocks ---- */

static void add_code(struct flow *flow, struct isa *isa, const struct code_range *range)
{
	size_t size = range->end - range->start;
	uint8_t *code = xmalloc(size);

	size = object_code(flow->object, range->start, code, size);
	for (size_t at = 0; at < size;) {
		struct flow_step *step = vec_push(&flow->steps);
		struct isa_instruction instruction;

		*step = (struct flow_step){.address = range->start + at};
		step->is_known = isa_access(isa, code + at, size - at, step->address, &instruction,
					    &step->access);
		step->length = instruction.length;
		step->kind = instruction.kind;
		step->target = instruction.has_target ? instruction.target : 0;
		at += step->length;
	}
	free(code);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void decode(struct flow *flow)
{
	const struct data_function *function = flow->function;
	struct isa *isa = isa_new(object_machine(flow->object));
	size_t count = function->ranges.count, size = 0;
	struct code_range *sorted = xmalloc((count + 1) * sizeof(*sorted));
	uint64_t end = 0;

	memcpy(sorted, function->ranges.items, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_ranges);
	for (size_t i = 0; isa && i < count; i++) {
		size += sorted[i].end - sorted[i].start;
		if (size > CODE_MAX)
			break;
		if (sorted[i].start >= end)
			add_code(flow, isa, &sorted[i]);
		end = sorted[i].end;
	}
	free(sorted);
	if (isa)
		isa_free(isa);
}

size_t flow_find(const struct flow *flow, uint64_t address)
{
	size_t up_to = VEC_UP_TO(&flow->steps, address, address);

	return up_to && flow->steps.items[up_to - 1].address == address ? up_to - 1 : SIZE_MAX;
}

static bool ends_block(enum isa_kind kind)
{
	return kind == ISA_JUMP || kind == ISA_CONDITIONAL_JUMP || kind == ISA_RETURN ||
	       kind == ISA_TRAP;
}

static bool falls_through(enum isa_kind kind)
{
	return kind != ISA_JUMP && kind != ISA_RETURN && kind != ISA_TRAP;
}

static bool is_adjacent(const struct flow *flow, size_t step)
{
	const struct flow_step *steps = flow->steps.items;

	return steps[step].address + steps[step].length == steps[step + 1].address;
}

static void cut_into_blocks(struct flow *flow)
{
	size_t count = flow->steps.count;
	const struct flow_step *steps = flow->steps.items;
	bool *is_target = xcalloc(count + 1, sizeof(*is_target));

	for (size_t i = 0; i < count; i++) {
		size_t to = steps[i].target && steps[i].kind != ISA_CALL
				    ? flow_find(flow, steps[i].target)
				    : SIZE_MAX;

		if (to != SIZE_MAX)
			is_target[to] = true;
	}
	flow->block_of = xmalloc((count + 1) * sizeof(*flow->block_of));
	for (size_t i = 0; i < count; i++) {
		if (!i || is_target[i] || ends_block(steps[i - 1].kind) ||
		    !is_adjacent(flow, i - 1) || steps[i].address == flow->function->entry)
			*vec_push(&flow->blocks) =
				(struct flow_block){.first = i, .is_target = is_target[i]};
		flow->blocks.items[flow->blocks.count - 1].count++;
		flow->block_of[i] = (uint32_t)flow->blocks.count - 1;
	}
	free(is_target);
	for (size_t i = 0; i < flow->blocks.count; i++)
		find_known(flow, &flow->blocks.items[i]);
}

/* Leaves what both have; whether that is less than there was. */
static bool merge_slots(const struct flow *flow, uint64_t pc, struct flow_state *to,
			const struct flow_state *from)
{
	bool changed = false;

	for (unsigned i = to->slots.count; i-- > 0;) {
		struct flow_value mine = to->slots.items[i].value;
		int64_t offset = to->slots.items[i].offset;
		struct flow_value value =
			merged(flow, from, pc, mine, flow_slot_read(&from->slots, offset));

		if (flow_is_same(value, mine))
			continue;
		changed = true;
		flow_slot_write(&to->slots, offset, sizeof(uint64_t), value);
	}
	return changed;
}

/* Whether the state has changed. */
static bool merge_state(const struct flow *flow, uint64_t pc, struct flow_state *to,
			const struct flow_state *from)
{
	bool changed = merge_slots(flow, pc, to, from);

	for (unsigned i = 0; i < ISA_REGISTERS; i++) {
		struct flow_value value =
			merged(flow, from, pc, to->registers[i], from->registers[i]);

		changed |= !flow_is_same(value, to->registers[i]);
		to->registers[i] = value;
	}
	return changed;
}

/* One more way into a block. */
static void enter_block(struct flow *flow, uint32_t number, const struct flow_state *state)
{
	struct flow_block *block = &flow->blocks.items[number];
	struct flow_state mine = *state;
	uint64_t pc = flow->steps.items[block->first].address;

	for (unsigned i = 0; i < ISA_REGISTERS; i++)
		if (block->known.registers[i].kind == FLOW_FRAME ||
		    (block->known.registers[i].kind != FLOW_NONE &&
		     mine.registers[i].kind != FLOW_FRAME))
			mine.registers[i] = block->known.registers[i];
	if (block->is_reached && !merge_state(flow, pc, &block->state, &mine))
		return;
	if (!block->is_reached)
		block->state = mine;
	block->is_reached = true;
	*vec_push(&flow->work) = number;
}

static void note_dispatch(struct flow *flow, uint64_t pc, const struct flow_state *state)
{
	bool changed = !flow->has_dispatch;

	if (changed)
		flow->dispatch = *state;
	else
		changed = merge_state(flow, pc, &flow->dispatch, state);
	flow->has_dispatch = true;
	for (uint32_t i = 0; changed && i < flow->blocks.count; i++)
		if (flow->blocks.items[i].is_entered_from_anywhere)
			enter_block(flow, i, &flow->dispatch);
}

static void leave_block(struct flow *flow, const struct flow_block *block,
			const struct flow_state *state)
{
	size_t last = block->first + block->count - 1;
	const struct flow_step *step = &flow->steps.items[last];
	bool jumps = step->kind == ISA_JUMP || step->kind == ISA_CONDITIONAL_JUMP;
	size_t to = jumps && step->target ? flow_find(flow, step->target) : SIZE_MAX;

	if (to != SIZE_MAX)
		enter_block(flow, flow->block_of[to], state);
	if (jumps && !step->target)
		note_dispatch(flow, step->address, state);
	if (falls_through(step->kind) && last + 1 < flow->steps.count && is_adjacent(flow, last))
		enter_block(flow, flow->block_of[last + 1], state);
}

static void follow(struct flow *flow)
{
	while (flow->work.count) { /* a register's value changes three times at most */
		uint32_t number = flow->work.items[--flow->work.count];
		struct flow_block block = flow->blocks.items[number];
		struct flow_state state = block.state;

		run_steps(flow, block.first, block.first + block.count, &state);
		leave_block(flow, &block, &state);
	}
}

static void enter_at(struct flow *flow, uint64_t address)
{
	struct flow_state state = {0};
	size_t step = flow_find(flow, address);

	if (step == SIZE_MAX)
		return;
	forget(&state, UINT32_MAX);
	state.registers[ISA_STACK_POINTER] = flow_value(FLOW_FRAME, FIRST_FRAME);
	enter_block(flow, flow->block_of[step], &state);
}

/* Nothing but what aligns the code behind it: nobody runs that. */
static bool is_padding(const struct flow *flow, const struct flow_block *block)
{
	for (size_t i = block->first; i < block->first + block->count; i++) {
		const struct flow_step *step = &flow->steps.items[i];

		if (!step->is_known || step->kind != ISA_OTHER || step->access.count ||
		    step->access.changed || step->access.move != ISA_MOVE_NONE)
			return false;
	}
	return true;
}

/* Blocks that no way has led to yet; those first that no jump names. */
static void enter_rest(struct flow *flow, bool targets_too)
{
	struct flow_state unknown = {0};

	forget(&unknown, UINT32_MAX);
	for (uint32_t i = 0; i < flow->blocks.count; i++) {
		struct flow_block *block = &flow->blocks.items[i];

		if (block->is_reached || (block->is_target && !targets_too) ||
		    is_padding(flow, block))
			continue;
		block->is_entered_from_anywhere = flow->has_dispatch;
		enter_block(flow, i, flow->has_dispatch ? &flow->dispatch : &unknown);
		follow(flow);
	}
}

struct flow *flow_new(struct object *object, const struct data_function *function)
{
	struct flow *flow = xcalloc(1, sizeof(*flow));

	flow->object = object;
	flow->variables = object_variables(object);
	flow->function = function;
	read_places(flow);
	decode(flow);
	cut_into_blocks(flow);
	enter_at(flow, function->entry);
	follow(flow);
	enter_rest(flow, false);
	enter_rest(flow, true);
	return flow;
}

void flow_free(struct flow *flow)
{
	if (!flow)
		return;
	vec_fini(&flow->evidence);
	vec_fini(&flow->on_stack);
	vec_fini(&flow->references);
	vec_fini(&flow->steps);
	vec_fini(&flow->blocks);
	vec_fini(&flow->work);
	free(flow->block_of);
	free(flow);
}

struct flow_state flow_before(const struct flow *flow, size_t step)
{
	const struct flow_block *block = &flow->blocks.items[flow->block_of[step]];
	struct flow_state state = block->state;

	run_steps(flow, block->first, step, &state);
	return state;
}
