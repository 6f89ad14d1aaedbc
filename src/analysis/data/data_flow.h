/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What registers hold while a function runs, as far as pointers go: they are followed from the
 * function's beginning through its basic blocks.  Private to this module.
 */
#ifndef HELIO_ANALYSIS_DATA_FLOW_H
#define HELIO_ANALYSIS_DATA_FLOW_H

#include "analysis/data/data_value.h"
#include "base/memory.h"
#include "isa/isa.h"
#include "object/types/variables.h"

struct flow_state {
	struct flow_value registers[ISA_REGISTERS];
	struct flow_slots slots;
};

struct flow_step {
	uint64_t address;
	uint64_t target; /* of a direct jump or call; 0: none */
	uint8_t length;
	enum isa_kind kind;
	bool is_known; /* `access` is */
	struct isa_access access;
};

struct flow_block {
	size_t first, count; /* steps */
	bool is_reached, is_target, is_entered_from_anywhere;
	struct flow_state known; /* at its beginning, whichever way led there */
	struct flow_state state; /* when it is entered */
};

/* What a variable's place says about its register while code in [start, end) runs. */
struct flow_evidence {
	uint64_t start, end;
	struct flow_value value;
	uint8_t reg;
};

struct flow {
	struct object *object;
	struct variables *variables;
	const struct data_function *function;
	VEC(struct flow_evidence) evidence;	       /* by start */
	VEC(const struct variable_place *) on_stack;   /* by start */
	VEC(const struct variable_place *) references; /* whose address is */
	VEC(struct flow_step) steps;		       /* by address */
	VEC(struct flow_block) blocks;
	uint32_t *block_of; /* by step */
	VEC(uint32_t) work;
	struct flow_state dispatch; /* at indirect jumps, together */
	bool has_dispatch;
};

/* Follows a function; never NULL. Without its code there are no steps. */
struct flow *flow_new(struct object *object, const struct data_function *function);
void flow_free(struct flow *flow);
/* The step at an address, or SIZE_MAX. */
size_t flow_find(const struct flow *flow, uint64_t address);
/* What registers hold before a step. */
struct flow_state flow_before(const struct flow *flow, size_t step);
/*
 * The memory that an operand names before a step, but for its index, as an address; nothing where
 * it is not known.  *factor: what divides the index, 0: the index is zero, FLOW_NO_INDEX: there is
 * none.
 */
#define FLOW_NO_INDEX UINT64_MAX
struct flow_value flow_address(const struct flow *flow, const struct flow_state *state,
			       const struct isa_memory *memory, uint64_t *factor);
/* The same with its index. */
struct flow_value flow_of_memory(const struct flow *flow, const struct flow_state *state,
				 uint64_t pc, const struct isa_memory *memory);
/*
 * The variable on the stack, of the thread or with a fixed address that a value lies in while code
 * at pc runs, or NULL; the value's offset becomes that in the variable.
 */
const struct variable *flow_variable(const struct flow *flow, const struct flow_state *state,
				     uint64_t pc, struct flow_value *value);

#endif
