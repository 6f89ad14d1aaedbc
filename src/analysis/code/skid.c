/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the instruction that a counter stops at and the one that it counted nothing may have
 * led elsewhere: as long as no branch leads to an instruction, the one in front of it ran before
 * it.  Targets are those of direct jumps, and what lies behind calls, jumps, returns and at the
 * function's entry, where control comes from elsewhere.
 */
#include "analysis/code/skid.h"

#include "base/memory.h"
#include "base/search.h"
#include "isa/isa.h"

#include <stdlib.h>

enum { STEPS_MAX = 16 }; /* instructions from the counted one to the stop */

struct skid_step {
	uint64_t address;
	bool is_target;
	bool accesses;
	bool leads_away; /* the next instruction need not be the one that runs next */
	bool is_run;	 /* a string instruction: it stops at its own beginning */
};

struct skid_code {
	VEC(struct skid_step) steps;
};

/* The step at an address, or SIZE_MAX. */
static size_t find_step(const struct skid_code *code, uint64_t address)
{
	size_t behind = VEC_UP_TO(&code->steps, address, address);

	return behind && code->steps.items[behind - 1].address == address ? behind - 1 : SIZE_MAX;
}

static void mark_target(struct skid_code *code, uint64_t address)
{
	size_t step = find_step(code, address);

	if (step != SIZE_MAX)
		code->steps.items[step].is_target = true;
}

static bool leads_away(enum isa_kind kind)
{
	return kind != ISA_OTHER && kind != ISA_CONDITIONAL_JUMP;
}

struct skid_code *skid_code_new(struct isa *isa, const uint8_t *bytes, size_t size,
				uint64_t address)
{
	struct skid_code *code = xcalloc(1, sizeof(*code));
	VEC(uint64_t) targets = {0};
	struct isa_instruction instruction;
	bool is_target = true;

	for (size_t offset = 0; offset < size; offset += instruction.length) {
		struct isa_access access = {0};
		bool known = isa_access(isa, bytes + offset, size - offset, address + offset,
					&instruction, &access);

		*vec_push(&code->steps) = (struct skid_step){
			.address = address + offset,
			.is_target = is_target,
			.accesses = known && access.count,
			.leads_away = leads_away(instruction.kind),
			.is_run = known && access.count && access.memory[0].is_run,
		};
		is_target = leads_away(instruction.kind);
		if (instruction.has_target && instruction.kind != ISA_CALL)
			*vec_push(&targets) = instruction.target;
	}
	for (size_t i = 0; i < targets.count; i++)
		mark_target(code, targets.items[i]);
	vec_fini(&targets);
	return code;
}

void skid_code_free(struct skid_code *code)
{
	if (!code)
		return;
	vec_fini(&code->steps);
	free(code);
}

/*
 * Directly behind an access: jumps access no memory, so whatever led here, it was the instruction
 * in front if that accesses any.
 */
static bool is_directly_behind(const struct skid_step *steps, size_t at)
{
	return at && steps[at - 1].accesses && !steps[at - 1].leads_away;
}

enum skid_result skid_find(const struct skid_code *code, bool is_exact, uint64_t *address)
{
	const struct skid_step *steps = code->steps.items;
	size_t at = find_step(code, *address);

	if (at == SIZE_MAX)
		return TRIGGER_UNKNOWN;
	for (int i = 0; i < (is_exact ? 1 : STEPS_MAX); i++, at--) {
		*address = steps[at].address;
		if (steps[at].is_run)
			return is_directly_behind(steps, at) ? TRIGGER_UNKNOWN : TRIGGER_FOUND;
		if (steps[at].is_target && !(is_exact && is_directly_behind(steps, at)))
			return TRIGGER_TARGET;
		*address = steps[at - 1].address;
		if (steps[at - 1].accesses)
			return TRIGGER_FOUND;
	}
	return TRIGGER_UNKNOWN;
}
