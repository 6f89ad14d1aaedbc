/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a filter's program over rows.  Every step is a loop over a column without a decision in
 * it.
 *
 * What is unknown: an operator's result is unknown where an operand is.  Three answers do not
 * need both operands: 0 && x, 1 || x, and the branch of ?: that is not taken.
 */
#include "analysis/tree/tally.h"

#include <stdlib.h>
#include <string.h>

struct filter_slot *filter_slots(const struct filter_program *program)
{
	return xmalloc(program->depth * sizeof(struct filter_slot));
}

/* What is unknown has the value 0, whatever was computed for it. */
static void clear_unknown(struct filter_slot *slot, size_t count)
{
	if (!slot->any_unknown)
		return;
	for (size_t i = 0; i < count; i++)
		slot->value[i] = slot->unknown[i] ? 0 : slot->value[i];
}

static void make_unknown(struct filter_slot *slot, size_t count)
{
	memset(slot->value, 0, count * sizeof(*slot->value));
	memset(slot->unknown, 1, count);
	slot->any_unknown = true;
}

/* `unknown` is filled in from here on. */
static void need_unknown(struct filter_slot *slot, size_t count)
{
	if (!slot->any_unknown)
		memset(slot->unknown, 0, count);
	slot->any_unknown = true;
}

static void join_unknown(struct filter_slot *a, const struct filter_slot *b, size_t count)
{
	if (!b->any_unknown)
		return;
	need_unknown(a, count);
	for (size_t i = 0; i < count; i++)
		a->unknown[i] |= b->unknown[i];
}

static void run_property(const struct filter_step *step, const struct filter_rows *rows,
			 struct filter_slot *top)
{
	top->any_unknown = false;
	if (step->property->kinds >> rows->run->kind & 1)
		step->property->load(rows, top);
	else
		make_unknown(top, rows->run->count);
	if (step->kind != STEP_HAS)
		return;
	for (size_t i = 0; i < rows->run->count; i++)
		top->value[i] = !top->any_unknown || !top->unknown[i];
	top->any_unknown = false;
}

struct filter_rows filter_rows_of(const struct shape *shape, const struct session_process *process,
				  const struct event_run *run)
{
	return (struct filter_rows){.session = shape->session,
				    .process = process,
				    .run = run,
				    .shown = process->shown[shape->whole->mode],
				    .nodes = shape->whole->nodes.items[process->id - 1],
				    .united = shape->united};
}

static void run_match(const struct filter_step *step, const struct filter_rows *rows,
		      struct filter_slot *top)
{
	const uint32_t *nodes = rows->nodes, *stack = event_stacks(rows->run);

	for (size_t i = 0; i < rows->run->count; i++)
		top->value[i] = step->match[nodes[stack[i]]];
	top->any_unknown = false;
}

static void run_match_code(const struct filter_step *step, const struct filter_rows *rows,
			   struct filter_slot *top)
{
	const uint8_t *match = step->code_match[rows->process->id - 1];
	const uint32_t *stack = event_stacks(rows->run);

	for (size_t i = 0; i < rows->run->count; i++)
		top->value[i] = match[rows->shown ? rows->shown[stack[i]] : stack[i]];
	top->any_unknown = false;
}

