/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index is a number that somebody multiplied by the size of an element; what was not is no
 * index: a structure's address with any number of bytes added is not the structure's any more.  So
 * numbers are known by what divides them.
 */
#include "analysis/data/data_value.h"

#include <stdlib.h>

enum { NEST_MAX = 64 };

#define OFFSET_MAX (UINT64_C(1) << 40) /* of nothing on a stack or in a structure */

const struct flow_value flow_nothing = {.kind = FLOW_NONE, .type = TYPE_NONE};

/* ---- types ---- */

uint64_t flow_size(struct variables *variables, uint32_t type)
{
	return type == TYPE_NONE ? 0 : variables_type(variables, type)->size;
}

uint32_t flow_plain(struct variables *variables, uint32_t type)
{
	return type == TYPE_NONE ? type : variables_type(variables, type)->plain;
}

uint32_t flow_element(struct variables *variables, uint32_t type)
{
	for (unsigned i = 0; i < NEST_MAX && type != TYPE_NONE; i++) {
		const struct data_type *array = variables_type(variables, type);

		if (array->kind != DATA_ARRAY)
			return flow_plain(variables, type);
		type = array->target;
	}
	return TYPE_NONE;
}

static int64_t remainder_of(int64_t offset, uint64_t size)
{
	int64_t rest = size ? offset % (int64_t)size : 0;

	return rest < 0 ? rest + (int64_t)size : rest;
}

/* The member with the offset, of a union the only one. */
static const struct data_member *member_at(struct variables *variables, uint32_t type,
					   int64_t offset)
{
	const struct data_member *members, *found = NULL;
	size_t count = variables_members(variables, type, &members);

	for (size_t i = 0; i < count; i++) {
		if (offset < 0 || (uint64_t)offset < members[i].offset ||
		    (uint64_t)offset - members[i].offset >= members[i].size)
			continue;
		if (found)
			return NULL;
		found = &members[i];
	}
	return found;
}

uint32_t flow_type_at(struct variables *variables, uint32_t type, int64_t offset)
{
	for (unsigned i = 0; i < NEST_MAX && type != TYPE_NONE; i++) {
		const struct data_type *here = variables_type(variables, type);

		if (here->kind == DATA_ARRAY) {
			type = flow_element(variables, type);
			offset = remainder_of(offset, flow_size(variables, type));
		} else if (here->kind == DATA_AGGREGATE) {
			const struct data_member *member = member_at(variables, type, offset);

			if (!member)
				return TYPE_NONE;
			offset -= (int64_t)member->offset;
			type = member->type;
		} else {
			return offset ? TYPE_NONE : type;
		}
	}
	return TYPE_NONE;
}

/* ---- addresses ---- */

bool flow_is_same(struct flow_value a, struct flow_value b)
{
	return a.kind == b.kind && a.is_moved == b.is_moved && a.is_strided == b.is_strided &&
	       a.type == b.type && a.offset == b.offset && a.variable == b.variable;
}

struct flow_value flow_pointer(uint32_t type, int64_t offset)
{
	return (struct flow_value){.kind = type == TYPE_NONE ? FLOW_NONE : FLOW_POINTER,
				   .type = type,
				   .offset = offset};
}

struct flow_value flow_into(struct variables *variables, const struct variable *variable,
			    int64_t offset)
{
	struct flow_value value = flow_pointer(flow_plain(variables, variable->type), offset);

	value.variable = value.kind == FLOW_NONE ? NULL : variable;
	return value;
}

struct flow_value flow_pointer_of(struct variables *variables, uint32_t type, int64_t offset)
{
	const struct data_type *pointer =
		type == TYPE_NONE ? NULL : variables_type(variables, type);

	if (!pointer || pointer->kind != DATA_POINTER)
		return flow_nothing;
	uint32_t target = flow_plain(variables, pointer->target);

	if (target != TYPE_NONE && !flow_size(variables, target)) /* an array of any length */
		target = flow_element(variables, target);
	struct flow_value value = flow_pointer(target, offset);

	value.is_strided = value.kind == FLOW_POINTER && pointer->is_descriptor;
	return value;
}

static struct flow_value moved(struct variables *variables, struct flow_value value)
{
	uint64_t size = flow_size(variables, value.type);