static bool is_member(const uint64_t *set, size_t count, uint64_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (set[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && set[low] == value;
}

static void run_unary(enum filter_operator verb, struct filter_slot *top, size_t count)
{
	uint64_t *value = top->value;

	for (size_t i = 0; i < count; i++)
		value[i] = verb == FILTER_NEGATE ? 0 - value[i]
			   : verb == FILTER_NOT	 ? !value[i]
						 : ~value[i];
	clear_unknown(top, count);
}

/* Known where one operand decides: `deciding` is the value, as a truth, that does. */
static void run_logical(struct filter_slot *a, const struct filter_slot *b, size_t count,
			bool deciding)
{
	if (!a->any_unknown && !b->any_unknown) {
		for (size_t i = 0; i < count; i++)
			a->value[i] = deciding ? (a->value[i] != 0) | (b->value[i] != 0)
					       : (a->value[i] != 0) & (b->value[i] != 0);
		return;
	}
	need_unknown(a, count);
	for (size_t i = 0; i < count; i++) {
		bool b_unknown = b->any_unknown && b->unknown[i];
		bool decided = (!a->unknown[i] && (a->value[i] != 0) == deciding) ||
			       (!b_unknown && (b->value[i] != 0) == deciding);

		a->unknown[i] = !decided && (a->unknown[i] || b_unknown);
		a->value[i] = !a->unknown[i] && decided == deciding;
	}
}

/* Nothing can be said of a division by 0. */
static void run_division(enum filter_operator verb, struct filter_slot *a,
			 const struct filter_slot *b, size_t count)
{
	need_unknown(a, count);
	for (size_t i = 0; i < count; i++) {
		uint64_t divisor = b->value[i] ? b->value[i] : 1;

		a->unknown[i] |= !b->value[i];
		a->value[i] = verb == FILTER_DIVIDE ? a->value[i] / divisor : a->value[i] % divisor;
	}
}

#define COLUMN(expression)                                                                         \
	do {                                                                                       \
		for (size_t i = 0; i < count; i++) {                                               \
			uint64_t x = a->value[i], y = b->value[i];                                 \
                                                                                                   \
			a->value[i] = (expression);                                                \
		}                                                                                  \
	} while (0)

static void compute(enum filter_operator verb, struct filter_slot *a, const struct filter_slot *b,
		    size_t count)
{
	switch (verb) {
	case FILTER_BIT_OR:
		COLUMN(x | y);
		break;
	case FILTER_BIT_XOR:
		COLUMN(x ^ y);
		break;
	case FILTER_BIT_AND:
		COLUMN(x & y);
		break;
	case FILTER_EQUAL:
		COLUMN(x == y);
		break;
	case FILTER_UNEQUAL:
		COLUMN(x != y);
		break;
	case FILTER_LESS:
		COLUMN(x < y);
		break;
	case FILTER_GREATER:
		COLUMN(x > y);
		break;
	case FILTER_LESS_EQUAL:
		COLUMN(x <= y);
		break;
	case FILTER_GREATER_EQUAL:
		COLUMN(x >= y);
		break;
	case FILTER_SHIFT_LEFT:
		COLUMN(y < 64 ? x << y : 0);
		break;
	case FILTER_SHIFT_RIGHT:
		COLUMN(y < 64 ? x >> y : 0);
		break;
	case FILTER_ADD:
		COLUMN(x + y);
		break;
	case FILTER_SUBTRACT:
		COLUMN(x - y);
		break;
	case FILTER_MULTIPLY:
		COLUMN(x * y);
		break;
	default:
		run_division(verb, a, b, count);
		break;
	}
}

static void run_binary(enum filter_operator verb, struct filter_slot *a,
		       const struct filter_slot *b, size_t count)
{
	if (verb == FILTER_AND || verb == FILTER_OR) {
		run_logical(a, b, count, verb == FILTER_OR);
		return;
	}
	compute(verb, a, b, count);
	join_unknown(a, b, count);
	clear_unknown(a, count);
}

/* slot[0] ? slot[1] : slot[2], into slot[0] */
static void run_choose(struct filter_slot *slot, size_t count)
{
	bool any = slot[0].any_unknown || slot[1].any_unknown || slot[2].any_unknown;

	for (int k = 0; any && k < 3; k++)
		need_unknown(&slot[k], count);
	for (size_t i = 0; i < count; i++) {
		int taken = slot[0].value[i] ? 1 : 2;

		slot[0].value[i] = slot[taken].value[i];
		if (any)
			slot[0].unknown[i] |= slot[taken].unknown[i];
	}
	clear_unknown(&slot[0], count);
}

static void copy_slot(struct filter_slot *to, const struct filter_slot *from, size_t count)
{
	memcpy(to->value, from->value, count * sizeof(*to->value));
	to->any_unknown = from->any_unknown;
	if (to->any_unknown)
		memcpy(to->unknown, from->unknown, count);
}

/* Returns the new top; `free` is the first slot above the old one. */
static struct filter_slot *run_push(const struct filter_step *step, const struct filter_rows *rows,
				    struct filter_slot *free)
{
	switch (step->kind) {
	case STEP_PROPERTY:
	case STEP_HAS:
		run_property(step, rows, free);
		break;
	case STEP_MATCH:
		run_match(step, rows, free);
		break;
	case STEP_MATCH_CODE:
		run_match_code(step, rows, free);
		break;
	case STEP_COPY:
		copy_slot(free, free - 1 - step->number, rows->run->count);
		break;
	default:
		for (size_t i = 0; i < rows->run->count; i++)
			free->value[i] = step->number;
		free->any_unknown = false;
		break;
	}
	return free + 1;
}

const struct filter_slot *filter_evaluate(const struct filter_program *program,
					  struct filter_slot *slots, const struct filter_rows *rows)
{
	struct filter_slot *free = slots; /* the first one above the top */
	size_t count = rows->run->count;

	for (size_t i = 0; i < program->steps.count; i++) {
		const struct filter_step *step = &program->steps.items[i];

		switch (step->kind) {
		case STEP_DROP_NEXT:
			copy_slot(free - 2, free - 1, count);
			free--;
			break;
		case STEP_MEMBER:
			for (size_t row = 0; row < count; row++)
				free[-1].value[row] =
					is_member(step->set, step->number, free[-1].value[row]);
			clear_unknown(free - 1, count);
			break;
		case STEP_UNARY:
			run_unary(step->verb, free - 1, count);
			break;
		case STEP_BINARY:
			run_binary(step->verb, free - 2, free - 1, count);
			free--;
			break;
		case STEP_CHOOSE:
			run_choose(free - 3, count);
			free -= 2;
			break;
		default:
			free = run_push(step, rows, free);
			break;
		}
	}
	return slots;
}

void filter_choose(const struct filter_program *program, struct filter_slot *slots,
		   const struct filter_rows *rows, uint8_t *chosen)
{
	const struct filter_slot *result = filter_evaluate(program, slots, rows);

	for (size_t i = 0; i < rows->run->count; i++) /* what is unknown is 0 */
		chosen[i] &= result->value[i] != 0;
}