	if (!size || size > INT32_MAX)
		return flow_nothing;
	value.is_moved = true;
	value.offset = remainder_of(value.offset, size);
	return value;
}

struct flow_value flow_shifted(struct variables *variables, struct flow_value value, int64_t offset)
{
	if (value.kind == FLOW_MULTIPLE)
		return flow_multiple(flow_common(value, flow_multiple(flow_magnitude(offset)), 1));
	if (value.kind == FLOW_NONE || __builtin_add_overflow(value.offset, offset, &value.offset))
		return flow_nothing;
	if (value.kind != FLOW_STATIC && flow_magnitude(value.offset) > OFFSET_MAX)
		return flow_nothing;
	return value.is_moved ? moved(variables, value) : value;
}

static bool divides(uint64_t size, uint64_t factor)
{
	return size && factor % size == 0;
}

/* Whether something of a type has an array at an offset of whose elements so many bytes are some.
 */
static bool has_array(struct variables *variables, uint32_t type, int64_t offset, uint64_t factor)
{
	for (unsigned i = 0; i < NEST_MAX && type != TYPE_NONE; i++) {
		const struct data_type *here = variables_type(variables, type);

		if (here->kind == DATA_ARRAY) {
			uint32_t element = flow_element(variables, type);

			if (divides(flow_size(variables, element), factor))
				return true;
			type = element;
			offset = remainder_of(offset, flow_size(variables, element));
		} else {
			const struct data_member *member =
				here->kind == DATA_AGGREGATE ? member_at(variables, type, offset)
							     : NULL;

			if (!member)
				return false;
			offset -= (int64_t)member->offset;
			type = member->type;
		}
	}
	return false;
}

struct flow_value flow_indexed(struct variables *variables, struct flow_value value,
			       uint64_t factor)
{
	if (value.kind != FLOW_POINTER)
		return flow_nothing;
	/* a member's array first: its own index is what is closest */
	if (factor && has_array(variables, value.type, value.offset, factor))
		return value;
	return value.is_strided || divides(flow_size(variables, value.type), factor)
		       ? moved(variables, value)
		       : flow_nothing;
}

/* ---- words of the frame ---- */

enum { WORD = 8 };

struct flow_value flow_slot_read(const struct flow_slots *slots, int64_t offset)
{
	for (unsigned i = 0; i < slots->count; i++)
		if (slots->items[i].offset == offset)
			return slots->items[i].value;
	return flow_nothing;
}

void flow_slot_write(struct flow_slots *slots, int64_t offset, uint64_t size,
		     struct flow_value value)
{
	for (unsigned i = slots->count; i-- > 0;)
		if (offset < slots->items[i].offset + WORD &&
		    slots->items[i].offset < offset + (int64_t)size)
			slots->items[i] = slots->items[--slots->count];
	if (size != WORD || value.kind == FLOW_NONE || slots->count == FLOW_SLOTS)
		return;
	slots->items[slots->count].offset = offset;
	slots->items[slots->count++].value = value;
}

/* ---- numbers ---- */

struct flow_value flow_multiple(uint64_t divisor)
{
	return divisor == 1 || divisor > INT32_MAX ? flow_nothing
						   : flow_value(FLOW_MULTIPLE, (int64_t)divisor);
}

uint64_t flow_factor(struct flow_value value)
{
	return value.kind == FLOW_MULTIPLE ? (uint64_t)value.offset : 1;
}

static uint64_t greatest_common(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

uint64_t flow_common(struct flow_value a, struct flow_value b, uint64_t scale)
{
	return greatest_common(flow_factor(a), flow_factor(b) * scale);
}

struct flow_value flow_sum_of_numbers(const struct flow_value *registers,
				      const struct isa_memory *memory)
{
	const struct flow_value zero = flow_value(FLOW_MULTIPLE, 0);
	struct flow_value base = memory->base == ISA_NO_REGISTER ? zero : registers[memory->base];
	struct flow_value index =
		memory->index == ISA_NO_REGISTER ? zero : registers[memory->index];
	uint64_t factor;

	if (memory->base == memory->index) /* n + 2 n */
		factor = flow_factor(base) * (1u + memory->scale);
	else
		factor = flow_common(base, index, memory->scale);
	return flow_multiple(greatest_common(factor, flow_magnitude(memory->displacement)));
}
